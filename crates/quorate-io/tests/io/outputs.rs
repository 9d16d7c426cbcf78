//! Every output in every format, read back by other readers: names of columns, values, what is missing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use quorate::Annotations;
use quorate::annotations::Names;
use quorate::intervals::{Interval, ModelIntervals};
use quorate::model::Consensus;
use quorate::review::WorkerAccuracy;
use quorate_io::{
    Cell, ChangeRow, FileFormat, Format, Result, Target, WorkerRow, write_annotations, write_changes,
    write_consensus, write_intervals, write_truth, write_workers,
};

use crate::round_trip::FORMATS;

type WriteOutput = Box<dyn Fn(&Target) -> Result<()>>;

/// An output: how it is written, and what its file must hold.
struct Output {
    name: &'static str,
    write: WriteOutput,
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell<'static>>>,
}

fn annotations() -> Annotations {
    Annotations::from_triples([("t1", "ann", "cat"), ("t,2", "bob", "dog"), ("t,2", "ann", "cat")]).unwrap()
}

fn names(names: &[&str]) -> Names {
    names.iter().copied().collect()
}

fn consensus() -> Consensus {
    Consensus::new(2, vec![2.0 / 3.0, 1.0 / 3.0, 0.25, 0.75])
}

const CONFUSION: [f64; 4] = [0.9, 0.2, 0.1, 0.8];

fn workers(confusion: Option<&'static [f64]>) -> [WorkerRow<'static>; 2] {
    [
        WorkerRow {
            worker: "ann",
            labels: 2,
            accuracy: Some(WorkerAccuracy {
                value: 0.85,
                interval: Some((0.75, 0.9)),
            }),
            agreement: Some(0.5),
            score: Some(-1.5),
            confusion,
        },
        WorkerRow {
            worker: "bob",
            labels: 1,
            accuracy: None,
            agreement: Some(f64::NAN),
            score: None,
            confusion: None,
        },
    ]
}

fn intervals() -> ModelIntervals {
    let interval = |number: usize| Interval {
        estimate: number as f64 / 16.0,
        low: number as f64 / 32.0,
        high: number as f64 / 10.0,
    };
    ModelIntervals {
        error: interval(1),
        prevalence: (2..4).map(interval).collect(),
        accuracy: (4..6).map(interval).collect(),
        confusion: (6..14).map(interval).collect(),
    }
}

