"""Point caches: positions over time of a mesh that another program has already.

PC2 (3ds Max, Blender, Houdini): a head of 32 bytes, then little-endian floats. MDD (LightWave, Blender,
Maya): big-endian counts, the times in seconds, then floats. Neither knows more than one mesh, so a recording
of several parts gets a file for each.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pliant.io.exports.clip import Clip, Piece
from pliant.io.exports.files import Staging, file_name

__all__ = ["write_mdd", "write_pc2"]


def write_pc2(clip: Clip, staging: Staging) -> None:
    """Write all frames; sample k belongs to the player's frame k, whose rate the file does not know."""
    for piece, path in _paths(clip, staging):
        n = piece.filed.shell.n_vertices
        with path.open("wb") as file:
            file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, n, 0.0, 1.0, len(clip)))
            for i in range(len(clip)):
                file.write(_points(clip, i, piece).astype("<f4").tobytes())


def write_mdd(clip: Clip, staging: Staging) -> None:
    """Write all frames, and the time of each, s."""
    for piece, path in _paths(clip, staging):
        times = np.array([clip.seconds(i) for i in range(len(clip))], dtype=">f4")
        with path.open("wb") as file:
            file.write(struct.pack(">ii", len(clip), piece.filed.shell.n_vertices))
            file.write(times.tobytes())
            for i in range(len(clip)):
                file.write(_points(clip, i, piece).astype(">f4").tobytes())


def _points(clip: Clip, i: int, piece: Piece) -> np.ndarray:
    return clip.listed(i, piece.filed.shell, piece.start)


def _paths(clip: Clip, staging: Staging) -> Iterator[tuple[Piece, Path]]:
    """A file for each piece: the target's own name, or ``drape.shirt.pc2`` where there are several."""
    target, taken = staging.target, list[str]()
    for piece in clip.pieces:
        taken.append(file_name(piece.name, taken))
        alone = len(clip.pieces) == 1
        yield piece, staging.path(target.name if alone else f"{target.stem}.{taken[-1]}{target.suffix}")
