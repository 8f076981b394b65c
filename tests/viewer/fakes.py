"""Recordings made from closed forms, to look at and to test the pictures with. No physics."""

from __future__ import annotations

import numpy as np

from pliant.io.recording import Part, Recording, Solid


def grid_triangles(n: int, m: int | None = None) -> np.ndarray:
    """(2 (n-1) (m-1), 3) triangles of an n by m grid, row-major."""
    m = n if m is None else m
    i = (np.arange(m - 1)[:, None] * n + np.arange(n - 1)).ravel()
    return np.concatenate([np.stack([i, i + 1, i + n + 1], 1), np.stack([i, i + n + 1, i + n], 1)]).astype(
        np.int32
    )


def disc_grid(n: int) -> np.ndarray:
    """(n*n, 2) points of the unit disc: a square grid, squeezed (elliptical map)."""
    u, v = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
    return np.stack([u * np.sqrt(1 - v**2 / 2), v * np.sqrt(1 - u**2 / 2)], axis=-1).reshape(-1, 2)


def strains(x: np.ndarray, rest: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(N,) mean strain of the edges at each vertex."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    now = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    then = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    value = now / then - 1
    total, count = np.zeros(len(x)), np.zeros(len(x))
    for k in (0, 1):
        np.add.at(total, edges[:, k], value)
        np.add.at(count, edges[:, k], 1)
    return total / np.maximum(count, 1)


def cylinder(radius: float, low: float, high: float, n: int = 64) -> tuple[np.ndarray, np.ndarray]:
    angle = 2 * np.pi * np.arange(n) / n
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    vertices = np.concatenate(
        [
            np.c_[ring, np.full(n, low)],
            np.c_[ring, np.full(n, high)],
            [[0, 0, low], [0, 0, high]],
        ]
    )
    i = np.arange(n)
    j = (i + 1) % n
    sides = np.concatenate([np.stack([i, j, j + n], 1), np.stack([i, j + n, i + n], 1)])
    caps = np.concatenate(
        [np.stack([j, i, 0 * i + 2 * n], 1), np.stack([i + n, j + n, 0 * i + 2 * n + 1], 1)]
    )
    return vertices, np.concatenate([sides, caps]).astype(np.int32)


def floor(half: float, z: float = 0.0) -> Solid:
    vertices = np.array([[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]])
    return Solid("floor", vertices, np.array([[0, 1, 2], [0, 2, 3]]))


def drape(disc: np.ndarray, fall: float, radius: float, table: float, height: float) -> np.ndarray:
    """Positions of a round cloth over a round table while its edge falls (``fall`` from 0 to 1)."""
    r = radius * np.linalg.norm(disc, axis=1)
    angle = np.arctan2(disc[:, 1], disc[:, 0])
    over = np.maximum(r - table, 0.0)
    share = over / (radius - table)
    tilt = np.radians(82) * fall * (1 - np.exp(-over / (0.06 * radius)))
    wave = np.cos(9 * angle + 0.6 * np.sin(2 * angle) + 0.3 * np.sin(3 * angle))
    fold = fall * 0.115 * radius * share**0.8 * wave * (1 + 0.3 * np.sin(2 * angle + 1))
    reach = np.minimum(r, table) + over * np.cos(tilt) + 0.35 * fall * 0.1 * radius * share + fold
    z = height - over * np.sin(tilt) * (0.94 + 0.05 * fall * wave) + 0.004
    return np.stack([reach * np.cos(angle), reach * np.sin(angle), z], axis=1)


def tablecloth(n: int = 33, frames: int = 180, scale: float = 1.0, noise: float = 1e-6) -> Recording:
    """A round cloth of 1.6 m over a table of 0.9 m; ``scale`` stretches space and ``noise``."""
    disc = disc_grid(n)
    triangles = grid_triangles(n)
    rest = 0.8 * np.c_[disc, np.zeros(n * n)]
    table = Solid("table", *cylinder(0.42, 0.70, 0.744))
    leg = Solid("leg", *cylinder(0.06, 0.0, 0.70))
    solids = [Solid(s.name, s.vertices * scale, s.triangles) for s in (table, leg, floor(10.0))]
    recording = Recording(
        title="Cotton tablecloth over a round table",
        dt=1 / 60,
        parts=[Part("tablecloth", 0, n * n, triangles)],
        solids=solids,
        meta={
            "protocol": {
                "solver": "XPBD",
                "dt": 1 / 60,
                "substeps": 20,
                "iterations": 1,
                "precision": "float64",
            },
            "report": {"material": "cotton", "energy": {"kinetic": 0.001, "elastic": 0.2}},
        },
    )
    rng = np.random.default_rng(1)
    for i in range(frames):
        s = i / max(frames - 1, 1)
        fall = 1 - np.exp(-4 * s) * np.cos(9 * s)
        x = drape(disc, fall, 0.8, 0.45, 0.75)
        x += noise * rng.normal(size=x.shape)
        recording.add(i / 60, scale * x, strains(x, rest, triangles))
    return recording


def hung_sheets(count: int = 3, n: int = 21, frames: int = 60) -> Recording:
    """Several sheets that hang side by side and sway: tall, no floor, several colours."""
    u, v = np.meshgrid(np.linspace(0, 0.4, n), np.linspace(0, 1.5, 3 * n))
    parts = [
        Part(f"sheet {k + 1}", k * u.size, (k + 1) * u.size, grid_triangles(n, 3 * n)) for k in range(count)
    ]
    recording = Recording(
        "Sheets in the wind", 1 / 60, parts, meta={"protocol": {"solver": "PD", "dt": 1 / 60}}
    )
    for i in range(frames):
        sheets = []
        for k in range(count):
            y = 0.12 * (1.5 - v) * np.sin(8 * u / 0.4 + 5 * v + 0.1 * i + k)
            sheets.append(np.stack([u + 0.45 * k, y, v + 0.5], axis=-1).reshape(-1, 3))
        recording.add(i / 60, np.concatenate(sheets))
    return recording


def pushed_sheet(n: int = 9, frames: int = 9) -> Recording:
    """A sheet that hangs still, a cube that comes from the left and turns, and a floor that runs with it."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, n))
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    cube = Solid("cube", 0.1 * corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))
    part = Part("sheet", 0, n * n, grid_triangles(n))
    recording = Recording("A cube before a sheet", 1 / 60, [part], [cube, floor(50.0, -0.2)])
    for i in range(frames):
        s = i / max(frames - 1, 1)
        a = 0.5 * np.pi * s
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        poses = [(np.array([0.1 + 0.8 * s, -0.3, 0.3]), turn), (np.array([0.8 * s, 0, 0]), np.eye(3))]
        recording.add(i / 60, np.stack([u, 0 * u, v], axis=-1).reshape(-1, 3), poses=poses)
    return recording


def flat_sheet(n: int = 21, frames: int = 12) -> Recording:
    """A sheet that lies on the floor with one ripple."""
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, n))
    part = Part("sheet", 0, n * n, grid_triangles(n))
    recording = Recording("A sheet on the floor", 1 / 60, [part], [floor(50.0)])
    for i in range(frames):
        z = 0.002 + 0.03 * np.exp(-((u - 0.6 * i / frames + 0.3) ** 2) / 0.005)
        recording.add(i / 60, np.stack([u, v, z], axis=-1).reshape(-1, 3))
    return recording
