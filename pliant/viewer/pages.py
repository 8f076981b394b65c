"""A recording out of a page: as exact as the page has it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.io.recording import Part, Recording, Solid
from pliant.viewer.packing import unpack

__all__ = ["read_page"]

DATA = re.compile(r'<script[^>]*id="recording"[^>]*>(.*?)</script>', re.DOTALL)


def read_page(path: str | os.PathLike[str]) -> Recording:
    """The recording that a page of :func:`pliant.viewer.html.write_html` shows.

    Positions are those of the page: in 16 bits a coordinate, if it was not written with ``exact``. Strain is
    a colour there and does not come back, nor how files list the parts; ``.npz`` keeps both.

    Raises:
        PliantError: no such file, or not a page that Pliant wrote.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PliantError(f"cannot read {path}: {error}") from error
    found = DATA.search(text)
    if not found:
        raise PliantError(f"{path} is not a page that Pliant wrote; take the .npz of the recording")
    try:
        return _recording(json.loads(found[1]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PliantError(f"{path}: the page is damaged, or of another version ({error!r})") from error


def _recording(page: dict[str, Any]) -> Recording:
    radius, centre = page["view"]["radius"], np.array(page["view"]["centre"])
    frames = unpack(page["frames"]["values"]).astype(np.float64)
    x = (frames * page["frames"]["step"] + page["frames"]["low"]) * radius + centre
    times = page["times"]
    gaps = np.diff(times)
    out = Recording(page["title"], float(np.median(gaps)) if len(gaps) else 1 / 60, [], [], meta=page["meta"])
    for part in page["parts"]:
        source = unpack(part["source"]).ravel().astype(np.int64)
        triangles = source[unpack(part["triangles"])[0].astype(np.int64)]
        out.parts.append(Part(part["name"], part["start"], part["start"] + part["count"], triangles))
    moving = unpack(page["poses"]).astype(np.float64)
    poses = np.repeat(np.eye(3, 4)[None, None], len(times), axis=0).repeat(len(page["solids"]), axis=1)
    moved = 0
    for k, solid in enumerate(page["solids"]):
        points = unpack(solid["positions"])[0].astype(np.float64) * radius
        if solid["moves"]:
            poses[:, k] = moving[:, moved].reshape(-1, 3, 4)
            poses[:, k, :, 3] = poses[:, k, :, 3] * radius + centre
            moved += 1
        else:
            points = points + centre
        out.solids.append(Solid(solid["name"], points, unpack(solid["triangles"])[0].astype(np.int64)))
    for k, time in enumerate(times):
        out.add(time, x[k], None, [(pose[:, 3], pose[:, :3]) for pose in poses[k]])
    return out
