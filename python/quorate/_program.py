"""The command ``quorate``: the same program as the one that Rust users install."""

from __future__ import annotations

import sys

from . import _quorate


def main() -> int:
    """Runs the program with the arguments of this process and returns its exit code."""
    # The program reads them again as the shell gave them; only the name in its messages is ours.
    return _quorate.run_program(["quorate", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
