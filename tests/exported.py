"""Readers of export formats, written from the formats' descriptions or by other libraries: not by ours.

Each gives what a file holds over time: times (K,) in s, points (K, N, 3), faces as lists of vertex numbers.
"""

from __future__ import annotations

import base64
import itertools
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np


@dataclass
class Found:
    """What a file holds; the axes are those of the file, the unit too."""

    points: np.ndarray
    times: np.ndarray | None = None
    faces: list[list[int]] = field(default_factory=list)
    fields: dict[str, np.ndarray] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


def read_pc2(path: Path) -> Found:
    """3ds Max point cache: signature, version, points, start, rate, samples; floats."""
    with path.open("rb") as file:
        signature, version = file.read(12), int.from_bytes(file.read(4), "little")
        assert signature == b"POINTCACHE2\x00"
        assert version == 1
        points = int.from_bytes(file.read(4), "little")
        start, rate = np.frombuffer(file.read(8), "<f4")
        samples = int.from_bytes(file.read(4), "little")
        rows = [struct.unpack(f"<{3 * points}f", file.read(12 * points)) for _ in range(samples)]
        assert file.read() == b""
    return Found(np.reshape(rows, (samples, points, 3)), start + rate * np.arange(samples))


def read_mdd(path: Path) -> Found:
    """LightWave motion designer: frames, points, times; big-endian floats."""
    data = path.read_bytes()
    frames, points = struct.unpack_from(">2i", data)
    times = struct.unpack_from(f">{frames}f", data, 8)
    x = struct.unpack_from(f">{3 * frames * points}f", data, 8 + 4 * frames)
    assert len(data) == 8 + 4 * frames + 12 * frames * points
    return Found(np.reshape(x, (frames, points, 3)), np.array(times))


def read_obj(path: Path) -> Found:
    """All objects of an OBJ file; their names in ``more``."""
    lines = [line.split() for line in path.read_text("utf-8").splitlines()]
    x = np.array([[float(w) for w in line[1:4]] for line in lines if line[:1] == ["v"]])
    tints = [[float(w) for w in line[4:]] for line in lines if line[:1] == ["v"]]
    uv = np.array([[float(w) for w in line[1:3]] for line in lines if line[:1] == ["vt"]])
    corners = [[word.split("/") for word in line[1:]] for line in lines if line[:1] == ["f"]]
    faces = [[int(word[0]) - 1 for word in face] for face in corners]
    textures = [[int(word[1]) - 1 for word in face if len(word) > 1 and word[1]] for face in corners]
    names = [line[1] for line in lines if line[:1] == ["o"]]
    return Found(x[None], None, faces, {}, {"uv": uv, "uv_faces": textures, "names": names, "colors": tints})


