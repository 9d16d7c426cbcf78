//! The README's commands, run as they stand.

use std::process::Command;

const README: &str = include_str!("../../../README.md");

#[test]
fn the_readmes_commands_work_in_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let commands: Vec<&str> = README
        .lines()
        .filter_map(|line| line.strip_prefix("$ quorate "))
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        if command.contains(".parquet") && !cfg!(feature = "columnar") {
            continue;
        }
        let output = Command::new(env!("CARGO_BIN_EXE_quorate"))
            .args(command.split_whitespace())
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(folder.path().join("labels.csv").exists() && folder.path().join("workers.csv").exists());
}
