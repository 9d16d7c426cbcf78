"""How work runs: threads, Ctrl-C, progress, fork, memory, import time, the program of the wheel."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import pytest

import quorate

SLOW = """
    import quorate
    crowd = quorate.simulate(tasks=4000, workers=60, classes=8, accuracy=(0.3, 0.6), labels_per_task=12)
    print("ready", flush=True)
"""


def python(code: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_ctrl_c_stops_a_fit_within_a_second() -> None:
    code = textwrap.dedent(SLOW) + "quorate.aggregate(crowd.labels, 'ebcc', restarts=500, max_iter=100000, tol=0)\n"
    process = python(code)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    assert process.poll() is None, "the fit is too short for this test"
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in told and process.returncode != 0
    assert time.monotonic() - sent < 1.5, "the interpreter's own exit included"


def test_the_interpreter_runs_on_while_a_fit_runs() -> None:
    crowd = quorate.simulate(tasks=3000, workers=40, classes=5, accuracy=(0.3, 0.6), labels_per_task=9)
    ticks: List[float] = []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        fit = pool.submit(quorate.aggregate, crowd.labels, "ebcc", threads=1)
        while not fit.done():
            ticks.append(time.monotonic())
            time.sleep(0.001)
    assert len(ticks) > 10
    assert max(later - earlier for earlier, later in zip(ticks, ticks[1:])) < 0.5


def test_two_fits_at_once_are_as_one_after_the_other(rows: Any) -> None:
    jobs = ["dawid-skene", "rob-symnmf-em", "auto", "mace", "glad", "ebcc"] * 3
    alone = [quorate.aggregate(rows, job).probabilities for job in jobs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: quorate.aggregate(rows, job).probabilities, jobs))
    assert together == alone


def fit_in_child(rows: Any) -> Dict[Any, Any]:
    return quorate.aggregate(rows, "auto").to_dict()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_processes_that_are_forked_after_a_fit_can_fit(start: str, rows: Any) -> None:
    wanted = fit_in_child(rows)
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map_async(fit_in_child, [rows] * 4).get(timeout=60) == [wanted] * 4


LEAKS = """
    import pathlib, resource, quorate
    rows = [(f"t{task}", f"w{worker}", str((task * worker) % 3)) for task in range(10) for worker in range(4)]
    data = {name: list(values) for name, values in zip(("task", "worker", "label"), zip(*rows))}

    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    def fit(times):
        for _ in range(times):
            quorate.aggregate(data, "dawid-skene", threads=1).labels

    fit(3000)
    before = resident()
    fit(10_000)
    print(resident() - before)
"""


def test_many_fits_leak_nothing() -> None:
    """10^4 fits in a process of their own: after a warm-up memory must not grow by more than 100 bytes a fit."""
    if not pathlib.Path("/proc/self/statm").exists():
        pytest.skip("resident memory is read from /proc")
    grown, told = python(LEAKS).communicate(timeout=300)
    assert told == "" and int(grown) < 100 * 10_000


def test_progress_is_told_and_can_stop_the_work() -> None:
    crowd = quorate.simulate(tasks=3000, workers=40, classes=6, accuracy=(0.3, 0.6), labels_per_task=9)
    told: List[Tuple[str, int, Optional[int]]] = []
    quorate.aggregate(crowd.labels, "ebcc", restarts=3, threads=1, progress=lambda *step: told.append(step))
    assert told and all(isinstance(stage, str) and done >= 0 for stage, done, _ in told)

    def stop(*_: object) -> None:
        raise RuntimeError("enough")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        quorate.aggregate(crowd.labels, "ebcc", restarts=500, max_iter=100000, tol=0, threads=1, progress=stop)
    assert time.monotonic() - started < 3


def test_a_bar_of_tqdm_appears_only_after_a_second(capsys: pytest.CaptureFixture[str], rows: Any) -> None:
    pytest.importorskip("tqdm")
    quorate.aggregate(rows, "dawid-skene", progress=True)
    assert capsys.readouterr().err == ""
    crowd = quorate.simulate(tasks=4000, workers=60, classes=8, accuracy=(0.3, 0.6), labels_per_task=12)
    with pytest.raises(RuntimeError), _stopped_after(2.5):
        quorate.aggregate(crowd.labels, "ebcc", restarts=500, max_iter=100000, tol=0, progress=True)
    assert "%|" in capsys.readouterr().err or "it [" in capsys.readouterr().err


class _stopped_after:
    """Raises RuntimeError in the main thread after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def stop(*_: object) -> None:
            raise RuntimeError("time is up")

        self.before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def test_nothing_but_python_is_imported() -> None:
    code = "import sys, quorate; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow', 'tqdm') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_program_comes_with_the_wheel(program: Callable[..., str], tmp_path: pathlib.Path) -> None:
    assert program("--version").strip() == f"quorate {quorate.__version__}"
    assert "dawid-skene" in program("methods")
    program("nonsense", code=2)
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\nt1,a,x\nt1,b,x\n")
    assert program("aggregate", path, "-q").splitlines()[1].startswith("t1,x,")
    script = pathlib.Path(sys.executable).with_name("quorate")
    assert subprocess.run([str(script), "--version"], capture_output=True, text=True).stdout.startswith("quorate ")


def test_threads_are_obeyed(rows: Any) -> None:
    if not os.path.exists("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    crowd = quorate.simulate(tasks=3000, workers=40, classes=6, accuracy=(0.3, 0.6), labels_per_task=9)
    most: List[int] = []

    def count(*_: object) -> None:
        most.append(len(os.listdir("/proc/self/task")))

    before = len(os.listdir("/proc/self/task"))
    quorate.aggregate(crowd.labels, "ebcc", threads=3, restarts=3, progress=count)
    assert most and max(most) <= before + 4, "three threads and the one that waits for them"
