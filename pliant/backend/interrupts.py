"""Ctrl-C at a good moment: a loop ends after a whole turn, and what it leaves is usable."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Whether Ctrl-C was pressed since the loop began."""

    def __init__(self) -> None:
        self.asked = False
        self.patient = True

    def raise_if_asked(self) -> None:
        """Raise the KeyboardInterrupt that was held back."""
        if self.asked:
            self.asked = False
            raise KeyboardInterrupt

    def press(self, number: int, frame: FrameType | None) -> None:
        """The first time make a note and say so, then act at once."""
        if self.asked or not self.patient:
            raise KeyboardInterrupt
        self.asked = True
        if not os.environ.get("PLIANT_QUIET"):
            # not through sys.stderr: this may run in the middle of one of its writes
            os.write(2, b"\npliant: stopping after this step (Ctrl-C once more: at once)\n")

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Within, Ctrl-C acts at once: for what takes long and may be given up at any point."""
        self.raise_if_asked()
        self.patient = False
        try:
            yield
        finally:
            self.patient = True


@contextmanager
def held_back() -> Iterator[Interrupt]:
    """Hold Ctrl-C back for the caller, who asks for it with :meth:`Interrupt.raise_if_asked`.

    Where another handler than Python's own is installed, or outside the main thread, nothing changes.
    """
    interrupt = Interrupt()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt.raise_if_asked()
