"""Dawid-Skene on a two-worker Spark cluster on this machine, beside one machine and beside plain PySpark.

    python python/benchmarks/spark_large.py --labels 10000000 --plain-labels 1000000

Prints time and CPU seconds of an iteration (Python processes of the executors and JVMs apart), bytes that travel, and
the same for `quorate aggregate` and for Dawid-Skene written in DataFrame operations. An iteration is the mean over those
after the second one: reading and encoding are not part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any, Dict, Optional, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests_spark"))

from local_cluster import LocalCluster, _descendants  # noqa: E402

import quorate  # noqa: E402
import quorate.spark  # noqa: E402

CLASSES = 4
PER_TASK = 5


def generate(path: pathlib.Path, labels: int, workers: int) -> None:
    """Labels of a seeded crowd, five on each task, as one Parquet file."""
    import numpy
    import pyarrow
    import pyarrow.parquet

    random = numpy.random.default_rng(1)
    accuracy = random.uniform(0.5, 0.95, workers)
    schema = pyarrow.schema([("task", pyarrow.int64()), ("worker", pyarrow.int32()), ("label", pyarrow.int32())])
    chunk = 1_000_000
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for first in range(0, labels, chunk):
            size = min(chunk, labels - first)
            task = (numpy.arange(first, first + size)) // PER_TASK
            worker = random.integers(0, workers, size)
            truth = (task * 2654435761 >> 7) % CLASSES
            wrong = (truth + random.integers(1, CLASSES, size)) % CLASSES
            label = numpy.where(random.random(size) < accuracy[worker], truth, wrong)
            columns = [task, worker.astype("int32"), label.astype("int32")]
            writer.write_table(pyarrow.Table.from_arrays([pyarrow.array(column) for column in columns], schema=schema))


def cpu_of(process: int) -> float:
    """CPU seconds of a process and of its children that have ended."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(int(value) for value in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def executor_cpu(cluster: LocalCluster) -> Tuple[float, float]:
    """CPU seconds of the executors' Python processes and of all JVMs but master and workers."""
    python = java = 0.0
    ids = [child for worker in cluster.workers for child in _descendants(worker.pid)] + _descendants(os.getpid())
    for process in ids:
        try:
            name = pathlib.Path(f"/proc/{process}/comm").read_text().strip()
        except OSError:
            continue
        if name == "java":
            java += cpu_of(process)
        elif name.startswith("python"):
            python += cpu_of(process)
    return python, java