fn interval_rows() -> Vec<Vec<Cell<'static>>> {
    const NONE: Cell<'static> = Cell::Missing;
    let text = Cell::Text;
    let mut places: Vec<(&str, [Cell<'static>; 3])> = ["cat", "dog"]
        .map(|class| ("prevalence", [NONE, NONE, text(class)]))
        .into();
    places.extend(["ann", "bob"].map(|worker| ("accuracy", [text(worker), NONE, NONE])));
    for worker in ["ann", "bob"] {
        for (answer, truth) in [("cat", "cat"), ("cat", "dog"), ("dog", "cat"), ("dog", "dog")] {
            places.push(("confusion", [text(worker), text(answer), text(truth)]));
        }
    }
    let numbered = places.into_iter().zip(2..);
    numbered
        .map(|((what, [worker, answer, truth]), number)| {
            let number = f64::from(number);
            let numbers = [number / 16.0, number / 32.0, number / 10.0].map(Cell::Number);
            [text(what), worker, answer, truth]
                .into_iter()
                .chain(numbers)
                .collect()
        })
        .collect()
}

fn outputs() -> Vec<Output> {
    use Cell::{Count, Missing, Number, Text};
    let (third, tasks, classes) = (1.0 / 3.0, ["t1", "t,2"], ["cat", "dog"]);
    let labels = [(tasks[0], classes[0], 2.0 * third), (tasks[1], classes[1], 0.75)];
    let rows = labels.map(|(task, label, confidence)| vec![Text(task), Text(label), Number(confidence)]);
    let mut with_probabilities = rows.clone();
    with_probabilities[0].extend([Number(2.0 * third), Number(third)]);
    with_probabilities[1].extend([Number(0.25), Number(0.75)]);
    let written = |probabilities| -> WriteOutput {
        Box::new(move |target| {
            let (tasks, classes) = (names(&["t1", "t,2"]), names(&["cat", "dog"]));
            write_consensus(target, &tasks, &classes, &consensus(), probabilities)
        })
    };
    let by_worker = |confusion: Option<&'static [f64]>| -> WriteOutput {
        Box::new(move |target| write_workers(target, &names(&["cat", "dog"]), &workers(confusion)))
    };
    let ann = vec![
        Text("ann"),
        Count(2),
        Number(0.85),
        Number(0.75),
        Number(0.9),
        Number(0.5),
        Number(-1.5),
    ];
    let bob = vec![Text("bob"), Count(1), Missing, Missing, Missing, Missing, Missing];
    vec![
        Output {
            name: "annotations",
            write: Box::new(|target| write_annotations(target, None, &annotations())),
            columns: &["task", "worker", "label"],
            rows: vec![
                vec![Text("t1"), Text("ann"), Text("cat")],
                vec![Text("t,2"), Text("ann"), Text("cat")],
                vec![Text("t,2"), Text("bob"), Text("dog")],
            ],
        },
        Output {
            name: "truth",
            write: Box::new(|target| {
                write_truth(target, &names(&["t1", "t,2"]), &names(&["cat", "dog"]), &[0, 1])
            }),
            columns: &["task", "label"],
            rows: vec![vec![Text("t1"), Text("cat")], vec![Text("t,2"), Text("dog")]],
        },
        Output {
            name: "consensus",
            write: written(false),
            columns: &["task", "label", "confidence"],
            rows: rows.to_vec(),
        },
        Output {
            name: "consensus with probabilities",
            write: written(true),
            columns: &["task", "label", "confidence", "p:cat", "p:dog"],
            rows: with_probabilities.to_vec(),
        },
        Output {
            name: "workers",
            write: by_worker(None),
            columns: &[
                "worker",
                "labels",
                "accuracy",
                "low",
                "high",
                "agreement",
                "score",
            ],
            rows: vec![ann.clone(), bob.clone()],
        },
        Output {
            name: "workers with a model",
            write: by_worker(Some(&CONFUSION)),
            columns: &[
                "worker",
                "labels",
                "accuracy",
                "low",
                "high",
                "agreement",
                "score",
                "p:cat|cat",
                "p:cat|dog",
                "p:dog|cat",
                "p:dog|dog",
            ],
            rows: vec![
                ann.into_iter().chain(CONFUSION.map(Number)).collect(),
                bob.into_iter().chain([Missing; 4]).collect(),
            ],
        },
        Output {
            name: "changes",
            write: Box::new(|target| {
                let change = ChangeRow {
                    task: "t,2",
                    majority: "cat",
                    votes: "cat:1 dog:1".into(),
                    label: "dog",
                    confidence: 0.75,
                    tipped_by: String::new(),
                };
                write_changes(target, &[change])
            }),
            columns: &["task", "majority", "votes", "label", "confidence", "tipped_by"],
            rows: vec![vec![
                Text("t,2"),
                Text("cat"),
                Text("cat:1 dog:1"),
                Text("dog"),
                Number(0.75),
                Text(""),
            ]],
        },
        Output {
            name: "intervals",
            write: Box::new(|target| {
                let table = annotations();
                write_intervals(target, table.workers(), table.classes(), &intervals())
            }),
            columns: &["what", "worker", "answer", "truth", "estimate", "low", "high"],
            rows: interval_rows(),
        },
    ]
}

/// A value as another reader finds it.
#[derive(Debug, PartialEq)]
enum Found {
    Null,
    Text(String),
    Number(f64),
}

impl Found {
    /// Whether it is what was written. In delimited text a missing value is an empty field, and a number is
    /// text.
    fn is(&self, written: Cell<'_>, delimited: bool, tolerance: f64) -> bool {
        let close = |found: f64, written: f64| (found - written).abs() <= tolerance;
        match (self, written) {
            (Self::Text(found), Cell::Text(text)) => found == text,
            (Self::Text(found), Cell::Missing) => delimited && found.is_empty(),
            (Self::Text(found), Cell::Number(number)) => {
                delimited && found.parse().is_ok_and(|found| close(found, number))
            }
            (Self::Text(found), Cell::Count(count)) => delimited && *found == count.to_string(),
            (Self::Number(found), Cell::Number(number)) => close(*found, number),
            (Self::Number(found), Cell::Count(count)) => *found == count as f64,
            (Self::Null, Cell::Missing) => true,
            _ => false,
        }
    }
}

type FoundTable = (Vec<String>, Vec<Vec<Found>>);