def read_vtk_xml(path: Path) -> Found:
    """A surface or cells of a VTK XML file, by what its documentation says of binary arrays."""
    root = ElementTree.parse(path).getroot()
    assert root.get("byte_order") == "LittleEndian"
    assert root.get("header_type") == "UInt64"
    kinds = {"Float32": "<f4", "Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "<u1"}

    def array(node: ElementTree.Element) -> np.ndarray:
        raw = base64.b64decode((node.text or "").strip())
        assert int.from_bytes(raw[:8], "little") == len(raw) - 8
        values = np.frombuffer(raw[8:], kinds[node.attrib["type"]])
        width = int(node.get("NumberOfComponents", 1))
        return values if width == 1 else values.reshape(-1, width)

    def arrays(tag: str) -> dict[str, np.ndarray]:
        return {node.attrib["Name"]: array(node) for node in root.findall(f".//{tag}/DataArray")}

    cells = arrays("Polys") or arrays("Cells")
    starts = [0, *cells["offsets"][:-1].tolist()]
    faces = [
        cells["connectivity"][a:b].tolist() for a, b in zip(starts, cells["offsets"].tolist(), strict=True)
    ]
    piece = root.find(".//Piece")
    assert piece is not None
    x = arrays("Points")["Points"]
    assert int(piece.attrib["NumberOfPoints"]) == len(x)
    assert int(piece.get("NumberOfPolys", piece.get("NumberOfCells", -1))) == len(faces)
    time = arrays("FieldData").get("TimeValue")
    return Found(x[None], time, faces, arrays("PointData"), {"cells": arrays("CellData"), "kinds": cells})


def read_vtp_by_vtk(path: Path) -> Found:
    """By the library of ParaView itself."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    polys = data.GetPolys()
    ids, ends = vtk_to_numpy(polys.GetConnectivityArray()), vtk_to_numpy(polys.GetOffsetsArray())
    faces = [ids[a:b].tolist() for a, b in itertools.pairwise(ends)]
    at = data.GetPointData()
    fields = {at.GetArrayName(k): vtk_to_numpy(at.GetArray(k)) for k in range(at.GetNumberOfArrays())}
    times = reader.GetOutputInformation(0).Get(reader.GetExecutive().TIME_STEPS())
    return Found(vtk_to_numpy(data.GetPoints().GetData())[None], np.array(times or []), faces, fields)


def read_pvd(path: Path) -> Found:
    """The surfaces that a list names, one after the other."""
    rows = ElementTree.parse(path).getroot().findall("./Collection/DataSet")
    found = [read_vtk_xml(path.with_name(row.attrib["file"])) for row in rows]
    for one, row in zip(found, rows, strict=True):
        assert one.faces == found[0].faces
        assert one.times is not None
        assert one.times[0] == float(row.attrib["timestep"])
    times = np.array([float(row.attrib["timestep"]) for row in rows])
    return Found(np.concatenate([one.points for one in found]), times, found[0].faces, found[-1].fields)


def read_usd(path: Path) -> dict[str, Found]:
    """Each mesh of a stage in space at every time code, by usd-core; metadata in ``more``."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    head = {
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "metres": UsdGeom.GetStageMetersPerUnit(stage),
        "rate": stage.GetTimeCodesPerSecond(),
        "codes": (stage.GetStartTimeCode(), stage.GetEndTimeCode()),
        "default": str(stage.GetDefaultPrim().GetPath()),
    }
    codes = np.arange(head["codes"][0], head["codes"][1] + 1)
    out = {}
    for prim in stage.Traverse():
        if prim.GetTypeName() != "Mesh":
            continue
        mesh = UsdGeom.Mesh(prim)
        x = []
        for code in codes:
            local = np.array(mesh.GetPointsAttr().Get(Usd.TimeCode(code)), dtype=float)
            matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode(code)))
            x.append(local @ matrix[:3, :3] + matrix[3, :3])
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get())
        ids = np.split(np.array(mesh.GetFaceVertexIndicesAttr().Get()), np.cumsum(counts)[:-1])
        fields = {
            str(p.GetPrimvarName()): np.array(p.ComputeFlattened(Usd.TimeCode(codes[-1])))
            for p in UsdGeom.PrimvarsAPI(prim).GetPrimvars()
        }
        velocity = mesh.GetVelocitiesAttr().Get(Usd.TimeCode(codes[-1]))
        more = head | {
            "velocity": velocity and np.array(velocity),
            "samples": mesh.GetPointsAttr().GetTimeSamples(),
        }
        out[prim.GetName()] = Found(
            np.array(x), codes / head["rate"], [i.tolist() for i in ids], fields, more
        )
    return out


def read_glb(path: Path) -> dict[str, Found]:
    """Each node of a glTF file in space at the times of its animation, played as the specification says."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON"
    doc = json.loads(data[20 : 20 + size])
    rest, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert kind == b"BIN\x00"
    blob = data[28 + size :]
    assert len(blob) == rest == doc["buffers"][0]["byteLength"]

    def array(k: int) -> np.ndarray:
        entry = doc["accessors"][k]
        view = doc["bufferViews"][entry["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[entry["type"]]
        dtype = {5126: "<f4", 5125: "<u4"}[entry["componentType"]]
        values = np.frombuffer(blob, dtype, entry["count"] * width, view["byteOffset"]).reshape(-1, width)
        for name, bound in (("min", np.min), ("max", np.max)):
            if name in entry:
                np.testing.assert_array_equal(np.float32(entry[name]), bound(values, axis=0))
        return values

    moves: dict[tuple[int, str], np.ndarray] = {}
    times = np.zeros(1)
    for animation in doc.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            assert sampler.get("interpolation", "LINEAR") == "LINEAR"
            times = array(sampler["input"])[:, 0]
            moves[channel["target"]["node"], channel["target"]["path"]] = array(sampler["output"])
    out = {}
    for k in doc["scenes"][doc["scene"]]["nodes"]:
        node = doc["nodes"][k]
        shape = doc["meshes"][node["mesh"]]["primitives"][0]
        base = array(shape["attributes"]["POSITION"]).astype(float)
        targets = [array(target["POSITION"]) for target in shape.get("targets", [])]
        x = []
        for t in range(len(times)):
            at = base.copy()
            if (k, "weights") in moves:
                weights = moves[k, "weights"].reshape(len(times), -1)[t]
                at += sum(w * target for w, target in zip(weights, targets, strict=True) if w)
            turn = moves.get((k, "rotation"), [node.get("rotation", [0, 0, 0, 1])] * len(times))[t]
            place = moves.get((k, "translation"), [node.get("translation", [0, 0, 0])] * len(times))[t]
            x.append(_turned(at, turn) + place)
        fields = {name: array(a) for name, a in shape["attributes"].items() if name != "POSITION"}
        faces = array(shape["indices"]).reshape(-1, 3).tolist()
        out[node["name"]] = Found(np.array(x), times, faces, fields)
    return out


def _turned(x: np.ndarray, q: Any) -> np.ndarray:
    """Points turned by a quaternion x y z w: v + 2 u × (u × v + w v)."""
    u, w = np.asarray(q[:3], dtype=float), float(q[3])
    return x + 2 * np.cross(u, np.cross(u, x) + w * x)
