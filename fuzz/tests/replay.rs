//! Every seed, every input that once broke something, and a fixed number of mutations of both go through
//! their target.

use std::fs;

use quorate_fuzz::{Target, regressions, targets};
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// Mutations of each target, half a minute in all; `scripts/fuzz` runs millions.
const MUTATIONS: usize = 1000;

/// Files of the target's folder, by name: each is named after what it broke.
fn regression_inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(regressions(target)) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .flatten()
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    found.sort();
    found
}

/// Changes a few bytes: sets, inserts, removes, repeats.
fn mutate(bytes: &mut Vec<u8>, rng: &mut SmallRng) {
    for _ in 0..rng.random_range(1..5) {
        let place = rng.random_range(0..=bytes.len());
        match rng.random_range(0..5) {
            0 if place < bytes.len() => bytes[place] ^= 1 << rng.random_range(0..8),
            1 if place < bytes.len() => bytes[place] = *b"\0\xff\",\n{[=-9".choose(rng).unwrap(),
            2 => bytes.insert(place, rng.random()),
            3 => bytes.truncate(place),
            _ => {
                let end = (place + rng.random_range(0..20)).min(bytes.len());
                let again = bytes[place..end].to_vec();
                bytes.splice(place..place, again);
            }
        }
    }
}

/// Runs an input; what it broke in words.
fn run(target: &Target, input: &[u8]) -> Option<String> {
    let broken = std::panic::catch_unwind(|| (target.run)(input)).err()?;
    let words = broken.downcast_ref::<String>().cloned();
    let words = words.or_else(|| broken.downcast_ref::<&str>().map(|words| words.to_string()));
    Some(format!(
        "{}: {} on {}",
        target.name,
        words.unwrap_or_default(),
        input.escape_ascii()
    ))
}

#[test]
fn seeds_regressions_and_mutations_keep_the_promises() {
    let mut broken = Vec::new();
    for target in targets() {
        let mut inputs: Vec<Vec<u8>> = regression_inputs(target)
            .into_iter()
            .map(|(_, bytes)| bytes)
            .collect();
        inputs.extend((target.seeds)());
        assert!(!inputs.is_empty(), "{} has no seed", target.name);
        let mut rng = SmallRng::seed_from_u64(7);
        let mutated = (0..MUTATIONS).map(|_| {
            let mut input = inputs.choose(&mut rng).unwrap().clone();
            mutate(&mut input, &mut rng);
            input
        });
        let all: Vec<_> = inputs.iter().cloned().chain(mutated).collect();
        // One is enough to see what is wrong with a target.
        broken.extend(all.iter().find_map(|input| run(target, input)));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_folder_of_regressions_has_a_target() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(quorate_fuzz::find(&name).is_some(), "{name}");
    }
}
