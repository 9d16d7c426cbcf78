//! Tables that come beside the labels: gold and predictions, probabilities, features, ids, costs, pairs,
//! texts.

use std::sync::OnceLock;

use quorate::Annotations;
use quorate_io::{
    LabelOptions, read_assignments, read_features, read_ids, read_labels, read_probabilities,
    read_task_texts, read_worker_numbers,
};

use crate::Target;
use crate::scratch::{check_words, source};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "gold",
        run: |bytes| {
            check_words(read_labels(&source("x.csv", bytes), &LabelOptions::default()));
        },
        seeds: || {
            vec![
                b"task,label\nt1,cat\nt2,dog\n".to_vec(),
                b"task,label,confidence,p:cat,p:dog\nt1,cat,0.9,0.9,0.1\nt2,dog,1,0,1\n".to_vec(),
            ]
        },
    },
    Target {
        name: "probabilities",
        run: |bytes| {
            check_words(read_probabilities(&source("x.csv", bytes), annotations()));
        },
        seeds: || vec![b"task,p:cat,p:dog\nt1,0.25,0.75\nt2,1,0\n".to_vec()],
    },
    Target {
        name: "features",
        run: |bytes| {
            check_words(read_features(&source("x.csv", bytes), annotations(), None));
        },
        seeds: || vec![b"task,width,height\nt1,0.25,1e3\nt2,-1,0\n".to_vec()],
    },
    Target {
        name: "npy",
        run: |bytes| {
            check_words(read_features(
                &source("x.npy", bytes),
                annotations(),
                Some(annotations().tasks()),
            ));
        },
        seeds: npy_seeds,
    },
    Target {
        name: "side-tables",
        run: |bytes| {
            for name in ["x.jsonl", "x.csv"] {
                let (text, workers) = (source(name, bytes), annotations().workers());
                check_words(read_ids(&text, "worker"));
                check_words(read_worker_numbers(&text, "cost", workers));
                check_words(read_assignments(&text, annotations()));
                check_words(read_task_texts(&text, "text", annotations()));
            }
        },
        seeds: || {
            vec![
                b"task,worker,cost,text\nt1,ann,1.5,<b>\n".to_vec(),
                b"{\"task\": \"t1\", \"worker\": \"ann\", \"cost\": 2, \"text\": null}\n".to_vec(),
            ]
        },
    },
];

/// The table that the side tables are about.
fn annotations() -> &'static Annotations {
    static TABLE: OnceLock<Annotations> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = [("t1", "ann", "cat"), ("t1", "bob", "dog"), ("t2", "ann", "dog")];
        Annotations::from_triples(rows).expect("the rows are proper ones")
    })
}

/// NumPy arrays of two tasks and three features, as float64 and float32.
fn npy_seeds() -> Vec<Vec<u8>> {
    let array = |kind: &str, size: usize| {
        let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (2, 3), }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let length = u16::try_from(header.len())
            .expect("the header is short")
            .to_le_bytes();
        [
            b"\x93NUMPY\x01\x00",
            &length[..],
            header.as_bytes(),
            &vec![0; 6 * size],
        ]
        .concat()
    };
    vec![array("<f8", 8), array("<f4", 4)]
}
