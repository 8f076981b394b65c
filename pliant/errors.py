"""The one exception family of Pliant, and its warnings.

Every message names the thing, its place and the cure.
"""

from __future__ import annotations


class PliantError(Exception):
    """Base of everything that Pliant raises on purpose."""


class MeshError(PliantError):
    """A mesh, or a file that should hold one, cannot be used."""


class SceneError(PliantError):
    """A scene was put together wrongly."""


class SceneFileError(SceneError):
    """A scene file has a mistake; the message names its line and field."""


class PatternError(PliantError):
    """A sewing pattern has a mistake; the message names its panel, edge or seam."""


class SolverError(PliantError):
    """A solver was configured or called wrongly."""


class ProtocolError(PliantError):
    """Saved data was made under another numeric protocol."""


class MissingExtraError(PliantError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f'{what} needs the package "{package}": pip install "pliant[{extra}]"')


class PliantWarning(UserWarning):
    """Base of everything that Pliant warns of; ``warnings.filterwarnings`` takes it."""


class MeshWarning(PliantWarning):
    """A mesh that can be used, but hardly is what was meant: a size far from cloth, say."""
