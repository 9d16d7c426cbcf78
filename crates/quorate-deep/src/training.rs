//! Training: batches in random order, dropout, Adam, a fixed number of epochs.

use ndarray::{Array2, ArrayView2, Axis};
use quorate::methods::Fit;
use quorate::{Annotations, Context, Result, declare_words};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::examples::Examples;
use crate::network::{Learner, Network};

/// Rows of features that pass through the network at a time when it predicts.
const PREDICTED_AT_ONCE: usize = 1024;

declare_words! {
    /// What is done to the features before training.
    pub enum Scaling {
        /// Nothing.
        None = "none",
        /// Every feature gets mean 0 and standard deviation 1.
        Standard = "standard",
    }
}

/// Parameters of the training, which all methods here share.
macro_rules! training {
    ([] $($state:tt)*) => {
        quorate::declare_method! { @shared [
            /// times that the network sees every task
            epochs: usize in 1..=100_000 = 50,
            /// tasks in each step of the training
            batch: usize in 1..=100_000 = 64,
            /// length of the steps of Adam
            learning_rate: f64 in 0..=1 = 1e-3,
            /// share of hidden units left out at random in each step
            dropout: f64 in 0..=0.95 = 0.5,
            /// units of the hidden layer
            hidden: usize in 1..=100_000 = 128,
            /// features as they are, or each brought to mean 0 and standard deviation 1
            scaling: Scaling = None,
        ] $($state)* }
    };
}
pub(crate) use training;

/// The training of a method with the parameters above.
macro_rules! training_of {
    ($method:expr) => {
        $crate::training::Training {
            epochs: $method.epochs,
            batch: $method.batch,
            learning_rate: $method.learning_rate,
            dropout: $method.dropout,
            hidden: $method.hidden,
        }
    };
}
pub(crate) use training_of;

/// How a network is trained.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Training {
    pub(crate) epochs: usize,
    pub(crate) batch: usize,
    pub(crate) learning_rate: f64,
    pub(crate) dropout: f64,
    pub(crate) hidden: usize,
}

/// What the class probabilities of a batch are held against.
pub(crate) trait TrainingTarget {
    /// The loss of a batch, and its gradient at the logits.
    fn loss(&mut self, rows: &[u32], probabilities: &Array2<f32>, logits: &mut Array2<f32>) -> f64;

    /// Learns from the last batch, where the target has parameters of its own.
    fn step(&mut self, _rate: f64) {}
}

/// Class probabilities for every row after training, and the mean loss of each epoch.
pub(crate) struct Trained {
    pub(crate) probabilities: Array2<f32>,
    pub(crate) trace: Vec<f64>,
}

impl Training {
    /// Trains and predicts; confusion matrices are counted against the predictions.
    pub(crate) fn fit(
        &self,
        annotations: &Annotations,
        examples: &Examples,
        target: &mut (impl TrainingTarget + Send),
        context: &mut Context,
    ) -> Result<Fit> {
        let trained = self.run(examples, target, context)?;
        let consensus = examples.consensus(&trained.probabilities);
        Ok(Fit {
            iterations: trained.trace.len(),
            trace: trained.trace,
            ..context.run(|| Fit::counted(annotations, consensus))
        })
    }

    /// Trains on the rows that have labels and predicts all.
    fn run(
        &self,
        examples: &Examples,
        target: &mut (impl TrainingTarget + Send),
        context: &mut Context,
    ) -> Result<Trained> {
        let (inputs, classes) = (examples.features.ncols(), examples.class_count());
        // Parameters, gradients and the two means of Adam.
        context.reserve(
            format!("a network of {inputs} features and {} hidden units", self.hidden),
            16 * Network::<f32>::size(inputs, self.hidden, classes) as u64,
            "use fewer hidden units",
        )?;
        let [mut weights, mut order, mut dropout] = [0, 1, 2].map(|stream| context.rng(stream));
        let mut learner = Learner::new(Network::new(inputs, self.hidden, classes, &mut weights));
        let mut rows = examples.labelled();
        let mut trace = Vec::with_capacity(self.epochs);
        for epoch in 0..self.epochs {
            context.step("training", epoch, Some(self.epochs))?;
            rows.shuffle(&mut order);
            let mut loss = 0.0;
            for batch in rows.chunks(self.batch) {
                loss += batch.len() as f64 * self.step(&mut learner, examples, batch, target, &mut dropout);
            }
            trace.push(loss / rows.len() as f64);
        }
        let probabilities = predict(&learner.network, &examples.features.view());
        Ok(Trained { probabilities, trace })
    }

    /// One batch; returns its loss.
    fn step(
        &self,
        learner: &mut Learner<f32>,
        examples: &Examples,
        batch: &[u32],
        target: &mut impl TrainingTarget,
        dropout: &mut impl Rng,
    ) -> f64 {
        let places: Vec<usize> = batch.iter().map(|&row| row as usize).collect();
        let x = examples.features.select(Axis(0), &places);
        let mask = self.mask(batch.len(), dropout);
        let passed = learner.network.pass(&x.view(), mask.as_ref());
        let mut logits = Array2::zeros(passed.probabilities.raw_dim());
        let loss = target.loss(batch, &passed.probabilities, &mut logits);
        let Learner {
            network, gradient, ..
        } = learner;
        network.set_gradient(&x.view(), mask.as_ref(), &passed, &logits, gradient);
        learner.step(self.learning_rate);
        target.step(self.learning_rate);
        loss
    }

    /// 0 for hidden units that are left out, the rest scaled up in return.
    fn mask(&self, rows: usize, rng: &mut impl Rng) -> Option<Array2<f32>> {
        let keep = (1.0 / (1.0 - self.dropout)) as f32;
        let dropped = |rng: &mut _| RngExt::random_bool(rng, self.dropout);
        let unit = |rng: &mut _| if dropped(rng) { 0.0 } else { keep };
        (self.dropout > 0.0).then(|| Array2::from_shape_simple_fn((rows, self.hidden), || unit(rng)))
    }
}

/// Class probabilities of all rows, without dropout.
fn predict(network: &Network<f32>, features: &ArrayView2<'_, f32>) -> Array2<f32> {
    let classes = network.layers[1].bias.len();
    let mut probabilities = Array2::zeros((features.nrows(), classes));
    let chunks = features.axis_chunks_iter(Axis(0), PREDICTED_AT_ONCE);
    let places = probabilities.axis_chunks_iter_mut(Axis(0), PREDICTED_AT_ONCE);
    for (chunk, mut place) in chunks.zip(places) {
        place.assign(&network.pass(&chunk, None).probabilities);
    }
    probabilities
}
