"""The public data sets, where they are present: labels equal to the program's to the last digit."""

from __future__ import annotations

import pathlib
from typing import Callable

import pytest
from conftest import public_data

import quorate

SETS = ["bluebird", "rte", "dog", "trec", "web", "product"]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["auto", "dawid-skene", "rob-symnmf-em"])
def test_labels_of_public_sets_are_those_of_the_program(
    name: str, method: str, program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    import polars
    import pyarrow.parquet

    labels = public_data() / name / "labels.csv"
    if not labels.exists():
        pytest.skip("the public data sets are not here (docs/data.md)")
    program("aggregate", labels, "-m", method, "--probabilities", "-o", tmp_path / "out.parquet")
    wanted = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert quorate.aggregate(labels, method).probabilities.to_dict() == wanted
    frame = quorate.aggregate(polars.read_csv(labels, infer_schema=False), method).probabilities
    assert frame.to_dict(as_series=False) == wanted
