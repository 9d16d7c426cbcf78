"""Labels from any form into a file of any format."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

from ._labels import Labels, read

__all__ = ["convert"]


def convert(
    data: Any, path: Union[str, "os.PathLike[str]"], *, to: Optional[str] = None, **reading: Any
) -> Labels:
    """Writes labels as a table ``task, worker, label``, or in the layout of an annotation tool.

    Args:
        data: The labels, in any form that :func:`quorate.read` takes.
        path: Where to write them: ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet`` or ``.arrow``, the text ones also
            with ``.gz`` or ``.zst``. The extension tells the format of a table.
        to: ``"wide"`` for a column for each worker, or the layout of a tool: one of :data:`quorate.FORMATS`.
        **reading: How to read the labels: the arguments of :func:`quorate.read`.

    >>> import os, tempfile, quorate
    >>> path = os.path.join(tempfile.mkdtemp(), "labels.parquet")
    >>> quorate.convert([("t1", "ann", "cat"), ("t1", "bob", "dog")], path)
    <quorate.Labels: 2 labels of 2 workers on 1 tasks, 2 classes>
    >>> len(quorate.read(path))
    2
    """
    labels = read(data, **reading)
    labels._native.write(path, to)
    return labels
