//! `--memory` is kept: the peak of the built program is measured. And files that state too much, or are not
//! what they seem, are errors in words.

mod support;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use wait4::Wait4;

const MIB: u64 = 1 << 20;

/// Exit code, what was said, and the largest resident memory in bytes.
fn measured(folder: &Path, arguments: &str) -> (i32, String, u64) {
    let (code, said, peak, _) = measured_with_time(folder, arguments);
    (code, said, peak)
}

/// The same, and the time that the processors spent on it.
fn measured_with_time(folder: &Path, arguments: &str) -> (i32, String, u64, Duration) {
    let log = folder.join("stderr");
    let mut child = Command::new(env!("CARGO_BIN_EXE_quorate"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let end = child.wait4().unwrap();
    let said = fs::read_to_string(&log).unwrap();
    let time = end.rusage.utime + end.rusage.stime;
    (end.status.code().unwrap_or(-1), said, end.rusage.maxrss, time)
}

/// Gibibytes of memory that the commands below may take, and what their peak may come to: 1.25 times that.
const LIMIT: f64 = 0.1;
const MOST: u64 = 128 * MIB;

/// A command must end with an error in words, or without one, within its limit of memory and before anybody
/// loses patience.
fn must_stay_within(folder: &Path, arguments: &str, words: &str) {
    let test = std::thread::current()
        .name()
        .unwrap_or_default()
        .replace('_', " ");
    let kind = test
        .split(" is an error")
        .next()
        .unwrap()
        .split(" are ")
        .next()
        .unwrap();
    let kind = kind.split(" stays").next().unwrap();
    let arguments = format!("{arguments} --memory {LIMIT}");
    let (code, said, peak, time) = measured_with_time(folder, &arguments);
    assert!(code == 2 || code == 0, "{arguments}: {code}: {said}");
    assert!(said.contains(words), "{arguments}: {said}");
    assert!(!said.contains("panicked"), "{arguments}: {said}");
    assert!(
        code == 0 || said.lines().last().unwrap().starts_with("error: "),
        "{arguments}: {said}"
    );
    assert!(peak < MOST, "{arguments}: {} MiB: {said}", peak / MIB);
    let end = ["read", "error in words"][usize::from(code == 2)];
    println!("limits\t{kind}\t{}\t{end}", peak / MIB);
    assert!(time.as_secs() < 60, "{arguments}: {time:?}");
}

/// Commands that read labels, on this file: all of them, or a sample of three (`QUORATE_FAULTS=all`,
/// `scripts/limits`).
fn commands(file: &str) -> Vec<String> {
    let all = std::env::var("QUORATE_FAULTS").is_ok_and(|faults| faults == "all");
    let every = if all { 1 } else { 4 };
    let commands = [
        format!("aggregate {file} -m majority-vote -o out.csv"),
        format!("aggregate {file} -m dawid-skene -o out.csv --spill ."),
        format!("inspect {file} --replicates 0"),
        format!("workers {file}"),
        format!("judges {file}"),
        format!("convert {file} converted.csv"),
        format!("report {file} -o page.html"),
        format!("evaluate {file} {file}"),
        format!("aggregate {file} --gold {file} -m majority-vote -o out.csv"),
    ];
    commands.into_iter().step_by(every).collect()
}

/// A gzip file of these pieces.
fn gzip(path: &Path, pieces: impl Iterator<Item = Vec<u8>>) {
    let mut output = flate2::write::GzEncoder::new(File::create(path).unwrap(), flate2::Compression::fast());
    pieces.for_each(|piece| output.write_all(&piece).unwrap());
    output.finish().unwrap();
}

/// A plain file of these pieces. They are made one by one: what this process holds counts for the peak of its
/// children.
fn plain(path: &Path, start: &str, pieces: usize, end: &str, piece: impl Fn(usize) -> String) {
    let mut output = File::create(path).unwrap();
    output.write_all(start.as_bytes()).unwrap();
    (0..pieces).for_each(|number| output.write_all(piece(number).as_bytes()).unwrap());
    output.write_all(end.as_bytes()).unwrap();
}

fn packed(path: &Path, rows: impl Iterator<Item = String>) {
    let mut output = flate2::write::GzEncoder::new(File::create(path).unwrap(), flate2::Compression::fast());
    output.write_all(b"task,worker,label\n").unwrap();
    rows.for_each(|row| output.write_all(row.as_bytes()).unwrap());
    output.finish().unwrap();
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_bomb_of_one_row_stays_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    packed(
        &folder.path().join("bomb.csv.gz"),
        (0..200).map(|_| "1,1,1\n".repeat(100_000)),
    );
    for more in ["-m dawid-skene", "-m glad", "-m dawid-skene --spill ."] {
        let arguments = format!("aggregate bomb.csv.gz --memory 0.1 -o out.csv {more}");
        let (code, said, peak) = measured(folder.path(), &arguments);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains("19,999,999 rows with the task and worker"),
            "{said}"
        );
        assert!(peak < 128 * MIB, "{more}: {} MiB", peak / MIB);
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn labels_beyond_the_memory_limit_go_to_disk_or_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..1_000_000).map(|task| {
        let row = |worker: u32| format!("t{task},w{},{}\n", (task + worker) % 999, (task + worker) % 2);
        (0..4).map(row).collect()
    });
    packed(&folder.path().join("many.csv.gz"), rows);
    let (code, said, peak) = measured(
        folder.path(),
        "aggregate many.csv.gz -m majority-vote --memory 0.08 -o out.csv",
    );
    assert!(code == 0 && said.contains("kept on disk"), "{said}");
    assert!(peak < 102 * MIB, "{} MiB", peak / MIB);
    let (code, said, peak) = measured(
        folder.path(),
        "aggregate many.csv.gz -m glad --memory 0.08 -o none.csv",
    );
    assert!(
        code == 2 && said.contains("raise the limit with --memory"),
        "{said}"
    );
    assert!(peak < 102 * MIB, "{} MiB", peak / MIB);
    assert!(!folder.path().join("none.csv").exists());
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn text_behind_a_closing_quote_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    support::write(folder.path(), "labels.csv", "t1,a,x\n\"t2\",a,y\n\"t3\"x,a,x\n");
    for more in ["", " --spill ."] {
        let run = support::run(
            folder.path(),
            &format!("aggregate labels.csv -o out.csv -m majority-vote{more}"),
        );
        assert_eq!(run.code, 2);
        assert!(
            run.stderr
                .contains("labels.csv, line 4: found text behind a closing quote"),
            "{}",
            run.stderr
        );
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn bytes_behind_gzip_data_are_said_to_be_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.csv.gz");
    packed(&path, (0..9).map(|row| format!("t{row},a,x\n")));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"trailing"].concat()).unwrap();
    let run = support::run(folder.path(), "aggregate labels.csv.gz -o out.csv");
    assert!(
        run.code == 2 && run.stderr.contains("behind the end of the gzip data"),
        "{}",
        run.stderr
    );
    // Zeros, as some programs pad with.
    fs::write(&path, [&whole[..], &[0; 512]].concat()).unwrap();
    let run = support::run(folder.path(), "aggregate labels.csv.gz -o out.csv");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_line_without_end_is_an_error_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let million = |byte: u8| (0..100).map(move |_| vec![byte; 1_000_000]);
    let start = |text: &str| std::iter::once(text.as_bytes().to_vec());
    gzip(&path("header.csv.gz"), million(b'a'));
    gzip(&path("blank.csv.gz"), million(b'\n'));
    gzip(
        &path("cell.csv.gz"),
        start("task,worker,label\nt,").chain(million(b'a')),
    );
    gzip(
        &path("quoted.csv.gz"),
        start("task,worker,label\nt,\"").chain(million(b'\n')),
    );
    gzip(&path("key.jsonl.gz"), start("{\"task\":\"").chain(million(b'a')));
    gzip(&path("nested.json.gz"), million(b'['));
    gzip(&path("blank.json.gz"), start("[").chain(million(b' ')));
    for (file, words) in [
        ("header.csv.gz", "longer than 16777216 bytes"),
        ("blank.csv.gz", "error: "),
        ("cell.csv.gz", "longer than 16777216 bytes"),
        ("quoted.csv.gz", "longer than 16777216 bytes"),
        ("key.jsonl.gz", "longer than 16777216 bytes"),
        ("nested.json.gz", "error: "),
        ("blank.json.gz", "error: "),
    ] {
        for command in commands(file) {
            must_stay_within(folder.path(), &command, words);
        }
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn an_id_of_a_hundred_megabytes_is_an_error_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    for (file, start, end) in [
        ("long.csv", "task,worker,label\nt,", ",a\n"),
        (
            "long.jsonl",
            "{\"task\":\"t\",\"worker\":\"",
            "\",\"label\":\"a\"}\n",
        ),
        (
            "long.json",
            "[{\"task\":\"t\",\"worker\":\"",
            "\",\"label\":\"a\"}]\n",
        ),
    ] {
        plain(&folder.path().join(file), start, 100, end, |_| {
            "w".repeat(1_000_000)
        });
        for command in commands(file) {
            must_stay_within(folder.path(), &command, "longer than 16777216 bytes");
        }
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_million_columns_are_read_or_refused_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    let names = |start: &'static str| {
        move |piece: usize| {
            (0..1000)
                .map(|column| format!(",{start}{}", piece * 1000 + column))
                .collect::<String>()
        }
    };
    let make = |file: &str, header: &str, start: &'static str, rows: [&str; 2], cell: &'static str| {
        let path = folder.path().join(file);
        plain(&path, header, 1000, "\n", names(start));
        for row in rows {
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(row.as_bytes()).unwrap();
            (0..1000).for_each(|_| file.write_all(cell.repeat(1000).as_bytes()).unwrap());
            file.write_all(b"\n").unwrap();
        }
    };
    make("long.csv", "task,worker,label", "c", ["t,w,a", "t,v,a"], ",x");
    make("wide.csv", "task", "c", ["t1", "t2"], ",x");
    make("classes.csv", "task,label", "p:", ["t,1", "u,1"], ",0");
    support::write(folder.path(), "labels.csv", "t,w,a\nt,v,b\nu,w,b\n");
    for command in commands("long.csv").iter().chain(&commands("wide.csv")) {
        must_stay_within(folder.path(), command, "");
    }
    must_stay_within(folder.path(), "evaluate classes.csv classes.csv", "");
    let command = "aggregate labels.csv -m crowdlab --probabilities-in classes.csv -o out.csv";
    must_stay_within(folder.path(), command, "error: classes.csv");
}

#[cfg(feature = "columnar")]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_small_parquet_file_with_a_huge_string_is_an_error_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    let packed = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/damaged/one-gibibyte.parquet.gz"
    );
    let mut file = File::create(folder.path().join("huge.parquet")).unwrap();
    std::io::copy(
        &mut flate2::read::GzDecoder::new(File::open(packed).unwrap()),
        &mut file,
    )
    .unwrap();
    drop(file);
    for command in commands("huge.parquet") {
        must_stay_within(folder.path(), &command, "huge.parquet");
    }
}

