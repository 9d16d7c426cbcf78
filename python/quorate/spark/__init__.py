"""The same labels when they no longer fit on one machine: Quorate's passes on the executors of Spark.

A Spark DataFrame of who answered what goes in, DataFrames come out, and nothing but small statistics is collected:

.. code-block:: python

    import quorate.spark

    result = quorate.spark.aggregate(spark.read.parquet("labels"), "dawid-skene")
    result.labels.write.parquet("consensus")      # task, label, confidence, probabilities
    result.workers.orderBy("accuracy").show()
    result.model.save("model.json")

Labels are encoded once, dealt into blocks of whole tasks and persisted. Every iteration is one ``mapInArrow`` over the
blocks that calls the compiled pass; what the passes return is merged in a fixed order, so that the result does not
depend on scheduling nor on the number of partitions. It is that of :func:`quorate.aggregate` up to rounding.

Needs pyspark 3.5 or newer and pyarrow, on the executors as well as this package; works on classic Spark and through
Spark Connect. The guide ``docs/spark.md`` says when a cluster is worth it, and how to size and tune it.
"""

from __future__ import annotations

from ._aggregate import aggregate, inspect
from ._blocks import Cluster
from ._evaluate import evaluate
from ._result import Overview, Result

__all__ = ["Cluster", "Overview", "Result", "aggregate", "evaluate", "inspect"]
