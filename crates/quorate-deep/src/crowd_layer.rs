//! CrowdLayer: a network and a map for each worker, trained together on the labels themselves.
//!
//! ```text
//! p_n = softmax(network(f_n))      worker m's answer on task n ~ softmax(W_m p_n)
//! loss = 1/(B d) sum over labels (n, m, x) of -ln softmax(W_m p_n)[x]
//! ```
//!
//! Symbols: `f_n` features of task `n`, `p_n` its class probabilities, `W_m` the map of worker `m`, `B` tasks
//! in a batch, `d` mean number of labels of a task.
//!
//! 1. `W_m = c I` (`start`); the network (dense, ReLU, dropout, dense, softmax) starts at random.
//! 2. Network and maps descend the loss by Adam for a fixed number of epochs; tasks without labels take no
//!    part.
//! 3. The maps are taken off: the label is the first choice of `p_n`, without dropout.
//!
//! Confusion matrices are counted against `p_n`: the maps, which move little from their start, are only
//! roughly like them. Cost: `6 epochs N (d h + h K)` multiplications for the network, `3 epochs (L + M N/B)
//! K^2` for the maps. As published (`start=1`) the second softmax is nearly flat at first, and in some runs
//! two classes merge or swap: that is where the large spread between runs comes from.
//!
//! Differs from the publication: the loss is divided by `d`, not by the number of workers (with Adam a
//! constant factor hardly matters, but with very many workers it would drown in Adam's `eps`); `start` is
//! added.
//!
//! F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)

use ndarray::Array2;
use quorate::methods::{Aggregate, Fit};
use quorate::{Annotations, Context, Result, declare_method};

use crate::annotators::{Annotators, WorkerMap};
use crate::examples::Examples;
use crate::training::{Scaling, TrainingTarget, training, training_of};

declare_method! {
    /// A network with a map for each worker.
    pub struct CrowdLayer {
        ..training,
        /// what a worker's answers may depend on: a matrix, a factor for each class, or a factor and a bias
        map: WorkerMap = Matrix,
        /// factor of the workers' maps at the start; 1 as published, more makes runs alike
        start: f64 in 0..=100 = 2,
    }
    name: "crowd-layer",
    aliases: ["crowdlayer"],
    summary: "A network on the features of the tasks, with a map for each worker, trained on the labels",
    description: "A network with one hidden layer learns the class probabilities of a task from its features, and \
                  for each worker a map from these to the worker's answers, both from the labels at once. \
                  Useful where tasks have few labels and good features (of a trained image or text model). The \
                  result varies from seed to seed.",
    citation: "F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)",
    facts: [returns_model, needs_features],
}

impl Aggregate for CrowdLayer {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let examples = Examples::new(Self::METHOD.name, annotations, context, self.scaling)?;
        let (workers, classes) = (annotations.worker_count(), annotations.class_count());
        // The maps with gradients and the two means of Adam, and the confusion matrices returned.
        context.reserve(
            format!("the maps of {workers} workers"),
            16 * (workers * self.map.size(classes)) as u64 + 8 * (workers * classes * classes) as u64,
            "use the map `scale` or fewer classes",
        )?;
        let mut crowd = Crowd {
            examples: &examples,
            annotators: Annotators::new(self.map, workers, classes, self.start),
            labels_per_task: examples.label_count() as f64 / examples.labelled().len() as f64,
        };
        training_of!(self).fit(annotations, &examples, &mut crowd, context)
    }
}

/// The labels and the maps of the workers who gave them.
struct Crowd<'a> {
    examples: &'a Examples,
    annotators: Annotators<f32>,
    labels_per_task: f64,
}

impl TrainingTarget for Crowd<'_> {
    fn loss(&mut self, rows: &[u32], probabilities: &Array2<f32>, logits: &mut Array2<f32>) -> f64 {
        let scale = (1.0 / (rows.len() as f64 * self.labels_per_task)) as f32;
        let places = probabilities.rows().into_iter().zip(logits.rows_mut());
        let mut loss = 0.0;
        for ((p, mut slopes), &row) in places.zip(rows) {
            let (Some(p), Some(slopes)) = (p.as_slice(), slopes.as_slice_mut()) else {
                unreachable!("rows are contiguous")
            };
            let labels = self.examples.labels(row);
            loss += f64::from(self.annotators.task_loss(p, labels, scale, slopes));
        }
        loss
    }

    fn step(&mut self, rate: f64) {
        self.annotators.step(rate);
    }
}
