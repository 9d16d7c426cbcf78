"""Times from a frame to labels, beside the program and, if asked for, crowd-kit.

    pip install . polars pyarrow            # a release build of the wheel
    cargo build --release --all-features -p quorate-cli
    python python/benchmarks/large_frame.py [--rows 5000000] [--method dawid-skene] [--crowd-kit PYTHON]

Every figure is from a process of its own: wall time from the frame (or the file) to the table of labels, and peak
memory of the process. The program reads the same rows from Parquet and writes Parquet. Frames and libraries are
loaded before the clock starts; their memory is told apart ("frame"). PYTHON is an interpreter of an environment with
crowd-kit.
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
from typing import Any, Dict, List

ROOT = pathlib.Path(__file__).parents[2]


def draw(rows: int, folder: pathlib.Path) -> pathlib.Path:
    """Rows of labels as Parquet: five labels a task, workers who are right seven times of ten."""
    import numpy
    import polars

    generator = numpy.random.default_rng(0)
    tasks = rows // 5
    truth = generator.integers(0, 4, tasks)
    task = numpy.repeat(numpy.arange(tasks), 5)
    worker = (task * 7 + numpy.tile(numpy.arange(5), tasks) * 131 + generator.integers(0, 100, 5 * tasks)) % 20_000
    right = generator.random(5 * tasks) < 0.7
    label = numpy.where(right, truth[task], generator.integers(0, 4, 5 * tasks))
    frame = polars.DataFrame({"task": task, "worker": worker, "label": label}).select(
        polars.format("task-{}", "task").alias("task"),
        polars.format("worker-{}", "worker").alias("worker"),
        polars.format("{}", "label").alias("label"),
    )
    path = folder / "labels.parquet"
    frame.write_parquet(path, row_group_size=1 << 18)
    return path


def peak() -> float:
    """Peak resident memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_child(kind: str, path: str, method: str) -> Dict[str, float]:
    """Loads the frame, then aggregates it."""
    frame: Any
    if kind == "crowd-kit":
        import pandas
        from crowdkit.aggregation import DawidSkene, MajorityVote  # type: ignore[import-not-found]

        frame = pandas.read_parquet(path)
        before, started = peak(), time.perf_counter()
        {"dawid-skene": lambda: DawidSkene(100), "majority-vote": MajorityVote}[method]().fit_predict(frame)
        return {"seconds": time.perf_counter() - started, "peak": peak(), "frame": before}
    import quorate

    if kind == "polars":
        import polars

        frame = polars.read_parquet(path)
    elif kind == "pyarrow":
        import pyarrow.parquet

        frame = pyarrow.parquet.read_table(path)
    else:
        frame = path
    before, started = peak(), time.perf_counter()
    result = quorate.aggregate(frame, method)
    labels = result.labels
    seconds = time.perf_counter() - started
    assert len(labels) > 0
    return {"seconds": seconds, "peak": peak(), "frame": before}


def in_process_of_its_own(python: str, kind: str, path: pathlib.Path, method: str) -> Dict[str, float]:
    command = [python, __file__, "--child", kind, "--path", str(path), "--method", method]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def program(path: pathlib.Path, method: str) -> Dict[str, float]:
    """The program on the same rows, Parquet to Parquet."""
    binary = ROOT / "target" / "release" / "quorate"
    started = time.perf_counter()
    child = subprocess.Popen([str(binary), "aggregate", str(path), "-m", method, "-q", "-o", str(path) + ".out.parquet"])
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"the program failed with status {status}")
    return {"seconds": time.perf_counter() - started, "peak": usage.ru_maxrss / 1024, "frame": 0.0}


def import_time() -> float:
    """Milliseconds that ``import quorate`` takes in a warm process: the least of several, less an empty start."""

    def least(code: str) -> float:
        times = []
        for _ in range(15):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-c", code], check=True)
            times.append(time.perf_counter() - started)
        return min(times)

    return 1000 * (least("import quorate") - least("pass"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--method", default="dawid-skene")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--crowd-kit", metavar="PYTHON", help="an interpreter with crowd-kit and pyarrow installed")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(run_child(arguments.child, arguments.path, arguments.method)))
        return
    print(f"import quorate: {import_time():.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        path = draw(arguments.rows, pathlib.Path(folder))
        runs: List[Any] = [("program", lambda: program(path, arguments.method))]
        for kind in ("polars", "pyarrow", "path"):
            runs.append((kind, lambda kind=kind: in_process_of_its_own(sys.executable, kind, path, arguments.method)))
        if arguments.crowd_kit:
            runs.append(
                ("crowd-kit", lambda: in_process_of_its_own(arguments.crowd_kit, "crowd-kit", path, arguments.method))
            )
        print(f"{arguments.rows:,} rows, {arguments.method}: the fastest of {arguments.repeats} runs")
        print(f"{'from':10} {'seconds':>8} {'peak MiB':>9} {'of which frame':>15}")
        for name, run in runs:
            best = min((run() for _ in range(1 if name == "crowd-kit" else arguments.repeats)), key=lambda r: r["seconds"])
            print(f"{name:10} {best['seconds']:8.2f} {best['peak']:9.0f} {best['frame']:15.0f}")


if __name__ == "__main__":
    main()
