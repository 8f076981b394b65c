"""Text and numbers of mesh files, taken strictly: what is not plainly a number is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.errors import MeshError

MARKS = {b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32", b"\xef\xbb\xbf": "utf-8-sig",
         b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # fmt: skip
"""Byte order marks and the encodings they announce, the longest first."""


def text_of(data: bytes, file: Path, kind: str) -> str:
    """The text of a file, lines ended by a newline alone.

    The encoding is UTF-8, UTF-16 or UTF-32 by its byte order mark; UTF-16 without a mark where every other
    byte is zero; UTF-8 without a mark; else Latin-1, which takes every byte: only words, never numbers, can
    come out wrong. Raises MeshError for binary data and for a page of the web.
    """
    encoding = next((name for mark, name in MARKS.items() if data.startswith(mark)), None)
    if encoding is None and b"\0" in data:
        pairs = np.frombuffer(data[: len(data) // 2 * 2], dtype=np.uint8).reshape(-1, 2) == 0
        wide = pairs.mean(axis=0) > 0.9
        if not wide.any() or pairs.any(axis=0).all():
            raise MeshError(f"{file}: holds binary data, so it is not {kind}; export it again")
        encoding = "utf-16-be" if wide[0] else "utf-16-le"
    try:
        text = data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding not in (None, "utf-8-sig"):
            raise MeshError(f"{file}: is no whole {encoding} text ({error.reason}); save it again") from error
        text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    if "\0" in text:
        raise MeshError(f"{file}: holds binary data, so it is not {kind}; export it again")
    if text.lstrip()[:1] == "<":
        raise MeshError(
            f"{file} line 1: is a page of the web (HTML or XML), not {kind}; download the file itself"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def numbers(words: Sequence[str]) -> list[float]:
    """Numbers as every program writes them. Raises ValueError for what only Python takes (1_000, ٣)."""
    return [float(word) for word in _plain(words)]


def wholes(words: Sequence[str]) -> list[int]:
    """Whole numbers in decimal digits. Raises ValueError for what only Python takes (1_000, ٣)."""
    return [int(word) for word in _plain(words)]


def as_wholes(values: np.ndarray) -> np.ndarray | None:
    """The same numbers as int64; None where one has decimals, is not finite or too large to be exact."""
    with np.errstate(invalid="ignore"):
        fits = bool(((np.abs(values) < 2.0**53) & (values == np.floor(values))).all())
    return values.astype(np.int64) if fits else None


def _plain(words: Sequence[str]) -> Sequence[str]:
    joined = "".join(words)
    if "_" in joined or not joined.isascii():
        raise ValueError(joined)
    return words


def comma_hint(words: Sequence[str]) -> str:
    """A cure for numbers with a decimal comma, empty where there is none."""
    return "; write decimal points, not commas" if any("," in word for word in words) else ""
