//! LabelMe: 1000 images with 512 features each, 2547 labels.
//!
//! Expected values: measured with an independent version of both methods on the same features (50 epochs):
//! dl-mv 23.10 on every run, which is the error of the majority votes; crowd-layer started at I 18.1 on
//! average, range 14.6 to 34.6 over 20 runs. The paper (other features): 23.10 and 20.90.

use std::path::PathBuf;
use std::process::ExitCode;

use quorate::{Annotations, Context};
use quorate_deep::METHODS;
use quorate_io::{
    LabelOptions, ReadOptions, Source, TaskLabels, read_annotations, read_features, read_labels,
};
use quorate_testkit::{public_data, public_test, run_public_tests};

fn main() -> ExitCode {
    run_public_tests(vec![public_test!(
        a_network_learns_the_votes_and_a_crowd_layer_sees_past_them,
        ["labelme"]
    )])
}

struct LabelMe {
    folder: PathBuf,
    annotations: Annotations,
    truth: TaskLabels,
}

impl LabelMe {
    fn load() -> Self {
        let folder = public_data::folder().join("labelme");
        let labels = Source::from(folder.join("labels.csv"));
        let truth = Source::from(folder.join("truth.csv"));
        Self {
            annotations: read_annotations(&labels, &ReadOptions::default())
                .unwrap()
                .annotations,
            truth: read_labels(&truth, &LabelOptions::default()).unwrap(),
            folder,
        }
    }

    /// Error in percent.
    fn error(&self, method: &str, given: &[(&str, &str)], seed: u64) -> f64 {
        let array = Source::from(self.folder.join("features.npy"));
        let read = read_features(&array, &self.annotations, None).unwrap();
        assert_eq!((read.data.width(), read.foreign), (512, 0));
        let given: Vec<_> = given
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        let method = METHODS.iter().find(|known| known.name == method).unwrap();
        let mut context = Context::new(seed).with_features(read.data);
        let fit = method
            .with_parameters(&given)
            .unwrap()
            .fit(&self.annotations, &mut context)
            .unwrap();
        let wrong = self
            .annotations
            .tasks()
            .iter()
            .enumerate()
            .filter(|&(task, name)| {
                let label = self.annotations.classes().get(fit.consensus.label(task));
                self.truth.label(name) != Some(label)
            });
        100.0 * wrong.count() as f64 / self.annotations.task_count() as f64
    }
}

fn a_network_learns_the_votes_and_a_crowd_layer_sees_past_them() {
    let set = LabelMe::load();
    let votes = set.error("dl-mv", &[], 0);
    assert!((votes - 23.1).abs() <= 0.2, "dl-mv {votes}");
    let published: Vec<f64> = (0..3)
        .map(|seed| set.error("crowd-layer", &[("start", "1")], seed))
        .collect();
    assert!(
        published.iter().all(|error| (14.0..35.0).contains(error)),
        "{published:?}"
    );
    assert!(published.iter().any(|error| *error < 18.1), "{published:?}");
    let ours = set.error("crowd-layer", &[], 0);
    assert!((14.0..19.0).contains(&ours), "crowd-layer {ours}");
}
