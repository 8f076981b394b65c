"""One-line notices to the person who waits, on stderr; ``PLIANT_QUIET=1`` turns them off."""

from __future__ import annotations

import os
import sys


def notice(text: str) -> None:
    """Say one line on stderr."""
    if not os.environ.get("PLIANT_QUIET"):
        sys.stderr.write(f"pliant: {text}\n")
        sys.stderr.flush()
