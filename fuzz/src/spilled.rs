//! Labels on disk.
//!
//! Promise: labels that went through the disk give the table that memory has, or the same refusal; and a file
//! that changes under a run is an error.

use std::fs;
use std::path::{Path, PathBuf};

use quorate::Context;
use quorate::internal::run::LabelTable;
use quorate::methods::{Aggregate, MajorityVote};
use quorate_io::{
    ReadOptions, SpillOptions, SpilledLabels, WantedResults, read_annotations, spill_annotations,
};

use crate::Target;
use crate::scratch::{check_words, folder, source};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "spill",
        run: same_as_memory,
        seeds: crate::tables::text_seeds,
    },
    Target {
        name: "spill-damaged",
        run: damaged,
        seeds: || {
            vec![
                vec![0, 0, 0, 1],
                vec![1, 0, 9, 0xff, 2, 0, 40, 0x80],
                vec![0, 0, 4, 2, 255, 0, 4, 3],
            ]
        },
    },
];

fn spill(name: &str, text: &[u8]) -> Option<SpilledLabels> {
    folder(|folder| {
        let options = SpillOptions {
            place: &folder.join("spill"),
            memory: 1 << 20,
        };
        let read = ReadOptions::default();
        check_words(spill_annotations(
            &source(name, text),
            &read,
            &options,
            &|| false,
            &mut |_, _| {},
        ))
    })
}

fn same_as_memory(bytes: &[u8]) {
    let spilled = spill("x.csv", bytes);
    let read = check_words(read_annotations(&source("x.csv", bytes), &ReadOptions::default()));
    assert_eq!(
        spilled.is_some(),
        read.is_some(),
        "memory and disk differ on what they refuse"
    );
    if let (Some(spilled), Some(read)) = (spilled, read) {
        assert_eq!(spilled.fingerprint(), read.annotations.fingerprint());
        assert_eq!(spilled.facts().rows, read.annotations.rows());
    }
}

/// Input: four bytes for each change: which file, where (two bytes), and what it is changed by; 255: the file
/// is cut there.
fn damaged(bytes: &[u8]) {
    let mut text = String::from("task,worker,label\n");
    for row in 0..60 {
        text.push_str(&format!("t{},w{},{}\n", row / 4, row % 4, row * row % 3));
    }
    let Some(mut spilled) = spill("x.csv", text.as_bytes()) else {
        panic!("a proper table is refused");
    };
    let files = folder(|folder| files_below(&folder.join("spill")));
    for change in bytes.as_chunks::<4>().0 {
        let path = &files[usize::from(change[0]) % files.len()];
        let mut content = fs::read(path).expect("the file is there");
        let place = usize::from(u16::from_be_bytes([change[1], change[2]])) % content.len().max(1);
        match change[3] {
            255 => content.truncate(place),
            by => content
                .iter_mut()
                .skip(place)
                .take(1)
                .for_each(|byte| *byte ^= by),
        }
        fs::write(path, content).expect("the file can be written");
    }
    let method = MajorityVote::default();
    if let Ok(fit) = method.fit_blocks(&mut spilled, &mut Context::new(0)) {
        let wanted = WantedResults {
            counts: true,
            changes: true,
            review: Some(quorate::review::Review::default()),
        };
        let _ = spilled.results(&fit, wanted, &mut || Ok(()));
    }
}

/// The files of the run that is alive, in order of their names; not the lock.
fn files_below(place: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("the folder is there").flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut files: Vec<_> = entries(place)
        .iter()
        .filter(|path| path.is_dir())
        .flat_map(|path| entries(path))
        .filter(|path| path.file_name().is_some_and(|name| name != "in-use"))
        .collect();
    files.sort();
    files
}
