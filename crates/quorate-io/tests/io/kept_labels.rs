//! Kept labels: what is written reads back the same, and damage is told.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use quorate::model::DawidSkene;
use quorate::{Annotations, AnnotationsBuilder};
use quorate_io::{ModelFile, read_kept_labels, write_kept_labels, write_together};

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
    let name = format!("m.{:016x}.labels.bin", annotations.fingerprint());
    assert_eq!(model.labels_file.as_deref(), Some(name.as_str()));
    model
}

/// The file of the labels.
fn labels_path(folder: &Path, model: &ModelFile) -> PathBuf {
    folder.join(model.labels_file.as_ref().unwrap())
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
        let path = labels_path(folder.path(), &model);
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
                prop_assert!(error.file().unwrap().ends_with(".labels.bin"));
                prop_assert_eq!(error.remedy(), Some(quorate::Remedy::KeepLabels), "{}", error);
            }
        }
    }

    /// Well packed, but any numbers inside: lengths of gigabytes, codes beyond the names.
    #[test]
    fn any_content_is_an_error_or_a_table(content in proptest::collection::vec(any::<u8>(), 0..200), zeros in 0..200usize) {
        let folder = tempfile::tempdir().unwrap();
        let model = keep(folder.path(), &table(&[(1, 1, 1)]));
        let path = labels_path(folder.path(), &model);
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
    let other = keep(folder.path(), &table(&[(1, 1, 1), (2, 2, 2)]));
    model.labels_file = other.labels_file;
    assert!(read(&model).contains("does not hold the labels"));
    model.labels_file = Some("../m.labels.bin".into());
    assert!(read(&model).contains("same folder"));
    model.labels_file = Some("absent.labels.bin".into());
    assert!(read(&model).contains("absent.labels.bin"));

    // Four thousand million of everything, in a file of forty bytes.
    let model = keep(folder.path(), &table(&[(1, 1, 1)]));
    let labels = labels_path(folder.path(), &model);
    let mut bytes = fs::read(&labels).unwrap();
    bytes.truncate(20);
    bytes.extend(zstd::encode_all(&[0xff; 1000][..], 1).unwrap());
    fs::write(&labels, bytes).unwrap();
    assert!(read(&model).contains("damaged"));
}

/// The file said whose labels it holds, its checksum was right, and its content was believed: tasks came out
/// twice.
#[test]
fn labels_with_altered_content_and_a_valid_checksum_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.json");
    let model = keep(folder.path(), &table(&[(1, 1, 1), (2, 2, 2), (3, 3, 0)]));
    let labels = labels_path(folder.path(), &model);
    let bytes = fs::read(&labels).unwrap();
    let content = zstd::decode_all(&bytes[20..]).unwrap();
    let pack = |content: &[u8]| {
        let mut packed = zstd::Encoder::new(bytes[..20].to_vec(), 1).unwrap();
        packed.include_checksum(true).unwrap();
        std::io::Write::write_all(&mut packed, content).unwrap();
        fs::write(&labels, packed.finish().unwrap()).unwrap();
    };
    pack(&content);
    assert!(read_kept_labels(&path, &model).is_ok());
    let place = content.windows(3).position(|bytes| bytes == b"t2\n").unwrap();
    let mut twice = content.clone();
    twice[place + 1] = b'1';
    // A task twice; the last label another class.
    let mut label = content.clone();
    *label.iter_mut().rev().nth(1).unwrap() ^= 1;
    for altered in [twice, label] {
        pack(&altered);
        let refused = read_kept_labels(&path, &model).unwrap_err();
        assert!(refused.to_string().contains("other labels"), "{refused}");
        assert_eq!(refused.remedy(), Some(quorate::Remedy::KeepLabels));
    }
}

/// Models of earlier versions name `m.labels.bin`.
#[test]
fn labels_under_their_old_name_are_read_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.json");
    let annotations = table(&[(1, 1, 1), (2, 2, 2)]);
    let mut model = keep(folder.path(), &annotations);
    fs::rename(
        labels_path(folder.path(), &model),
        folder.path().join("m.labels.bin"),
    )
    .unwrap();
    model.labels_file = Some("m.labels.bin".into());
    assert!(same(&read_kept_labels(&path, &model).unwrap(), &annotations));
    // Files of other models, and files that only look like ours.
    let others = [
        "m.txt.0123456789abcdef.labels.bin",
        "m.2.labels.bin",
        "n.0123456789abcdef.labels.bin",
    ];
    for name in others {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let abandoned = ".m.0123456789abcdef.labels.bin.quorate-abcdefgh.partial";
    fs::write(folder.path().join(abandoned), "x").unwrap();
    fs::write(folder.path().join("m.0123456789abcdef.labels.bin"), "x").unwrap();
    let mut model = model_of(&annotations);
    write_together(|| write_kept_labels(&path, &annotations, &mut model)).unwrap();
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected = [
        &others.map(str::to_owned)[..],
        &[model.labels_file.clone().unwrap()],
    ]
    .concat();
    expected.sort();
    assert_eq!(names, expected);
    assert!(same(&read_kept_labels(&path, &model).unwrap(), &annotations));
}
