"""One page that holds a whole recording and its viewer, and needs no network."""

from __future__ import annotations

import html
import os
import re
from importlib.resources import files
from typing import Any

import numpy as np

from pliant.io.recording import Recording, written_whole
from pliant.viewer.captions import json_text, protocol_text
from pliant.viewer.colours import BACKGROUND, PARTS, SOLID, back_colour, strain_scale, strain_table
from pliant.viewer.framing import FIELD_OF_VIEW, Backdrop, Framing, backdrops, framing, length_text
from pliant.viewer.packing import pack, quantise
from pliant.viewer.surfaces import skins, split_corners

__all__ = ["write_html"]

# Quantised normals tilt by about (error / edge length); this keeps them within a third of a degree.
_ERROR_PER_EDGE = 5e-3


def write_html(recording: Recording, path: str | os.PathLike[str], exact: bool = False) -> None:
    """Write a self-contained page: orbit, play and scrub the recording in any current browser.

    Positions are kept in 16 bits a coordinate; the page states the largest error. Where that would be coarse
    against the mesh (a tiny cloth in a huge path), or with ``exact``, it keeps single precision.

    Args:
        recording: any number of frames, none included.
        path: the file to write; it appears whole or not at all.
        exact: keep single precision.
    """
    page = page_text(recording, page_data(recording, exact))
    with written_whole(path) as file:
        file.write(page.encode("utf-8"))


def page_text(recording: Recording, data: dict[str, Any]) -> str:
    """The page that shows ``data``, of :func:`page_data`."""
    folder = files("pliant.viewer") / "data"
    page = (folder / "viewer.html").read_text("utf-8")
    slots = {
        "title": html.escape(recording.title),
        "style": (folder / "viewer.css").read_text("utf-8"),
        "licence": (folder / "three.LICENSE.txt").read_text("utf-8"),
        "three": (folder / "three.min.js").read_text("utf-8"),
        "stage": (folder / "stage.js").read_text("utf-8"),
        "live": (folder / "live.js").read_text("utf-8") if data["live"] else "",
        "viewer": (folder / "viewer.js").read_text("utf-8"),
        "recording": json_text(data),
    }
    # One pass: a title that itself holds "{{…}}" stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: slots[slot[1]], page)


