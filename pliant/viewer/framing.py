"""Where the camera stands: one view for the page and the contact sheet, for scenes of any size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.io.recording import Recording, Solid

__all__ = ["Backdrop", "Framing", "backdrop", "backdrops", "fit", "framing", "grown", "length_text"]

# A collider this many times larger than what moves is scenery: drawn, but never framed.
BACKDROP_RATIO = 4.0
FIELD_OF_VIEW = math.radians(28.0)
_SAMPLES = 20_000


@dataclass(frozen=True)
class Framing:
    """What the camera looks at.

    Attributes:
        centre: (3,) m.
        radius: m; half the diagonal of the box around everything that matters.
        direction: (3,) unit vector from the centre to the camera; z is up.
        points: (P, 3) m; extreme points that must all be seen.
        lowest: z of the lowest of them, m.
        grid: distance between grid lines, m; 1, 2 or 5 times a power of ten.
    """

    centre: np.ndarray
    radius: float
    direction: np.ndarray
    points: np.ndarray
    lowest: float
    grid: float


@dataclass(frozen=True)
class Backdrop:
    """The plane of a large flat collider, to draw grid lines on.

    Attributes:
        origin: (3,) m, a point of the plane near the world's origin.
        u, v: (3,) unit vectors in the plane; u is horizontal. For a floor they are x and y.
    """

    origin: np.ndarray
    u: np.ndarray
    v: np.ndarray


def framing(recording: Recording, further: np.ndarray | None = None) -> Framing:
    """Look at all cloth, over all frames, and at the colliders that are not much larger.

    A collider that moves is followed as far as the cloth's own way is long, from the middle of it.
    ``further`` (P, 3) are points that shall be seen as well, m.
    """
    moving = _sample(recording)
    solids = recording.placed(None)
    sizes = [_diagonal(s.vertices) for s in solids]
    reach = _diagonal(moving)
    most = BACKDROP_RATIO * (reach if len(moving) else min(sizes, default=0.0))
    clouds = [moving] if further is None else [moving, further]
    for k, travels in enumerate(recording.moves()):
        if sizes[k] > most:
            continue
        cloud = solids[k].vertices
        if travels and len(moving):
            cloud = _way(recording, k)
            middle = 0.5 * (moving.min(axis=0) + moving.max(axis=0))
            cloud = cloud[np.linalg.norm(cloud - middle, axis=1) <= reach]
        clouds.append(cloud)
    clouds = [cloud for cloud in clouds if len(cloud)]
    cloud = np.concatenate(clouds) if clouds else np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    radius = 0.5 * float(np.linalg.norm(high - low))
    if radius == 0.0:  # a single point: any distance shows it
        radius = float(np.abs(high).max()) or 1.0
    return Framing(
        centre=0.5 * (low + high),
        radius=radius,
        direction=_direction(moving if len(moving) else cloud),
        points=_extremes(cloud),
        lowest=float(low[2]),
        grid=_round_length(radius / 4),
    )


def fit(
    points: np.ndarray, direction: np.ndarray, aspect: float, margin: float = 1.06
) -> tuple[np.ndarray, ...]:
    """The nearest camera along ``direction`` that sees every point.

    Args:
        points: (P, 3).
        direction: (3,) unit vector from the scene to the camera.
        aspect: width / height of the picture.
        margin: 1.06 leaves 6 per cent of the picture empty around the points.

    Returns:
        Position (3,) and the unit vectors right, up and backward of the camera.
    """
    right, up, back = axes(direction)
    across, along, depth = points @ right, points @ up, -(points @ back)
    ty = math.tan(FIELD_OF_VIEW / 2) / margin
    tx = ty * aspect
    # The apex of a pyramid that holds all points: each side plane gives one linear bound.
    x1, x2 = (across - tx * depth).max(), (-across - tx * depth).max()
    y1, y2 = (along - ty * depth).max(), (-along - ty * depth).max()
    w = min(-(x1 + x2) / (2 * tx), -(y1 + y2) / (2 * ty))
    position = 0.5 * (x1 - x2) * right + 0.5 * (y1 - y2) * up - w * back
    return position, right, up, back


def axes(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right, up and backward of a camera that looks along ``-direction`` with z up."""
    back = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    side = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(side, back)
    right /= np.linalg.norm(right)
    return right, np.cross(back, right), back


def grown(points: np.ndarray, x: np.ndarray, radius: float) -> np.ndarray | None:
    """The points of a framing, and those of ``x`` (N, 3) that lie further out; None where none do."""
    if not len(x):
        return None
    slack = 0.02 * radius
    outside = (x < points.min(axis=0) - slack) | (x > points.max(axis=0) + slack)
    return _extremes(np.concatenate([points, x])) if outside.any() else None


