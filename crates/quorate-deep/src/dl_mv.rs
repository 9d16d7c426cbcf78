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
//! Cost: `6 epochs N (d h + h K)` multiplications for `d` features and `h` hidden units. A network that is
//! trained long enough on few tasks learns the votes by heart and gives them back: it is of use for tasks
//! without labels, or with fewer epochs.
//!
//! F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)

use ndarray::Array2;
use quorate::methods::{Aggregate, Fit, vote_fractions};
use quorate::{Annotations, Context, Result, declare_method};

use crate::examples::Examples;
use crate::training::{Scaling, TrainingTarget, training, training_of};

declare_method! {
    /// A network trained on the majority votes.
    pub struct DlMv {
        ..training,
    }
    name: "dl-mv",
    aliases: ["deep-majority-vote"],
    summary: "A network trained on the majority votes",
    description: "A network with one hidden layer learns the majority votes from the features of the tasks; its \
                  first choice is the label. The plain way to learn from a crowd and the one to beat: with many \
                  epochs on few tasks it learns the wrong votes by heart, too.",
    citation: "F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)",
    facts: [returns_model, needs_features],
}

impl Aggregate for DlMv {
    fn estimate(&self, annotations: &Annotations, context: &mut Context) -> Result<Fit> {
        let examples = Examples::new(Self::METHOD.name, annotations, context, self.scaling)?;
        let votes = context.run(|| vote_fractions(annotations));
        let mut target = Votes {
            votes: examples.inner_classes(|task| votes.label(task)),
        };
        training_of!(self).fit(annotations, &examples, &mut target, context)
    }
}

/// A class for each row.
pub(crate) struct Votes {
    pub(crate) votes: Vec<usize>,
}

impl TrainingTarget for Votes {
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
