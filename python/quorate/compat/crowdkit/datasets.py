"""crowd-kit's downloads, which are not here: the errors say what to do instead."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from quorate.errors import NotApplicableError

__all__ = ["get_datasets_list", "load_dataset"]


def get_datasets_list() -> List[Tuple[str, str]]:
    """The data sets that can be loaded: none."""
    return []


def load_dataset(dataset: str, data_dir: Optional[str] = None) -> Any:
    """Refuses: this package downloads nothing."""
    raise NotApplicableError(
        f"load_dataset: found {dataset!r}, and nothing is downloaded here; fetch its files from where its authors publish them "
        "(docs/data.md has the places of public data sets) and read them with pandas.read_csv"
    )
