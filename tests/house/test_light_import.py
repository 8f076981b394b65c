"""`import pliant` is light: it compiles nothing and loads nothing that is slow or optional."""

from __future__ import annotations

import json
import subprocess
import sys

from conftest import ROOT

HEAVY = (
    "numba",
    "llvmlite",
    "scipy",
    "meshio",
    "trimesh",
    "tqdm",
    "PIL",
    "av",
    "pxr",
    "matplotlib",
    "gymnasium",
    "torch",
)

CODE = """
import json, sys, time
start = time.perf_counter()
import pliant
seconds = time.perf_counter() - start
print(json.dumps({"file": pliant.__file__, "seconds": seconds, "modules": sorted(sys.modules)}))
"""


def loaded(code: str) -> dict:
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def test_importing_pliant_loads_nothing_heavy() -> None:
    report = loaded(CODE)
    print(f"import pliant: {report['seconds']:.3f} s")
    assert report["file"] == str(ROOT / "pliant" / "__init__.py")
    heavy = [name for name in report["modules"] if name.split(".")[0] in HEAVY]
    assert heavy == []


def test_the_check_sees_a_heavy_module() -> None:
    report = loaded(CODE.replace("import pliant\n", "import pliant, scipy\n"))
    assert "scipy" in report["modules"]


def test_every_public_name_resolves() -> None:
    code = "import json, pliant as p; print(json.dumps({n: type(getattr(p, n)).__name__ for n in p.__all__}))"
    names = loaded(code)
    assert {"Scene", "Simulation", "XPBD", "read_mesh", "fabrics", "shapes"} <= set(names)
