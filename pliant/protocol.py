"""The nouns that pass between the layers: Protocol, Status, StepInfo, Claims."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import IntFlag
from typing import Any

import numpy as np

from .errors import ProtocolError

Array = np.ndarray


@dataclass(frozen=True)
class Protocol:
    """The numeric protocol of a run: everything that decides its bits besides scene and input.

    dt [s] is one step, divided into ``substeps`` of ``h = dt/substeps``; ``iterations`` sweeps per substep.
    """

    solver: str
    dt: float
    substeps: int = 1
    iterations: int = 1
    order: str = "colored"
    multiplier_reset: str = "substep"
    dtype: str = "float64"
    contact: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def h(self) -> float:
        """Length of a substep [s]."""
        return self.dt / self.substeps

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Protocol:
        """Back from :meth:`to_dict`."""
        try:
            return cls(**data)
        except TypeError as error:
            raise ProtocolError(f"not a protocol record: {error}") from error

    def require(self, other: Protocol, what: str) -> None:
        """Raise ProtocolError naming each field in which ``other`` (of ``what``) differs."""
        mine, theirs = self.to_dict(), other.to_dict()
        differ = [f"{k}: {theirs[k]!r} there, {mine[k]!r} here" for k in mine if mine[k] != theirs[k]]
        if differ:
            raise ProtocolError(
                f"{what} was made under another protocol ({'; '.join(differ)}); "
                "use the same settings, or pass any_protocol=True to go on regardless"
            )


class Status(IntFlag):
    """What went wrong in a world during a step; 0 is fine."""

    OK = 0
    NONFINITE = 1
    """A position or velocity became NaN or infinite: the world is frozen at its last good state."""
    FROZEN = 2
    """The world is frozen since an earlier step; reset it to go on."""
    CONTACT_MISSED = 4
    """A particle went through a collider that it was too far from when contacts were found: dt too long."""
    CONTACT_GREW = 8
    """The contact list had to grow during this step (memory was allocated)."""
    START_PENETRATES = 16
    """A particle began the step inside a collider, beyond the slack; it was moved out without speed."""
    NOT_CONVERGED = 32
    """A minimisation ended before it reached its tolerance; the world goes on from where it ended."""
    START_CROSSES = 64
    """Surfaces crossed each other when the world was set to where it is (``Contact(crossing="report")``)."""
    PIN_LAGS = 128
    """A pin could not go all its way without making surfaces cross; it goes on in the next step."""


@dataclass
class StepInfo:
    """What a step reports, one value per world (W,) unless said otherwise.

    time                 simulated time after the step [s]
    status               Status bits
    contacts             particles touching a collider
    max_penetration      deepest violation of the rest distance to a collider [m]
    surface_contacts     pairs of features of surfaces nearer than they keep; None without ``Contact``
    held_back            share of all motion in the step that would have made surfaces cross and was left out
    kinetic, elastic, potential   energies [J]; potential is that of gravity
    incremental_potential         E(x) of the last substep (DESIGN: objective of a step) [J]
    primal_residual      |M (x - x~)/h^2 + grad U - contact forces| [N], Euclidean norm over particles
    constraint_residual  |C + alpha~ lambda| per law: dict of mean, P95, max, each (W,); in units of C
    multipliers          per law: smallest and largest lambda/h^2, each (W,) [N, N m or J by law]
    momentum             linear momentum (W, 3) [kg m/s]
    angular_momentum     about the origin (W, 3) [kg m^2/s]
    timers               seconds by stage, nested by "/"

    Both residuals are those of the elastic problem: with damped materials they hold a share of the damping
    force while the cloth moves.
    """

    time: float
    status: Array
    iterations: int
    contacts: Array
    max_penetration: Array
    surface_contacts: Array | None = None
    held_back: Array | None = None
    timers: dict[str, float] = field(default_factory=dict)
    kinetic: Array | None = None
    elastic: Array | None = None
    potential: Array | None = None
    incremental_potential: Array | None = None
    primal_residual: Array | None = None
    constraint_residual: dict[str, dict[str, Array]] = field(default_factory=dict)
    multipliers: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    momentum: Array | None = None
    angular_momentum: Array | None = None

    @property
    def energy(self) -> Array | None:
        """Kinetic + elastic + potential energy (W,) [J]; None unless a full report was asked for."""
        if self.kinetic is None or self.elastic is None or self.potential is None:
            return None
        return self.kinetic + self.elastic + self.potential

    def ok(self) -> bool:
        """True when no world reports a failure."""
        bad = Status.NONFINITE | Status.FROZEN | Status.CONTACT_MISSED | Status.NOT_CONVERGED
        return not np.any(self.status & int(bad))

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""

        def plain(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return value.tolist()
            if isinstance(value, dict):
                return {k: plain(v) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                return [plain(v) for v in value]
            return value

        return {k: plain(v) for k, v in self.__dict__.items() if v is not None}


@dataclass(frozen=True)
class Claims:
    """What a solver promises; the conformance suite holds it to each.

    single_constraint_static   one constraint under load sags by exactly m g alpha, for any budget
    momentum                   linear momentum is conserved to rounding without external forces
    deterministic              same protocol, same bits, for any batch size, lane width and thread count
    renumbering                "bitwise" with the constraint order carried over, or "tolerance"
    stable_any_step            never diverges, whatever stiffness and step
    contact                    keeps particles out of colliders, with friction; without it, what is asked of
                               every solver is asked of scenes without colliders
    rigid                      takes rows without compliance, as a limit of strain has; without it, scenes are
                               asked of it without these
    gas                        takes gases in shells; without it, they are given pressures
    minimises                  with enough iterations a step ends where the incremental potential is least
    """

    single_constraint_static: bool = False
    momentum: bool = False
    deterministic: bool = False
    renumbering: str = "tolerance"
    stable_any_step: bool = False
    contact: bool = True
    rigid: bool = True
    gas: bool = True
    minimises: bool = False
