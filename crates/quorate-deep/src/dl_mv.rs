//! DL-MV: a network trained on the majority votes.
//!
//! ```text
//! v_n = majority vote (ties to the lowest class)     loss = mean over n of -ln p_n[v_n]     dz_n = (p_n - e_{v_n})/B
//! ```
//!
//! Symbols: `p_n` the network's class probabilities for task `n`, `B` tasks in a batch.
//!
//! 1. Majority vote on every task that has labels.
//! 2. The network (dense, ReLU, dropout, dense, softmax) learns them by Adam for a fixed number of epochs.
//! 3. The label is the network's first choice, without dropout. Confusion matrices are counted against that.
//!
//! Cost: `6 epochs N (d h + h K)` multiplications for `d` features and `h` hidden units. A network that is trained long
//! enough on few tasks learns the votes by heart and gives them back: it is of use for tasks without labels, or with
//! fewer epochs.
//!
//! F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)

use ndarray::Array2;
use quorate::methods::{Aggregate, ClassSupport, Fit, Method, Values, vote_fractions};
use quorate::{Annotations, Context, Result};

use crate::examples::Examples;
use crate::training::{BATCH, DROPOUT, EPOCHS, HIDDEN, LEARNING_RATE, SCALING, Target, Training};

pub(crate) const METHOD: Method = Method {
    name: "dl-mv",
    aliases: &["deep-majority-vote"],
    summary: "A network trained on the majority votes",
    description: "A network with one hidden layer learns the majority votes from the features of the tasks; its first \
                  choice is the label. The plain way to learn from a crowd and the one to beat: with many epochs on few \
                  tasks it learns the wrong votes by heart, too.",
    citation: "F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)",
    classes: ClassSupport::Any,
    uses_class_order: false,
    uses_worker_order: false,
    returns_model: true,
    needs_probabilities: false,
    needs_features: true,
    parameters: &[EPOCHS, BATCH, LEARNING_RATE, DROPOUT, HIDDEN, SCALING],
    build: |values| Box::new(DlMv::from(values)),
};

/// A network trained on the majority votes.
#[derive(Debug, Clone, PartialEq)]
pub struct DlMv {
    /// How the network is trained.
    pub training: Training,
}

impl From<&Values> for DlMv {
    fn from(values: &Values) -> Self {
        Self {
            training: Training::from(values),
        }
    }
}

impl Default for DlMv {
    fn default() -> Self {
        Self::from(&Values::defaults(METHOD.parameters))
    }
}

impl Aggregate for DlMv {
    fn fit(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let examples = Examples::new(METHOD.name, annotations, context, self.training.scaling)?;
        let votes = context.run(|| vote_fractions(annotations));
        let mut target = Votes {
            votes: examples.inner_classes(|task| votes.label(task)),
        };
        self.training.fit(annotations, &examples, &mut target, context)
    }
}

/// A class for each row.
pub(crate) struct Votes {
    pub(crate) votes: Vec<usize>,
}

impl Target for Votes {
    fn loss(&mut self, rows: &[u32], probabilities: &Array2<f32>, logits: &mut Array2<f32>) -> f64 {
        let scale = 1.0 / rows.len() as f32;
        logits.assign(probabilities);
        *logits *= scale;
        let mut loss = 0.0;
        for (place, &row) in rows.iter().enumerate() {
            let vote = self.votes[row as usize];
            logits[[place, vote]] -= scale;
            loss -= f64::from(probabilities[[place, vote]].max(f32::MIN_POSITIVE)).ln();
        }
        loss / rows.len() as f64
    }
}