class Snapshot:
    """Time and CPU so far."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.seconds = time.monotonic()
        self.python, self.java = executor_cpu(cluster)
        self.driver = time.process_time()

    def since(self, before: Snapshot, iterations: int = 1) -> Dict[str, float]:
        """What an iteration cost between the two."""
        names = ("seconds", "python", "java", "driver")
        return {name: round((getattr(self, name) - getattr(before, name)) / iterations, 3) for name in names}


def on_one_machine(path: pathlib.Path, iterations: int) -> Tuple[float, float]:
    """Seconds and CPU seconds of the program for so many iterations."""
    options = ["-m", "dawid-skene", "--param", f"max-iter={iterations}", "--param", "tol=0", "--memory", "12", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "quorate._program", "aggregate", str(path), *options, "-o", folder + "/out.parquet"]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - started, cpu


def compiled_passes(path: pathlib.Path, workers: int, tol: str) -> float:
    """CPU seconds of a pass over all blocks in this process, one thread, without Spark: what the executors run."""
    import numpy
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    from quorate import Fitting, Knowledge, _quorate
    from quorate._options import native_fitting, native_knowledge, running
    from quorate.spark._encode import block_count

    table = pyarrow.parquet.read_table(path)
    task, worker, label = (table[name].to_numpy() for name in ("task", "worker", "label"))
    block = (task * 2654435761 >> 5) % block_count(len(task), workers * CLASSES**2)
    order = numpy.argsort(block, kind="stable")
    encoder = _quorate.BlockEncoder("keep", False)
    blocks = []
    for first in range(0, len(task), 1_000_000):
        chosen = order[first : first + 1_000_000]
        rows = {
            "block": pyarrow.array(block[chosen].astype("int32")),
            "task": pyarrow.compute.cast(pyarrow.array(task[chosen]), pyarrow.string()),
            "worker": pyarrow.array(worker[chosen].astype("int32")),
            "label": pyarrow.array(label[chosen].astype("int16")),
        }
        blocks += encoder.push(pyarrow.table(rows).__arrow_c_stream__())
    last = encoder.finish()
    blocks += [] if last is None else [last]
    spent = []

    def ask(request: bytes) -> Any:
        started = time.process_time()
        runner = _quorate.PassRunner(request)
        for entry in blocks:
            runner.add(entry[0], entry[1])
        nodes = runner.finish()
        spent.append(time.process_time() - started)
        return nodes

    table = {
        "workers": [str(code) for code in range(workers)], "classes": [str(code) for code in range(CLASSES)],
        "tasks": sum(entry[3] for entry in blocks), "labels": sum(entry[4] for entry in blocks), "abstentions": 0,
        "repeated": 0, "duplicates": "keep", "gold": None,
    }
    fitting = native_fitting("dawid-skene", Fitting({"max_iter": 12, "tol": tol}))
    _quorate.fit_cluster(ask, table, native_knowledge(Knowledge()), fitting, running(threads=1))
    middle = sorted(spent[2:10])
    return round(middle[len(middle) // 2], 4)


def plain_dawid_skene(frame: Any, iterations: int) -> float:
    """Dawid-Skene the way one writes it in DataFrame operations: posteriors and matrices are tables that are joined."""
    from pyspark.sql import functions as F

    labels = frame.select("task", "worker", "label").persist()
    votes = labels.groupBy("task", "label").agg(F.count("*").alias("n"))
    total = labels.groupBy("task").agg(F.count("*").alias("all"))
    posterior = votes.join(total, "task").select("task", F.col("label").alias("k"), (F.col("n") / F.col("all")).alias("q"))
    for _ in range(iterations):
        posterior = posterior.persist()
        prior = posterior.groupBy("k").agg(F.sum("q").alias("mass"))
        counts = labels.join(posterior, "task").groupBy("worker", "label", "k").agg(F.sum("q").alias("c"))
        columns = counts.groupBy("worker", "k").agg(F.sum("c").alias("all"))
        matrix = counts.join(columns, ["worker", "k"]).select(
            "worker", "label", "k", F.log(F.greatest(F.col("c") / F.col("all"), F.lit(2.0**-52))).alias("log_a")
        )
        evidence = labels.join(F.broadcast(matrix), ["worker", "label"]).groupBy("task", "k").agg(
            F.sum("log_a").alias("log_p"), F.count("*").alias("seen")
        )
        joint = evidence.join(F.broadcast(prior), "k").select(
            "task", "k", F.exp(F.col("log_p") + F.log("mass")).alias("p")
        )
        sums = joint.groupBy("task").agg(F.sum("p").alias("all"))
        posterior = joint.join(sums, "task").select("task", "k", (F.col("p") / F.col("all")).alias("q"))
    return float(posterior.agg(F.sum(F.col("q") * F.col("q"))).collect()[0][0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=5_000)
    parser.add_argument("--iterations", type=int, default=10, help="between the short and the long run")
    parser.add_argument("--plain-labels", type=int, default=1_000_000, help="labels for plain PySpark; 0: leave it out")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "quorate-spark")
    parser.add_argument("--executor-memory", default="2g")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")

    def file_of(labels: int) -> pathlib.Path:
        path: pathlib.Path = args.folder / f"labels-{labels}-{args.workers}.parquet"
        if not path.exists():
            generate(path, labels, args.workers)
        return path

    def tell(name: str, **values: Any) -> None:
        print(json.dumps({"run": name, **values}), flush=True)

    path, steps = file_of(args.labels), args.iterations
    many = 5 * steps
    short, long = on_one_machine(path, 2), on_one_machine(path, 2 + many)
    own = {"seconds": round((long[0] - short[0]) / many, 4), "cpu": round((long[1] - short[1]) / many, 4)}
    tell("one machine", labels=args.labels, **own, seconds_in_all=round(long[0], 1), cpu_in_all=round(long[1], 1))
    if args.labels <= 20_000_000:
        tell("compiled passes alone", labels=args.labels, cpu=compiled_passes(path, args.workers, "0"),
             cpu_with_tolerance=compiled_passes(path, args.workers, "1e-12"))
    with tempfile.TemporaryDirectory() as folder:
        cluster = LocalCluster(pathlib.Path(folder), executor_memory=args.executor_memory, worker_memory="8g")
        try:
            spark = cluster.session()
            spark.sparkContext.setLogLevel("ERROR")

            def fit(labels: int) -> Tuple[Dict[int, Snapshot], Dict[str, Any], Snapshot]:
                """Snapshots by iteration, the summary, and a snapshot before the first query."""
                seen: Dict[int, Snapshot] = {}
                first = Snapshot(cluster)

                def look(stage: str, done: int, _: Optional[int]) -> None:
                    if stage == "EM" and done in (2, 2 + steps):
                        seen[done] = Snapshot(cluster)

                frame = spark.read.parquet(str(file_of(labels)))
                options = {"max_iter": 3 + steps, "tol": 0, "progress": look}
                with quorate.spark.aggregate(frame, "dawid-skene", **options) as result:
                    return seen, result.summary, first

            sizes = ([args.plain_labels] if args.plain_labels else []) + [args.labels]
            cpu: Dict[int, float] = {}
            for labels in sizes:
                seen, summary, first = fit(labels)
                cost = seen[2 + steps].since(seen[2], steps)
                cpu[labels] = cost["python"] + cost["java"] + cost["driver"]
                before = seen[2].since(first)
                tell("quorate.spark", labels=labels, partitions=summary["partitions"], **cost,
                     bytes_sent=summary["bytes_sent"] // summary["passes"],
                     bytes_received=summary["bytes_received"] // summary["passes"])
                tell("quorate.spark, up to the second iteration", labels=labels, **before)
            if args.plain_labels:
                frame = spark.read.parquet(str(file_of(args.plain_labels)))
                marks = [Snapshot(cluster)]
                for count in (1, 1, 3):
                    plain_dawid_skene(frame, count)
                    marks.append(Snapshot(cluster))
                one, three = marks[2].since(marks[1]), marks[3].since(marks[2])
                cost = {name: round((three[name] - one[name]) / 2, 3) for name in ("seconds", "java", "driver")}
                total = cost["java"] + cost["driver"]
                tell("plain PySpark", labels=args.plain_labels, **cost,
                     cpu_to_quorate_spark=round(total / cpu[args.plain_labels], 1))
            spark.stop()
        finally:
            cluster.close()


if __name__ == "__main__":
    main()
