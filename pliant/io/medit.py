"""Medit's ``.mesh`` files, parsed by meshio (extra ``mesh``)."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MeshError, MissingExtraError
from pliant.io.cells import Block, RawCells, sorted_cells


def read_medit(file: Path) -> RawCells:
    """Points and cells of a Medit file."""
    found = _parsed(file)
    x = np.asarray(found.points, dtype=np.float64)
    if x.ndim != 2 or not len(x) or x.shape[1] > 3:
        raise MeshError(f"{file}: not a readable Medit file (no points); export it again")
    x = np.pad(x, ((0, 0), (0, 3 - x.shape[1])))
    blocks = [Block(block.type, np.asarray(block.data)) for block in found.cells]
    if any(block.rows.ndim != 2 or block.rows.dtype.kind not in "iu" for block in blocks):
        raise MeshError(f"{file}: not a readable Medit file (cells without numbers); export it again")
    return RawCells(x, **sorted_cells(blocks))


def _parsed(file: Path) -> Any:
    """What meshio makes of a file; whatever goes wrong in it, the file is not one it can read."""
    try:
        from meshio import medit
    except ImportError as error:
        raise MissingExtraError("reading Medit files", "meshio", "mesh") from error
    silent = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(silent), redirect_stderr(silent):
            warnings.simplefilter("ignore")
            return medit.read(str(file))
    except OSError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip(": ")[:160]
        raise MeshError(f"{file}: not a readable Medit file ({reason}); export it again") from error