/// Sets every four bytes of a file that hold this number to another.
#[cfg(feature = "columnar")]
fn restate(bytes: &mut [u8], from: u64, to: u64) -> usize {
    let (from, to) = (from.to_le_bytes(), to.to_le_bytes());
    let places: Vec<usize> = (0..bytes.len().saturating_sub(7))
        .filter(|&place| bytes[place..place + 8] == from)
        .collect();
    for &place in &places {
        bytes[place..place + 8].copy_from_slice(&to);
    }
    places.len()
}

#[cfg(feature = "columnar")]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_billion_stated_rows_are_an_error_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    let from = |name: &str| {
        fs::read(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/damaged")
                .join(name),
        )
        .unwrap()
    };
    // Arrow: the number of rows and the lengths of buffers are plain numbers of eight bytes.
    for name in ["lz4.arrow", "zstd.arrow"] {
        let mut bytes = from(name);
        assert!(restate(&mut bytes, 36, 1_000_000_000) > 0);
        fs::write(folder.path().join(name), bytes).unwrap();
        for command in commands(name) {
            must_stay_within(folder.path(), &command, &format!("error: {name}"));
        }
    }
    // Parquet: numbers are in the variable form of Thrift; 36 is one byte, 72, and a billion takes five.
    let whole = from("snappy.parquet");
    let mut tried = 0;
    for place in (0..whole.len()).filter(|&place| whole[place] == 72) {
        let mut bytes = [
            &whole[..place],
            &[0x80, 0xa8, 0xd6, 0xb9, 0x07],
            &whole[place + 1..],
        ]
        .concat();
        // The length of the footer stands before its last four bytes.
        let end = bytes.len() - 8;
        let footer = u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().unwrap());
        if place >= whole.len() - 8 - footer as usize {
            bytes[end..end + 4].copy_from_slice(&(footer + 4).to_le_bytes());
        }
        fs::write(folder.path().join("stated.parquet"), bytes).unwrap();
        must_stay_within(
            folder.path(),
            "aggregate stated.parquet -m majority-vote -o out.csv",
            "",
        );
        must_stay_within(folder.path(), "judges stated.parquet", "");
        tried += 1;
    }
    assert!(tried > 3);
}

