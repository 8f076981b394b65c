"""Snapshots: everything that a run needs to go on bit for bit, in one .npz file without pickles.

A snapshot names its format, its numeric protocol and a summary of the scene's constants, so that it is
only taken up where it belongs.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..errors import PliantError, ProtocolError
from ..geometry.colliders import SIDES
from ..model import Model
from .recording import plain, written_whole

Array = np.ndarray

VERSION = 1

TOLERANCE = 1e-9
"""Constants of one scene may differ by this share between machines, whose rounding differs."""


def write_snapshot(path: str | os.PathLike[str], head: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write ``head`` (plain data) and ``arrays``; the file appears whole or not at all."""
    text = json.dumps({"version": VERSION, **head}, default=plain)
    with written_whole(path) as file:
        np.savez_compressed(file, head=np.array(text), **arrays)  # type: ignore[arg-type]


def read_snapshot(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Back from :func:`write_snapshot`.

    Raises PliantError for a file that is damaged or something else, ProtocolError for another version.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {k: file[k] for k in file.files}
        head = json.loads(str(arrays.pop("head")))
        version = head["version"]
    except FileNotFoundError:
        raise PliantError(f'snapshot "{path}": no such file') from None
    except Exception as error:  # whatever a reader of archives, arrays and JSON makes of foreign bytes
        raise PliantError(f'"{path}" is not a snapshot of Pliant, or is damaged: {error}') from error
    if version != VERSION:
        raise ProtocolError(f'snapshot "{path}" has version {version}, this Pliant reads {VERSION}')
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
            raise PliantError(f'snapshot "{path}" is damaged: {name} holds more than finite numbers')
    return head, arrays


def scene_summary(model: Model) -> dict[str, list[float]]:
    """Per group of a model's constants: how many, how many not finite, and two weighted sums."""
    c = model.colliders
    groups: dict[str, tuple[Any, ...]] = {
        "worlds": (model.n_worlds,),
        "start positions": (model.x_rest,),
        "start velocities": (model.v_start,),
        "masses": (model.mass, model.inv_mass),
        "pins": (model.pin_ids,),
        "thickness": (model.contact_radius,),
        "bodies": (model.body,),
        "gravity": (model.gravity,),
        "air_drag": (model.air_drag,),
        "colliders": (
            *(c.kind, c.size, c.rotation, c.position, c.mu_static, c.mu_kinetic),
            *(m.surfaces.vertices[p.triangles] for m in c.meshes for p in m.surfaces.pieces),
            *([SIDES.index(side) for side in m.sides] for m in c.meshes),
        ),
        "attachment targets": (model.attachment_targets,),
        "wind": (model.wind,),
    }
    if model.faces is not None:
        f = model.faces
        inside = [(p.pressure, p.gas, p.volume, p.ambient) for p in f.pressures]
        groups["air and pressure"] = (f.ids, f.air, f.mass, f.pressure_of, inside)
    for law, b in model.blocks.items():
        groups[f"{law} constraints"] = (b.ids, b.params, b.compliance, b.damping_time, b.color_start)
    return {name: _summary(values) for name, values in groups.items()}


def _summary(values: tuple[Any, ...]) -> list[float]:
    v = np.concatenate([np.ravel(np.asarray(a, float)) for a in values])
    finite = np.isfinite(v)
    v = np.where(finite, v, 0.0)
    weight = 0.5 + np.modf(np.arange(len(v)) * 0.6180339887498949)[0]  # so that an exchange shows
    return [
        float(len(v)),
        float(np.sum(~finite)),
        float(np.sum(weight * v)),
        float(np.sum(weight * np.abs(v))),
    ]


def scene_differences(here: dict[str, list[float]], there: dict[str, list[float]]) -> list[str]:
    """Groups of constants in which two scenes differ."""
    return [name for name in {**here, **there} if not _alike(here.get(name), there.get(name))]


def _alike(a: list[float] | None, b: list[float] | None) -> bool:
    if a is None or b is None or a[:2] != b[:2]:
        return False
    return abs(a[2] - b[2]) <= TOLERANCE * max(a[3], b[3])
