"""A client of Spark Connect, in a process of its own: fits and prints what came of it as JSON."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any, Dict, List

from pyspark.sql import SparkSession

import quorate
import quorate.spark
from conftest import answers_of


def main() -> None:
    address, path = sys.argv[1:]
    with open(path) as file:
        given: Dict[str, Any] = json.load(file)
    warnings.simplefilter("ignore", quorate.QuorateWarning)
    spark = SparkSession.builder.remote(address).getOrCreate()
    frame = spark.createDataFrame(given["rows"], "task string, worker string, label string").repartition(3)
    found: List[Any] = []
    for options in given["runs"]:
        with quorate.spark.aggregate(frame, **options) as result:
            model = result.model
            found.append(
                {
                    "answers": answers_of(result.labels),
                    "workers": sorted(row["worker"] for row in result.workers.collect()),
                    "fingerprint": None if model is None else json.loads(model._native.to_json())["fingerprint"],
                    "iterations": result.iterations,
                }
            )
    overview = quorate.spark.inspect(frame)
    error = quorate.spark.evaluate(
        spark.createDataFrame([("a", "1"), ("b", "2")], "task string, label string"), {"a": "1", "b": "1"}
    ).error
    spark.stop()
    json.dump({"runs": found, "labels": overview.table["labels"], "error": error}, sys.stdout)


if __name__ == "__main__":
    main()
