"""Pliant: cloth and soft bodies in Python.

One physical scene in SI units, interchangeable solvers, one world or thousands. Importing this package
compiles nothing and imports nothing optional; every name below is loaded on first use.
"""

# ruff: noqa: F401
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Scene": "scene",
    "Cloth": "bodies",
    "Solid": "bodies",
    "Simulation": "simulation",
    "Model": "model",
    "Contact": "model",
    "State": "state",
    "Control": "state",
    "Protocol": "protocol",
    "StepInfo": "protocol",
    "Status": "protocol",
    "Claims": "protocol",
    "XPBD": "solvers.xpbd.solver",
    "PBD": "solvers.xpbd.solver",
    "Newton": "solvers.newton.solver",
    "MGPBD": "solvers.mgpbd.solver",
    "PD": "solvers.pd.solver",
    "Solver": "solvers.base",
    "Fabric": "materials",
    "SolidMaterial": "materials",
    "fabrics": "materials",
    "fit_material": "fitting",
    "MaterialFit": "fitting",
    "solids": "materials",
    "TriMesh": "geometry.mesh",
    "TetMesh": "geometry.tetmesh",
    "Plane": "geometry.colliders",
    "Sphere": "geometry.colliders",
    "Cylinder": "geometry.colliders",
    "Capsule": "geometry.colliders",
    "Box": "geometry.colliders",
    "MeshCollider": "geometry.colliders",
    "Keyframes": "geometry.motion",
    "Steady": "geometry.motion",
    "read_mesh": "io.meshes",
    "Recording": "io.recording",
    "write": "viewer",
    "check_mesh": "checking.check",
    "check_intersections": "checking.intersections",
    "Intersections": "checking.intersections",
    "MeshReport": "checking.report",
    "repair_mesh": "geometry.repair",
    "Repair": "geometry.repair",
    "load_scene": "io.scenes",
    "SceneFile": "io.scenes",
    "self_intersections": "diagnostics.intersections",
    "sew": "sewing",
    "set_threads": "backend.threads",
    "get_threads": "backend.threads",
    "PliantError": "errors",
    "MeshError": "errors",
    "PatternError": "errors",
    "SceneError": "errors",
    "SceneFileError": "errors",
    "SolverError": "errors",
    "ProtocolError": "errors",
    "MissingExtraError": "errors",
    "PliantWarning": "errors",
    "MeshWarning": "errors",
}
_MODULES = {"garments": "garments", "shapes": "geometry.shapes"}

__all__ = ["__version__", *sorted(_HOMES), *sorted(_MODULES)]

if TYPE_CHECKING:
    from . import garments
    from .bodies import Cloth, Solid
    from .checking.check import check_mesh
    from .checking.intersections import Intersections, check_intersections
    from .checking.report import MeshReport
    from .diagnostics.intersections import self_intersections
    from .errors import (
        MeshError,
        MeshWarning,
        MissingExtraError,
        PatternError,
        PliantError,
        PliantWarning,
        ProtocolError,
        SceneError,
        SceneFileError,
        SolverError,
    )
    from .fitting import MaterialFit, fit_material
    from .geometry import shapes
    from .geometry.colliders import Box, Capsule, Cylinder, MeshCollider, Plane, Sphere
    from .geometry.mesh import TriMesh
    from .geometry.motion import Keyframes, Steady
    from .geometry.repair import Repair, repair_mesh
    from .geometry.tetmesh import TetMesh
    from .io.meshes import read_mesh
    from .io.recording import Recording
    from .io.scenes import SceneFile, load_scene
    from .materials import Fabric, SolidMaterial, fabrics, solids
    from .model import Contact, Model
    from .protocol import Claims, Protocol, Status, StepInfo
    from .scene import Scene
    from .sewing import sew
    from .simulation import Simulation
    from .solvers.base import Solver
    from .solvers.mgpbd.solver import MGPBD
    from .solvers.newton.solver import Newton
    from .solvers.pd.solver import PD
    from .solvers.xpbd.solver import PBD, XPBD
    from .state import Control, State
    from .viewer import write


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{_MODULES[name]}", __name__)
    else:
        raise AttributeError(f"module 'pliant' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
