//! Kept labels: what is written reads back the same, and damage is told.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use quorate::model::DawidSkene;
use quorate::{Annotations, AnnotationsBuilder};
use quorate_io::{ModelFile, read_kept_labels, write_kept_labels};

/// Names with letters of all lengths, a task and a worker without a label.
fn table(labels: &[(u8, u8, u8)]) -> Annotations {
    let mut builder = AnnotationsBuilder::default();
    builder.push("only abstained", "worker, \"quoted\"", "").unwrap();
    for (task, worker, label) in labels {
        let answer = ["no", "yes", "\u{e4}\u{2713}\u{1f600}"][usize::from(label % 3)];
        let names = (format!("t{task}\n"), "w".repeat(1 + usize::from(worker % 40)));
        builder.push(&names.0, &names.1, answer).unwrap();
    }
    builder.build().unwrap()
}

fn model_of(annotations: &Annotations) -> ModelFile {
    let (workers, classes) = (annotations.worker_count(), annotations.class_count());
    let even = vec![1.0 / classes as f64; classes];
    let model = DawidSkene::new(even, vec![1.0 / classes as f64; workers * classes * classes]);
    ModelFile::new(annotations, &model)
}

fn keep(folder: &Path, annotations: &Annotations) -> ModelFile {
    let mut model = model_of(annotations);
    write_kept_labels(&folder.join("m.json"), annotations, &mut model).unwrap();
    assert_eq!(model.labels_file.as_deref(), Some("m.labels.bin"));
    model
}

fn same(a: &Annotations, b: &Annotations) -> bool {
    a.iter().eq(b.iter())
        && [a.tasks(), a.workers(), a.classes()] == [b.tasks(), b.workers(), b.classes()]
        && a.fingerprint() == b.fingerprint()
}

fn labels() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..300)
}

proptest! {
    #[test]
    fn what_is_kept_reads_back_the_same(labels in labels()) {
        let folder = tempfile::tempdir().unwrap();
        let annotations = table(&labels);
        let model = keep(folder.path(), &annotations);
        let found = read_kept_labels(&folder.path().join("m.json"), &model).unwrap();
        prop_assert!(same(&found, &annotations));
        prop_assert_eq!(found.rows().rows, annotations.rows().rows);
        prop_assert_eq!(found.rows().abstentions, annotations.rows().abstentions);
        prop_assert_eq!(found.tasks().find("only abstained"), Some(0));
    }

    #[test]
    fn damage_anywhere_is_told(
        labels in labels(),
        place in any::<prop::sample::Index>(),
        change in 1u8..,
        kind in 0..3,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let annotations = table(&labels);
        let model = keep(folder.path(), &annotations);
        let path = folder.path().join("m.labels.bin");
        let mut bytes = fs::read(&path).unwrap();
        let place = place.index(bytes.len());
        match kind {
            0 => bytes[place] ^= change,
            1 => bytes.truncate(place),
            _ => bytes.insert(place, change),
        }
        fs::write(&path, bytes).unwrap();
        match read_kept_labels(&folder.path().join("m.json"), &model) {
            // A bit that unpacking does not look at.
            Ok(found) => prop_assert!(same(&found, &annotations)),
            Err(error) => {
                prop_assert!(error.file().unwrap().ends_with("m.labels.bin"));
                prop_assert_eq!(error.remedy(), Some(quorate::Remedy::KeepLabels), "{}", error);
            }
        }
    }

    /// Well packed, but any numbers inside: lengths of gigabytes, codes beyond the names.
    #[test]
    fn any_content_is_an_error_or_a_table(content in proptest::collection::vec(any::<u8>(), 0..200), zeros in 0..200usize) {
        let folder = tempfile::tempdir().unwrap();
        let model = keep(folder.path(), &table(&[(1, 1, 1)]));
        let path = folder.path().join("m.labels.bin");
        let mut bytes = fs::read(&path).unwrap();
        bytes.truncate(20);
        let content = [content, vec![0; zeros]].concat();
        bytes.extend(zstd::encode_all(&content[..], 1).unwrap());
        fs::write(&path, bytes).unwrap();
        // A table of its own may come of it by chance; that nothing breaks is what counts.
        let _ = read_kept_labels(&folder.path().join("m.json"), &model);
    }
}

#[test]
fn labels_of_another_model_and_absurd_lengths_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.json");
    let read = |model: &ModelFile| read_kept_labels(&path, model).unwrap_err().to_string();
    let mut model = model_of(&table(&[(1, 1, 1)]));
    assert!(read(&model).contains("were not kept"));
    keep(folder.path(), &table(&[(1, 1, 1), (2, 2, 2)]));
    model.labels_file = Some("m.labels.bin".into());
    assert!(read(&model).contains("does not hold the labels"));
    model.labels_file = Some("../m.labels.bin".into());
    assert!(read(&model).contains("same folder"));
    model.labels_file = Some("absent.labels.bin".into());
    assert!(read(&model).contains("absent.labels.bin"));

    // Four thousand million of everything, in a file of forty bytes.
    let model = keep(folder.path(), &table(&[(1, 1, 1)]));
    let labels = folder.path().join("m.labels.bin");
    let mut bytes = fs::read(&labels).unwrap();
    bytes.truncate(20);
    bytes.extend(zstd::encode_all(&[0xff; 1000][..], 1).unwrap());
    fs::write(&labels, bytes).unwrap();
    assert!(read(&model).contains("damaged"));
}