#[cfg(feature = "deep")]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_billion_stated_features_are_an_error_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    support::write(folder.path(), "labels.csv", "t,w,a\nt,v,b\nu,w,b\n");
    for shape in [
        "(2, 1000000000)",
        "(1000000000, 2)",
        "(1000000000, 1000000000)",
        "(18446744073709551615, 2)",
        "(2, 18446744073709551615, 4)",
        "(2, 1000000000, 0)",
    ] {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &[0; 32]].concat();
        fs::write(folder.path().join("f.npy"), bytes).unwrap();
        must_stay_within(
            folder.path(),
            "aggregate labels.csv -m dl-mv --features f.npy -o out.csv",
            "error: f.npy",
        );
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn a_model_that_states_too_much_is_an_error_within_the_memory_limit() {
    let folder = support::folder();
    support::done(
        folder.path(),
        "aggregate labels.csv -m ds -o out.csv --model m.json --keep-labels",
    );
    let path = |name: &str| folder.path().join(name);
    let text = fs::read_to_string(path("m.json")).unwrap();
    // Fifty million numbers where two are expected, and a class of a hundred megabytes.
    for (file, place, piece) in [
        ("numbers.json", "\"prior\": [", "0,".repeat(500_000)),
        ("class.json", "\"classes\": [\"", "c".repeat(1_000_000)),
    ] {
        let place = text.find(place).unwrap() + place.len();
        plain(&path(file), &text[..place], 100, &text[place..], |_| {
            piece.clone()
        });
    }
    for option in [
        "--worker-prior numbers.json -m ds",
        "--worker-prior class.json -m ds",
        "--update numbers.json",
        "--update class.json",
    ] {
        must_stay_within(
            folder.path(),
            &format!("aggregate labels.csv {option} -o new.csv"),
            "error: ",
        );
    }
    // The kept labels state a trillion tasks.
    let kept = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let kept = kept
        .into_iter()
        .find(|path| path.to_string_lossy().ends_with(".labels.bin"))
        .unwrap();
    let whole = fs::read(&kept).unwrap();
    for place in (12..whole.len().min(80)).step_by(3) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x7f;
        fs::write(&kept, bytes).unwrap();
        must_stay_within(
            folder.path(),
            "aggregate labels.csv --update m.json -o new.csv",
            "error: ",
        );
    }
}

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "needs Linux: peaks of memory are measured"
)]
#[test]
fn the_crowd_of_a_simulation_stays_within_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        "simulate -o crowd --tasks 1000000000 --workers 4 --labels-per-task 4",
        "simulate -o crowd --tasks 10 --workers 1000000000",
        "simulate -o crowd --tasks 10 --workers 100 --classes 65536",
        "demo --tasks 100000000",
    ] {
        must_stay_within(folder.path(), arguments, "of memory");
    }
    assert!(!folder.path().join("crowd").exists());
}
