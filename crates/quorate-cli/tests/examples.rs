//! The shell examples run, each in a folder of its own.

use std::path::Path;
use std::process::Command;

#[cfg_attr(not(unix), ignore = "needs Unix: bash")]
#[test]
fn every_shell_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sh"))
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 4, "{scripts:?}");
    let place = tempfile::tempdir().unwrap();
    for script in scripts {
        let output = Command::new("bash")
            .arg(&script)
            .env("QUORATE", env!("CARGO_BIN_EXE_quorate"))
            .env("TMPDIR", place.path())
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {words}", script.display());
        assert!(!output.stdout.is_empty(), "{}: {words}", script.display());
    }
}
