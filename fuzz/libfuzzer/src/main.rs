//! One target of quorate-fuzz under libFuzzer; QUORATE_FUZZ_TARGET names it. `--seeds FOLDER` writes the
//! seeds of all targets, `--list` names the targets.
#![no_main]

use std::panic;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use quorate_fuzz::Target;

static TARGET: OnceLock<&Target> = OnceLock::new();

/// Whether seeds or the list were asked for, and given.
fn answered() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => quorate_fuzz::targets().for_each(|target| println!("{}", target.name)),
        ["--seeds", folder] => {
            for target in quorate_fuzz::targets() {
                let folder = std::path::Path::new(folder).join(target.name);
                std::fs::create_dir_all(&folder).expect("the folder of the seeds can be made");
                for (number, seed) in (target.seeds)().iter().enumerate() {
                    std::fs::write(folder.join(format!("seed-{number}")), seed).expect("a seed can be written");
                }
            }
        }
        _ => return false,
    }
    true
}

fn start() {
    if answered() {
        std::process::exit(0);
    }
    let name = std::env::var("QUORATE_FUZZ_TARGET").unwrap_or_default();
    let Some(target) = quorate_fuzz::find(&name) else {
        eprintln!("QUORATE_FUZZ_TARGET is {name:?}: expected a name of --list");
        std::process::exit(2);
    };
    let _ = TARGET.set(target);
    // libFuzzer's own hook ends the process at every panic. Readers catch those of other people's decoders;
    // only a panic that comes out of a target counts.
    panic::set_hook(Box::new(|_| {}));
}

fuzz_target!(init: start(), |bytes: &[u8]| {
    let target = TARGET.get().expect("the target is chosen at the start");
    if let Err(broken) = panic::catch_unwind(|| (target.run)(bytes)) {
        let words = broken.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| broken.downcast_ref::<&str>().copied());
        eprintln!("{}: {}", target.name, words.unwrap_or("a panic without words"));
        std::process::abort();
    }
});
