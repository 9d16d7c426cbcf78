//! Model files: what is written reads back to the bit, and what does not hold together is refused.

use quorate::AnnotationsBuilder;
use quorate::model::DawidSkene;
use quorate_io::{ModelFile, Target, read_model, write_model};

use crate::Fixture;

fn example() -> (ModelFile, DawidSkene) {
    let mut builder = AnnotationsBuilder::default();
    for (task, worker, label) in [("t", "ann", "a"), ("t", "bob \"b\"", "b"), ("u", "ann", "b")] {
        builder.push(task, worker, label).unwrap();
    }
    let third = 1.0 / 3.0;
    let confusion = vec![
        0.9,
        third,
        0.1,
        1.0 - third,
        0.7,
        0.1 + 0.2,
        0.3,
        1.0 - (0.1 + 0.2),
    ];
    let model = DawidSkene::new(vec![third, 1.0 - third], confusion);
    let file = ModelFile::new(&builder.build().unwrap(), &model).fitted_by(
        "dawid-skene",
        [("max_iter".to_owned(), "100".to_owned())],
        u64::MAX,
    );
    (file, model)
}

fn read(content: &str) -> Result<ModelFile, String> {
    read_model(&Fixture::new("model.json", content).source()).map_err(|error| error.to_string())
}

#[test]
fn round_trip_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    let (file, model) = example();
    write_model(&Target::from(path.as_path()), &file).unwrap();
    let found = read_model(&path.as_path().into()).unwrap();
    assert_eq!(found, file);
    assert_eq!(found.model(), model);
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        text.lines().filter(|line| line.starts_with("{\"id\":")).count(),
        2
    );
}

#[test]
fn other_versions_and_other_files_are_refused_in_words() {
    let words = read(r#"{"format_version": 2, "all": "new"}"#).unwrap_err();
    assert!(
        words.contains("version 2") && words.contains("update Quorate"),
        "{words}"
    );
    assert!(read(r#"{"a": 1}"#).unwrap_err().contains("no \"format_version\""));
    assert!(read("").unwrap_err().contains("empty"));
    let words = read("task,worker,label\n").unwrap_err();
    assert!(
        words.contains("line 1") && words.contains("not a model file"),
        "{words}"
    );
    assert!(
        read(r#"{"format_version": 1}"#)
            .unwrap_err()
            .contains("missing field")
    );
}

#[test]
fn models_that_do_not_hold_together_are_refused() {
    fn broken(change: impl FnOnce(&mut ModelFile)) -> String {
        let (mut file, _) = example();
        change(&mut file);
        // Neither written nor read.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        assert!(write_model(&path.as_path().into(), &file).is_err());
        assert!(!path.exists());
        file.validate().unwrap_err().to_string()
    }
    assert!(
        broken(|file| file.workers[1].confusion[0][1] = 0.5)
            .contains("\"b\" of the confusion matrix of worker")
    );
    assert!(broken(|file| file.workers[0].confusion[0][0] = f64::NAN).contains("NaN"));
    assert!(broken(|file| file.workers[0].confusion.truncate(1)).contains("not 2 x 2"));
    assert!(broken(|file| file.workers[0].confusion[1].truncate(1)).contains("not 2 x 2"));
    assert!(broken(|file| file.prior.push(0.0)).contains("3 entries"));
    assert!(broken(|file| file.prior[0] = -0.5).contains("-0.5"));
    assert!(broken(|file| file.classes[1] = "a".into()).contains("twice"));
    assert!(broken(|file| file.workers[1].id = "ann".into()).contains("twice"));
    assert!(broken(|file| file.workers[1].id.clear()).contains("empty id"));
    assert!(broken(|file| file.classes.clear()).contains("no classes"));
    assert!(broken(|file| file.fingerprint = "xyz".into()).contains("hexadecimal"));
    assert!(broken(|file| file.format_version = 9).contains("version 9"));
}