fn read_text(path: &Path) -> String {
    let (file, mut text) = (File::open(path).unwrap(), String::new());
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => flate2::read::GzDecoder::new(file).read_to_string(&mut text),
        Some("zst") => zstd::Decoder::new(file).unwrap().read_to_string(&mut text),
        _ => { file }.read_to_string(&mut text),
    }
    .unwrap();
    text
}

fn read_delimited(text: &str, delimiter: u8) -> FoundTable {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let fields = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let columns = fields(reader.headers().unwrap());
    let rows = reader.records().map(|record| {
        let fields = fields(&record.unwrap()).into_iter();
        fields.map(Found::Text).collect()
    });
    (columns, rows.collect())
}

fn read_jsonl(text: &str, columns: &[&str]) -> FoundTable {
    let rows = text.lines().map(|line| {
        let row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        assert_eq!(row.len(), columns.len(), "{line}");
        let cell = |name: &&str| match &row[*name] {
            serde_json::Value::Null => Found::Null,
            serde_json::Value::String(text) => Found::Text(text.clone()),
            value => Found::Number(value.as_f64().unwrap()),
        };
        columns.iter().map(cell).collect()
    });
    (
        columns.iter().map(|name| name.to_string()).collect(),
        rows.collect(),
    )
}

#[cfg(feature = "columnar")]
fn read_columnar(path: &Path, format: Format) -> FoundTable {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_ipc::reader::FileReader;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let file = File::open(path).unwrap();
    let batches: Vec<RecordBatch> = match format {
        Format::Parquet => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build();
            reader.unwrap().map(|batch| batch.unwrap()).collect()
        }
        _ => {
            let reader = FileReader::try_new(file, None).unwrap();
            reader.map(|batch| batch.unwrap()).collect()
        }
    };
    let fields = batches[0].schema().fields().clone();
    let cell = |column: &dyn Array, row: usize| {
        if column.is_null(row) {
            return Found::Null;
        }
        if let Some(text) = column.as_string_opt::<i32>() {
            return Found::Text(text.value(row).to_owned());
        }
        match column.as_primitive_opt::<Float64Type>() {
            Some(numbers) => Found::Number(numbers.value(row)),
            None => Found::Number(column.as_primitive::<Int64Type>().value(row) as f64),
        }
    };
    let rows = batches.iter().flat_map(|batch| {
        let row = move |row| batch.columns().iter().map(|column| cell(column, row)).collect();
        (0..batch.num_rows()).map(row)
    });
    (
        fields.iter().map(|field| field.name().clone()).collect(),
        rows.collect(),
    )
}

#[test]
fn every_output_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for output in outputs() {
        for &(extension, tolerance) in FORMATS {
            let told = format!("{} as {extension}", output.name);
            let path = folder.path().join(format!("output.{extension}"));
            let written = (output.write)(&path.as_path().into());
            written.unwrap_or_else(|error| panic!("{told}: {error}"));
            let FileFormat { format, .. } = FileFormat::of_path(&path).unwrap();
            let (columns, rows) = match format {
                Format::Csv => read_delimited(&read_text(&path), b','),
                Format::Tsv => read_delimited(&read_text(&path), b'\t'),
                Format::Jsonl => read_jsonl(&read_text(&path), output.columns),
                Format::Json => {
                    let array: Vec<serde_json::Value> = serde_json::from_str(&read_text(&path)).unwrap();
                    let lines: Vec<String> = array.iter().map(ToString::to_string).collect();
                    read_jsonl(&lines.join("\n"), output.columns)
                }
                Format::Delimited(_) => unreachable!("{told}"),
                #[cfg(feature = "columnar")]
                Format::Parquet | Format::Arrow => read_columnar(&path, format),
                #[cfg(not(feature = "columnar"))]
                Format::Parquet | Format::Arrow => unreachable!("{told}"),
            };
            assert_eq!(columns, output.columns, "{told}");
            assert_eq!(rows.len(), output.rows.len(), "{told}");
            let delimited = matches!(format, Format::Csv | Format::Tsv);
            for (found, written) in rows.iter().zip(&output.rows) {
                let same = |(found, &written): (&Found, &Cell<'_>)| found.is(written, delimited, tolerance);
                assert!(
                    found.len() == written.len() && found.iter().zip(written).all(same),
                    "{told}: found {found:?}, wrote {written:?}"
                );
            }
        }
    }
}
