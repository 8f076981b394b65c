"""One-line notices to the person who waits, on stderr; ``PLIANT_QUIET=1`` turns them off."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def notice(text: str) -> None:
    """Say one line on stderr."""
    if not os.environ.get("PLIANT_QUIET"):
        sys.stderr.write(f"pliant: {text}\n")
        sys.stderr.flush()


@contextmanager
def quietly(quiet: bool = True) -> Iterator[None]:
    """No notices inside, from child processes neither; as before afterwards."""
    before = os.environ.get("PLIANT_QUIET")
    if quiet:
        os.environ["PLIANT_QUIET"] = "1"
    try:
        yield
    finally:
        os.environ.pop("PLIANT_QUIET", None)
        if before is not None:
            os.environ["PLIANT_QUIET"] = before