def page_data(
    recording: Recording,
    exact: bool = False,
    frame: Framing | None = None,
    live: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that the page shows; lengths in units of the framing's radius around its centre.

    ``frame`` is another view than :func:`framing` would choose. With ``live`` the page asks for further
    frames (:mod:`pliant.viewer.live`), in which any collider may move.
    """
    frame = frame or framing(recording)
    scale = strain_scale(recording.strains)
    planes, moves = backdrops(recording, frame, None), recording.moves() | bool(live)
    return {
        "live": live,
        "title": recording.title,
        "protocol": protocol_text(recording),
        "meta": recording.meta,
        "times": recording.times,
        "parts": [
            {
                "name": part.name,
                "start": part.start,
                "count": part.stop - part.start,
                "colour": list(PARTS[i % len(PARTS)]),
                "back": list(back_colour(PARTS[i % len(PARTS)])),
                "source": pack(source.astype(np.uint32)[None, :, None]),
                "triangles": pack(triangles.astype(np.uint32)[None]),
            }
            for i, (part, (source, triangles)) in enumerate(
                zip(recording.parts, skins(recording), strict=True)
            )
        ],
        "solids": [_solid(recording, k, frame, plane, bool(moves[k])) for k, plane in enumerate(planes)],
        "poses": pack(_poses(recording, frame)[:, moves]),
        "frames": _frames(recording, frame, exact),
        "strain": None
        if scale is None
        else {
            "labels": scale.labels(),
            "range": f"{100 * scale.least:.3g} % to {100 * scale.most:.3g} %",
            "table": strain_table(256).ravel().tolist(),
            "has": [s is not None for s in recording.strains],
            "values": pack(
                np.stack(
                    [np.rint(255 * scale.position(s)) for s in recording.strains if s is not None]
                ).astype(np.uint8)[:, :, None]
            ),
        },
        "view": {
            "centre": frame.centre.tolist(),
            "radius": frame.radius,
            "direction": frame.direction.tolist(),
            "points": _local(frame.points, frame).tolist(),
            "fov": FIELD_OF_VIEW,
            "lowest": float((frame.lowest - frame.centre[2]) / frame.radius),
            "origin": (-frame.centre / frame.radius).tolist(),
            "grid": frame.grid / frame.radius,
            "grid_text": length_text(frame.grid),
            "floor": any(planes),
        },
        "colours": {"background": list(BACKGROUND), "solid": list(SOLID)},
    }


def _frames(recording: Recording, frame: Framing, exact: bool) -> dict[str, Any]:
    """The positions, quantised or in single precision, and what the page says about it."""
    n = recording.n_vertices
    x = np.stack(recording.frames).astype(np.float64) if len(recording) else np.zeros((0, n, 3))
    if x.size:
        low, extent = x.min(axis=(0, 1)), float(np.ptp(x, axis=(0, 1)).max())
        words, step = quantise(x, low, extent)
        if not exact and 0.5 * step <= _ERROR_PER_EDGE * _edge_length(recording, x[0]):
            return {
                "values": pack(words),
                "step": step / frame.radius,
                "low": _local(low, frame).tolist(),
                "note": f"positions within {length_text(0.5 * step) if extent > 0 else '0 m'}",
            }
    local = _local(x, frame).astype(np.float32)
    return {"values": pack(local), "step": 1.0, "low": [0, 0, 0], "note": "positions in single precision"}


def _edge_length(recording: Recording, x: np.ndarray) -> float:
    """Median length of the triangles' edges in a frame, m; the extent of the frame where there are none."""
    lengths = [
        np.linalg.norm(
            x[part.start + part.triangles] - x[part.start + np.roll(part.triangles, 1, axis=1)], axis=2
        )
        for part in recording.parts
        if len(part.triangles)
    ]
    if not lengths:
        return float(np.ptp(x, axis=0).max())
    return float(np.median(np.concatenate(lengths)))


def _solid(
    recording: Recording, k: int, frame: Framing, plane: Backdrop | None, moves: bool
) -> dict[str, Any]:
    """One collider: where it is, or, if it moves, around its own origin and in its own axes."""
    if moves:
        pose = recording.poses[0][k]
        positions, normals, triangles = split_corners(
            recording.solids[k].vertices, recording.solids[k].triangles
        )
        positions = positions / frame.radius
    else:
        pose = np.eye(3, 4)
        pose[:, 3] = frame.centre
        solid = recording.placed(None)[k]
        positions, normals, triangles = split_corners(solid.vertices, solid.triangles)
        positions = _local(positions, frame)
    turn = pose[:, :3].T
    return {
        "name": recording.solids[k].name,
        "moves": moves,
        "positions": pack(positions.astype(np.float32)[None]),
        "normals": pack(normals.astype(np.float32)[None]),
        "triangles": pack(triangles.astype(np.uint32)[None]),
        "plane": None
        if plane is None
        else {
            "origin": (turn @ (plane.origin - pose[:, 3]) / frame.radius).tolist(),
            "u": (turn @ plane.u).tolist(),
            "v": (turn @ plane.v).tolist(),
        },
    }


def _poses(recording: Recording, frame: Framing) -> np.ndarray:
    """Poses of all solids in the page's units, row by row: (T, S, 12) float32."""
    poses = np.zeros((len(recording), len(recording.solids), 3, 4))
    if poses.size:
        poses[:] = recording.poses
        poses[..., 3] = _local(poses[..., 3], frame)
    return poses.reshape(*poses.shape[:2], 12).astype(np.float32)


def _local(points: np.ndarray, frame: Framing) -> np.ndarray:
    return (points - frame.centre) / frame.radius
