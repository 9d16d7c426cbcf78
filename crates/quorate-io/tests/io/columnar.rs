//! Parquet and Arrow: the types of columns, both forms of Arrow.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array,
    Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use quorate::Annotations;
use quorate_io::{ErrorKind, Position, ReadOptions, Result, read_annotations};

use crate::{row, rows};

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true)))
        .unwrap()
}

fn write_parquet(path: &Path, batch: &RecordBatch, compression: Compression) {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(2))
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn write_file(path: &Path, batch: &RecordBatch, compression: Option<CompressionType>) {
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap();
    let file = File::create(path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

fn write_stream(path: &Path, batch: &RecordBatch) {
    let mut writer = StreamWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

/// The batch read back from a Parquet file, an Arrow file and an Arrow stream.
fn read_all(batch: &RecordBatch) -> Vec<Result<Annotations>> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_parquet(&path("plain.parquet"), batch, Compression::UNCOMPRESSED);
    write_parquet(&path("snap.parquet"), batch, Compression::SNAPPY);
    write_parquet(
        &path("zstd.parquet"),
        batch,
        Compression::ZSTD(ZstdLevel::default()),
    );
    write_parquet(
        &path("gzip.parquet"),
        batch,
        Compression::GZIP(GzipLevel::default()),
    );
    write_parquet(&path("lz4.parquet"), batch, Compression::LZ4_RAW);
    write_file(&path("file.arrow"), batch, None);
    write_file(&path("lz4.feather"), batch, Some(CompressionType::LZ4_FRAME));
    write_file(&path("zstd.ipc"), batch, Some(CompressionType::ZSTD));
    write_stream(&path("stream.arrow"), batch);
    let names = [
        "plain.parquet",
        "snap.parquet",
        "zstd.parquet",
        "gzip.parquet",
        "lz4.parquet",
        "file.arrow",
        "lz4.feather",
        "zstd.ipc",
        "stream.arrow",
    ];
    names
        .iter()
        .map(|name| Ok(read_annotations(&path(name).into(), &ReadOptions::default())?.annotations))
        .collect()
}

#[test]
fn text_numbers_and_dictionaries_mean_the_same() {
    let keys = DictionaryArray::<Int32Type>::from_iter([Some("x"), None, Some("y"), Some("x")]);
    let tasks: [ArrayRef; 5] = [
        Arc::new(StringArray::from(vec!["1", "1", "2", "3"])),
        Arc::new(LargeStringArray::from(vec!["1", "1", "2", "3"])),
        Arc::new(StringViewArray::from(vec!["1", "1", "2", "3"])),
        Arc::new(Int64Array::from(vec![1, 1, 2, 3])),
        Arc::new(UInt64Array::from(vec![1, 1, 2, 3])),
    ];
    for task in tasks {
        let batch = batch(&[
            ("label", Arc::new(keys.clone())),
            ("unused", Arc::new(BinaryArray::from(vec![&b"\xff"[..]; 4]))),
            ("task", task),
            ("worker", Arc::new(Float64Array::from(vec![7.0, 8.5, -0.0, 1e15]))),
        ]);
        for table in read_all(&batch) {
            let table = table.unwrap();
            assert_eq!(
                rows(&table),
                [
                    row("1", "7", "x"),
                    row("2", "0", "y"),
                    row("3", "1000000000000000", "x")
                ]
            );
            assert_eq!(table.rows().abstentions, 1);
            assert!(table.workers().find("8.5").is_some());
        }
    }
}

#[test]
fn labels_of_every_kind_with_nulls() {
    let labels: [(ArrayRef, &str, u64); 5] = [
        (
            Arc::new(Float64Array::from(vec![Some(2.0), Some(f64::NAN), None])),
            "2",
            2,
        ),
        (
            Arc::new(Float32Array::from(vec![Some(0.1), None, None])),
            "0.1",
            2,
        ),
        (
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(true)])),
            "true",
            1,
        ),
        (Arc::new(Int8Array::from(vec![Some(-1), Some(-1), None])), "-1", 1),
        (
            Arc::new(StringArray::from(vec![Some("a"), Some(""), Some("nan")])),
            "a",
            2,
        ),
    ];
    for (label, class, abstentions) in labels {
        let batch = batch(&[
            ("task", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            ("worker", Arc::new(StringArray::from(vec!["w"; 3]))),
            ("label", label),
        ]);
        for table in read_all(&batch) {
            let table = table.unwrap();
            assert_eq!(table.classes().iter().collect::<Vec<_>>(), [class]);
            assert_eq!(table.rows().abstentions, abstentions);
        }
    }
}

#[test]
fn nothing_but_nulls_is_no_labels() {
    let empty: [ArrayRef; 2] = [
        Arc::new(NullArray::new(2)),
        Arc::new(DictionaryArray::<Int32Type>::from_iter([None::<&str>, None])),
    ];
    for label in empty {
        let batch = batch(&[
            ("task", Arc::new(Int64Array::from(vec![1, 2]))),
            ("worker", Arc::new(Int64Array::from(vec![1, 2]))),
            ("label", label),
        ]);
        for table in read_all(&batch) {
            let error = table.unwrap_err();
            assert!(
                error.to_string().contains("all 2 rows have an empty label"),
                "{error}"
            );
        }
    }
}

#[test]
fn errors_point_to_row_and_column() {
    let table = |task: ArrayRef| {
        batch(&[
            ("task", task),
            ("worker", Arc::new(Int64Array::from(vec![1, 2, 3]))),
            ("label", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ])
    };
    for found in read_all(&table(Arc::new(Int64Array::from(vec![Some(1), Some(2), None])))) {
        let error = found.unwrap_err();
        assert_eq!(error.position(), Some(Position::Row(3)));
        assert_eq!((error.line(), error.column()), (Some(3), Some("task")));
        assert!(
            error.to_string().contains(", row 3, column \"task\": "),
            "{error}"
        );
    }
    for found in read_all(&table(Arc::new(BinaryArray::from(vec![&b"x"[..]; 3])))) {
        let error = found.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ColumnType { .. }), "{error}");
        assert_eq!(error.column(), Some("task"));
    }
    let no_worker = batch(&[("task", Arc::new(Int64Array::from(vec![1])) as Arc<dyn Array>)]);
    for found in read_all(&no_worker) {
        let error = found.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Missing { keys: false, .. }),
            "{error}"
        );
    }
}
