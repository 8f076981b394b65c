"""The incremental potential of one world and one substep: inertia and every element of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import Model
from .elements import element_of
from .elements.base import Array, Element, Terms
from .gases import gases_of
from .minimize import Value
from .obstacles import Obstacles
from .pattern import Factor, Pattern

EPS = float(np.finfo(float).eps)


class Incremental:
    """``E(d) = sum m' |x - x~|^2/(2 h^2) + sum U(x)`` at ``x = base + d``, d (n,) of the free particles.

    ``m' = m (1 + h air_drag)``: what answers to a force within a substep under implicit drag. The base is
    where the search begins, x~ or the start of the substep. Elements see their corners from an origin of
    their own, ``(base - origin) + d``, so that nothing is rounded at the size of the scene.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.free = model.inv_mass > 0
        self.elements: dict[str, Element] = {law: element_of(b) for law, b in model.blocks.items()}
        self.gases = gases_of(model)
        self.obstacles = Obstacles(model) if len(model.colliders) else None
        ids = [e.ids for e in self.elements.values()] + [gas.ids for gas in self.gases]
        self.pattern = Pattern(ids, self.free)
        self.n = self.pattern.n

    def begin(
        self, x_prev: Array, h: float, softness: dict[str, float], held: tuple[Array, Array],
        pressure: Array, s: int,
    ) -> None:  # fmt: skip
        """Start a substep at x_prev (N, 3): softness of each law in this world, targets of attachments (A, 3)
        at its end and start, in the order of their block, pressures (S,) [Pa], which substep of the step."""
        inertia = self.model.mass[self.free] * ((1 + h * self.model.air_drag) / h**2)
        self.inertia, self.held = np.repeat(inertia, 3), held[0]
        for law, e in self.elements.items():
            origin = held[1][:, None] if law == "attachment" else x_prev[e.ids[:, :1]]
            alpha = e.block.compliance * softness[law]
            e.begin(x_prev[e.ids] - origin, alpha, e.block.damping_time / h)
        for gas in self.gases:
            gas.begin(float(pressure[gas.row]))
        if self.obstacles is not None:
            self.obstacles.begin(s)

    def place(self, base: Array, lag: Array) -> Value:
        """Search around a base (N, 3) that is ``lag`` (N, 3) away from x~; the value there."""
        self.base, self.lag = base, lag[self.free].ravel()
        self.corners: dict[str, Array] = {}
        for law, e in self.elements.items():
            origin = self.held[:, None] if law == "attachment" else base[e.ids[:, :1]]
            self.corners[law] = base[e.ids] - origin
            e.measure(self.corners[law])
        for gas in self.gases:
            gas.place(base)
        return self.value(np.zeros(self.n), hessian=False, projected=False)

    def way(self, d: Array) -> Array:
        """d as (N, 3); pinned particles are where they must be."""
        out = np.zeros((len(self.free), 3))
        out[self.free] = d.reshape(-1, 3)
        return out

    def places(self, d: Array) -> Array:
        """Positions of the free particles (n/3, 3)."""
        return self.base[self.free] + d.reshape(-1, 3)

    def vectors(self, law: str, way: Array) -> Array:
        """What a law's elements see."""
        e = self.elements[law]
        p = self.corners[law] + way[e.ids]
        z = e.vectors(p)
        e.see(z, p)
        return z

    def terms(self, law: str, z: Array, order: int, projected: bool) -> Terms:
        """Energy and derivatives of a law's elements."""
        return self.elements[law].terms(z, order, projected)

    def value(self, d: Array, hessian: bool, projected: bool) -> Value:
        """Energies and gradient; the elements' Hessians (E, 3 c, 3 c), if asked for, and what they bound."""
        way = self.way(d)
        total, noise = np.zeros_like(way), np.zeros(len(way))
        energies, blocks, slack = [], [], 0.0
        for law, e in self.elements.items():
            t = self.terms(law, self.vectors(law, way), 2 if hessian else 1, projected)
            energies.append(t.energy)
            g = t.gradient.reshape(len(e.ids), -1, 3)
            scatter(total, e.ids, np.matmul(e.shape, g))
            size = np.linalg.norm(t.gradient, axis=1)
            slack += float(np.sum(size * e.size))
            if t.hessian is not None:
                blocks.append(at_corners(e.shape, t.hessian))
                error = np.abs(e.shape).sum(axis=2) * (size + t.stiffness * e.size)[:, None]
                noise += np.bincount(e.ids.ravel(), error.ravel(), len(way))
        columns = np.zeros((self.n, len(self.gases)))
        for k, gas in enumerate(self.gases):
            shell = gas.terms(way, 2 if hessian else 1, projected)
            energies.append(np.array([shell.energy]))
            scatter(total, gas.ids, shell.gradient)
            slack += shell.slack
            if shell.blocks is not None:
                blocks.append(shell.blocks)
                noise += np.bincount(gas.ids.ravel(), shell.noise.ravel(), len(way))
                slope = np.zeros_like(way)
                scatter(slope, gas.ids, shell.slope)
                columns[:, k] = np.sqrt(shell.stiffness) * slope[self.free].ravel()
        own, touching = np.zeros((self.n // 3, 3, 3)), 0.0
        if self.obstacles is not None:
            energy, push, own, touching = self.obstacles.terms(self.places(d), 2 if hessian else 1, projected)
            energies.append(energy)
            total[self.free] += push
        pull = self.inertia * (d + self.lag)
        gradient = total[self.free].ravel() + pull
        noise = noise[self.free] + np.abs(pull).reshape(-1, 3).max(axis=1, initial=0.0)
        floor = 10 * EPS * float(np.hypot(np.linalg.norm(noise), touching))
        every = np.concatenate([*energies, np.zeros(0)])
        return Value(d, every, gradient, floor, EPS * slack, blocks, columns, own)

    def difference(self, new: Value, old: Value) -> float:
        """E(new) - E(old) [J], summed over elements and particles, so that what does not change drops out."""
        inertia = 0.5 * self.inertia * (new.d - old.d) * (new.d + old.d + 2 * self.lag)
        return float(np.sum(inertia) + np.sum(new.energies - old.energies))

    def energy(self, value: Value) -> float:
        """E [J]."""
        return float(0.5 * np.sum(self.inertia * (value.d + self.lag) ** 2) + np.sum(value.energies))

    def matrix(self, value: Value) -> Array:
        """Numbers of the Hessian in the pattern."""
        own = value.own.copy()
        own[:, np.arange(3), np.arange(3)] += self.inertia.reshape(-1, 3)
        return self.pattern.assemble([*value.blocks, own])

    def factor(self, matrix: Array, columns: Array) -> Factor | None:
        """Factor of a matrix; None where it is not positive definite."""
        return self.pattern.factor(matrix, columns)

    def other_forces(self, d: Array) -> Array:
        """Force of gases and obstacles on each particle (N, 3) [N]."""
        way = self.way(d)
        out = np.zeros_like(way)
        for gas in self.gases:
            scatter(out, gas.ids, -gas.terms(way, 1, False).gradient)
        if self.obstacles is not None:
            out[self.free] -= self.obstacles.terms(self.places(d), 1, False)[1]
        return out

    # --- rigid rows ---

    @property
    def is_constrained(self) -> bool:
        """Whether there are rigid rows, of elements or colliders."""
        return self.obstacles is not None or any(e.any_rigid for e in self.elements.values())

    def stiffen(self, value: Value) -> None:
        """Choose penalties of rigid rows by the stiffness around them."""
        stiff = self.pattern.matrix(self.matrix(value)).diagonal().reshape(-1, 3).mean(axis=1)
        stiff = np.maximum(stiff, self.inertia[::3])
        if self.obstacles is not None:
            self.obstacles.stiffen(stiff)
        weight = np.zeros(len(self.free))
        weight[self.free] = 1 / stiff
        way = self.way(value.d)
        for law, e in self.elements.items():
            if e.any_rigid:
                e.stiffen(weight[e.ids], self.corners[law] + way[e.ids])

    def violation(self, d: Array) -> float:
        """The largest share of its size by which a rigid row is off."""
        way = self.way(d)
        off = [e.violation(self.vectors(law, way)) for law, e in self.elements.items() if e.any_rigid]
        most = max((float(v.max()) for v in off), default=0.0)
        return most if self.obstacles is None else max(most, self.obstacles.violation(self.places(d)))

    def harden(self, d: Array, factor: float) -> None:
        """Multipliers of rigid rows take over from their penalties, which grow by a factor."""
        way = self.way(d)
        for law, e in self.elements.items():
            if e.any_rigid:
                e.harden(self.vectors(law, way), factor)
        if self.obstacles is not None:
            self.obstacles.harden(self.places(d), factor)

    @property
    def reach(self) -> float:
        """A tenth of an edge [m]."""
        return 0.1 * self.model.length

    def downward(self, value: Value) -> tuple[Array, float]:
        """A unit vector (n,) along which the Hessian is negative, and how much; 0 if there is none."""
        data = self.matrix(value)
        v = self.pattern.negative_direction(data)
        if v is None:
            return np.zeros(self.n), 0.0
        along = value.columns.T @ v
        return v, float(v @ (self.pattern.matrix(data) @ v) + along @ along)

    def forces(self, law: str, d: Array) -> Array:
        """dU/dC (E, r) of a law's rows [N by unit of C]: minus lambda/h^2."""
        return self.elements[law].forces(self.vectors(law, self.way(d)))


def scatter(into: Array, ids: Array, values: Array) -> None:
    """Add values (E, c, 3) to the particles ids (E, c), in a fixed order."""
    flat = ids.ravel()
    for m in range(3):
        into[:, m] += np.bincount(flat, values[:, :, m].ravel(), len(into))


def at_corners(shape: Array, h: Array) -> Array:
    """Hessians (E, 3 c, 3 c) by corners from those by vectors (E, 3 m, 3 m); shape (E, c, m)."""
    e, c, m = shape.shape
    if m == 1:
        pairs = shape[:, :, 0][:, :, None] * shape[:, :, 0][:, None, :]
        out: Any = pairs[:, :, None, :, None] * h[:, None, :, None, :]
        return out.reshape(e, 3 * c, 3 * c)
    inner = h.reshape(e, m, 3, m, 3)
    half = np.matmul(shape, inner.reshape(e, m, 9 * m)).reshape(e, c, 3, m, 3)
    turned = half.transpose(0, 3, 1, 2, 4).reshape(e, m, 9 * c)
    out = np.matmul(shape, turned).reshape(e, c, c, 3, 3)  # (second corner, first corner, i, j)
    return out.transpose(0, 2, 3, 1, 4).reshape(e, 3 * c, 3 * c)
