"""Progress of long work: a callback, or a bar of tqdm where it is installed."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Union

__all__ = ["Progress"]

Progress = Union[bool, Callable[[str, int, Optional[int]], object], None]
"""``None``: a bar of tqdm if it is installed and standard error is a terminal. ``False``: nothing. ``True``: a bar
in any case. A function: called with the stage, the steps done and the steps in all (``None`` if not known)."""

_PATIENCE = 1.0


class _Bar:
    """A bar that appears when the work has gone on for a while."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._started = time.monotonic()
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: Optional[int]) -> None:
        if self._bar is None and time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar, self._stage = self._tqdm(total=total, desc=stage, leave=False, file=sys.stderr), stage
        self._bar.update(max(done - self._bar.n, 0))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Reporter:
    """What the native half calls; a context that closes the bar."""

    def __init__(self, progress: Progress) -> None:
        self.callback: Optional[Callable[[str, int, Optional[int]], object]] = None
        self._bar: Optional[_Bar] = None
        if callable(progress):
            self.callback = progress
        elif progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]
            except ImportError:
                return
            self._bar = self.callback = _Bar(tqdm)

    def __enter__(self) -> Optional[Callable[[str, int, Optional[int]], object]]:
        return self.callback

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
