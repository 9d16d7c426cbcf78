//! Model files, and the labels kept beside them.
//!
//! Promise of models: what was read is written and read back. Kept labels are packed, so that changed bytes
//! hardly ever come past the checksum: one target takes the packed file, the other packs its input first.

use std::sync::OnceLock;

use quorate::methods::{Aggregate, DawidSkeneEm};
use quorate::{Annotations, Context};
use quorate_io::{ModelFile, Target as Output, read_kept_labels, read_model, write_kept_labels, write_model};

use crate::Target;
use crate::scratch::{check_words, file, folder, source};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "model",
        run: |bytes| {
            let Some(model) = check_words(read_model(&source("model.json", bytes))) else {
                return;
            };
            let again = folder(|folder| {
                let path = folder.join("again.json");
                write_model(&Output::from(path.as_path()), &model).expect("a model can be written");
                read_model(&path.as_path().into()).expect("what we wrote can be read")
            });
            assert_eq!(model, again);
        },
        seeds: || {
            let model = &kept().0;
            vec![folder(|folder| {
                let path = folder.join("seed.json");
                write_model(&Output::from(path.as_path()), model).expect("a model can be written");
                std::fs::read(path).expect("what was written is there")
            })]
        },
    },
    Target {
        name: "kept-labels",
        run: read_kept,
        seeds: || vec![kept().1.clone()],
    },
    Target {
        name: "kept-labels-unpacked",
        run: |bytes| {
            let packed = zstd::encode_all(bytes, 1).expect("memory can be packed");
            read_kept(&[&kept().1[..HEADER], &packed].concat());
        },
        seeds: || vec![zstd::decode_all(&kept().1[HEADER..]).expect("what we packed can be unpacked")],
    },
];

/// What stands before the packed part: magic, version, fingerprint.
const HEADER: usize = 8 + 4 + 8;

/// A model, and the file of its labels.
fn kept() -> &'static (ModelFile, Vec<u8>) {
    static KEPT: OnceLock<(ModelFile, Vec<u8>)> = OnceLock::new();
    KEPT.get_or_init(|| {
        let rows = (0..24u32).map(|row| {
            (
                format!("t{}", row / 3),
                format!("w{}", row % 3),
                (row * row % 3).to_string(),
            )
        });
        let annotations = Annotations::from_triples(rows).expect("the rows are proper ones");
        let fit = DawidSkeneEm::default()
            .fit(&annotations, &mut Context::new(0))
            .expect("a small table can be fitted");
        let mut model = ModelFile::new(&annotations, fit.model.as_ref().expect("dawid-skene has a model"));
        let bytes = folder(|folder| {
            write_kept_labels(&folder.join("kept.json"), &annotations, &mut model)
                .expect("labels can be kept");
            let name = model.labels_file.as_ref().expect("the file is noted");
            std::fs::read(folder.join(name)).expect("what was written is there")
        });
        (model, bytes)
    })
}

fn read_kept(bytes: &[u8]) {
    let model = &kept().0;
    file(model.labels_file.as_ref().expect("the file is noted"), bytes);
    folder(|folder| {
        check_words(read_kept_labels(&folder.join("kept.json"), model));
    });
}