def backdrop(solid: Solid, frame: Framing) -> Backdrop | None:
    """The plane of ``solid`` where it is flat and much larger than what is framed, else None."""
    size = _diagonal(solid.vertices)
    if not len(solid.triangles) or size <= BACKDROP_RATIO * 2 * frame.radius:
        return None
    a, b, c = solid.vertices[solid.triangles[0]]
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    if np.abs((solid.vertices - a) @ normal).max() > 1e-6 * size:
        return None
    level = np.cross([0.0, 0.0, 1.0], normal)
    if np.linalg.norm(level) < 1e-9:
        return Backdrop(normal * (a @ normal), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    u = level / np.linalg.norm(level)
    return Backdrop(normal * (a @ normal), u, np.cross(normal, u))


def backdrops(recording: Recording, frame: Framing, index: int | None) -> list[Backdrop | None]:
    """For each solid its plane in a frame of the recording, if it is one: its lines move with it."""
    found: list[Backdrop | None] = []
    for k, solid in enumerate(recording.placed(None)):
        plane = backdrop(solid, frame)
        if plane is not None and index is not None:
            start, now = recording.poses[0][k], recording.poses[index][k]
            if not np.array_equal(start, now):
                turn = now[:, :3] @ start[:, :3].T
                origin = turn @ (plane.origin - start[:, 3]) + now[:, 3]
                plane = Backdrop(origin, turn @ plane.u, turn @ plane.v)
        found.append(plane)
    return found


def length_text(metres: float) -> str:
    """A length in the unit that a person would use: ``"5 cm"``, ``"200 µm"``, ``"2 km"``."""
    for unit, name in ((1e3, "km"), (1.0, "m"), (1e-2, "cm"), (1e-3, "mm"), (1e-6, "µm")):
        if metres >= unit * (1 - 1e-9):
            return f"{metres / unit:.3g} {name}"
    return f"{metres:.3g} m"


def _sample(recording: Recording) -> np.ndarray:
    """At most a few ten thousand positions over all frames, every part's included: (S, 3)."""
    if not len(recording) or not recording.n_vertices:
        return np.zeros((0, 3))
    picked = [*recording.frames[:: max(1, len(recording) // 50)], recording.frames[-1]]
    stride = max(1, len(picked) * recording.n_vertices // _SAMPLES)
    kept = [x[::stride] for x in picked] + [x[np.r_[x.argmin(axis=0), x.argmax(axis=0)]] for x in picked]
    return np.concatenate(kept).astype(np.float64)


def _way(recording: Recording, k: int) -> np.ndarray:
    """Where the vertices of a moving solid are, over some fifty frames: (S, 3)."""
    poses = [*recording.poses[:: max(1, len(recording) // 50)], recording.poses[-1]]
    vertices = recording.solids[k].vertices
    kept = vertices[_outermost(vertices)]
    return np.concatenate([kept @ pose[k, :, :3].T + pose[k, :, 3] for pose in poses])


def _diagonal(points: np.ndarray) -> float:
    return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0


def _direction(points: np.ndarray) -> np.ndarray:
    """Three quarters from the front; flat scenes from higher up, hanging sheets on their broad side."""
    extent = np.ptp(points, axis=0)
    wide = float(np.linalg.norm(extent[:2]))
    tall = float(extent[2]) / wide if wide > 0 else 2.0
    elevation = math.radians(36.0 - 16.0 * min(tall, 1.5))
    azimuth = math.radians(-62.0)
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    spread, vectors = np.linalg.eigh(flat.T @ flat)
    if spread[0] < 0.1 * spread[1]:
        azimuth = math.atan2(vectors[1, 0], vectors[0, 0])
        azimuth += math.pi if math.sin(azimuth) > 1e-9 else 0.0  # from the side of -y, as x then goes right
        azimuth += math.radians(28.0)
    c = math.cos(elevation)
    return np.array([c * math.cos(azimuth), c * math.sin(azimuth), math.sin(elevation)])


def _extremes(points: np.ndarray) -> np.ndarray:
    """The points that are furthest out in a few hundred directions: what a camera must see."""
    return points[_outermost(points)]


def _outermost(points: np.ndarray, rings: int = 12) -> np.ndarray:
    """Numbers of the points that are furthest out in a few hundred directions."""
    z = np.linspace(-1, 1, rings)[:, None]
    angle = np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False)[None, :]
    c = np.sqrt(1 - z**2)
    ways = np.stack([c * np.cos(angle), c * np.sin(angle), z + 0 * angle], axis=-1).reshape(-1, 3)
    return np.unique(np.concatenate([(points @ block.T).argmax(axis=0) for block in np.array_split(ways, 8)]))


def _round_length(length: float) -> float:
    power = 10.0 ** math.floor(math.log10(length))
    return max(d for d in (1, 2, 5) if d * power <= length * (1 + 1e-9)) * power
