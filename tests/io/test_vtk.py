"""VTK's files, legacy and XML, in every encoding; written by hand and by meshio."""

from __future__ import annotations

import base64
import lzma
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from mesh_files import BOX, TETS

import pliant as pl
from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh

X = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0], [0, 2, 0], [1, 2, 0]], float)
FACES = [[0, 1, 2, 3], [1, 4, 5], [1, 5, 2], [3, 2, 7, 6]]
UV = X[:, :2] / 4


def legacy(binary: bool = False, version: str = "3.0") -> bytes:
    """Polygonal data: quadrilaterals and triangles, fields behind them."""

    def numbers(values: list, kind: str) -> bytes:
        if binary:
            return struct.pack(f">{len(values)}{kind}", *values) + b"\n"
        return (" ".join(map(str, values)) + "\n").encode()

    out = (
        f"# vtk DataFile Version {version}\n\n{'BINARY' if binary else 'ASCII'}\nDATASET POLYDATA\n".encode()
    )
    out += f"POINTS {len(X)} double\n".encode() + numbers(X.ravel().tolist(), "d")
    out += b"METADATA\nINFORMATION 0\n\n"
    flat = [n for face in FACES for n in face]
    if version == "5.1":
        ends = np.cumsum([0, *map(len, FACES)]).tolist()
        out += f"POLYGONS {len(ends)} {len(flat)}\nOFFSETS vtktypeint64\n".encode() + numbers(ends, "q")
        out += b"CONNECTIVITY vtktypeint64\n" + numbers(flat, "q")
    else:
        rows = [n for face in FACES for n in (len(face), *face)]
        out += f"POLYGONS {len(FACES)} {len(rows)}\n".encode() + numbers(rows, "i")
    return out + b"POINT_DATA 8\nSCALARS a float 1\nLOOKUP_TABLE default\n" + numbers([0.5] * 8, "f")


def check(mesh: object) -> None:
    assert isinstance(mesh, TriMesh)
    np.testing.assert_array_equal(mesh.vertices, X)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2], [3, 2, 7], [3, 7, 6]]
    assert mesh.polygons == tuple(map(tuple, FACES))
    assert mesh.triangle_polygon.tolist() == [0, 0, 1, 2, 3, 3]  # type: ignore[union-attr]


def read(folder: Path, name: str, data: bytes | str) -> object:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return pl.read_mesh(folder / name)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("version", ["3.0", "5.1"])
def test_legacy_polygons(tmp_path: Path, binary: bool, version: str) -> None:
    check(read(tmp_path, "a.vtk", legacy(binary, version)))


def test_strips_become_triangles_wound_alike(tmp_path: Path) -> None:
    text = legacy().decode()
    head = text[: text.index("POLYGONS")]
    mesh = read(tmp_path, "a.vtk", head + "TRIANGLE_STRIPS 2 12\n5 0 1 3 2 6\n5 1 4 2 5 7\n")
    assert isinstance(mesh, TriMesh)
    assert mesh.n_triangles == 6
    x = mesh.vertices[mesh.triangles]
    assert (np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])[:, 2] > 0).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("POINTS 8", "POINTS 9", "what stands where 27 numbers are due is none"),
        ("POINTS 8", "POINTS 7", "line 22|where a section is due"),
        ("POINTS 8 double", "POINTS 8 dobule", "numbers of type 'dobule'"),
        ("POLYGONS 4 18", "POLYGONS 5 18", "5 cells do not fit the 18 numbers"),
        ("POLYGONS 4 18", "POLYGONS 3 18", "3 cells do not fill the 18 numbers"),
        ("POLYGONS 4 18", "POLYGONS x 18", "'x' where a count is due"),
        ("4 0 1 2 3", "4 0 1 2 88", "cell 0: refers to vertex"),
        ("4 0 1 2 3", "9 0 1 2 3", "cell 1: a face with 1 corners"),
        ("POLYDATA", "STRUCTURED_POINTS", "holds 'STRUCTURED_POINTS'; only"),
        ("ASCII", "ASKII", "'ASKII' where ASCII or BINARY is due"),
        ("# vtk", "# vkt", "not as a VTK file does"),
        ("1.0 0.0 0.0", "1.0 nan 0.0", "coordinates are not finite"),
    ],
)
def test_legacy_contradictions_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = legacy().decode()
    assert old in text
    with pytest.raises(MeshError, match=rf"a\.vtk.*({message})"):
        read(tmp_path, "a.vtk", text.replace(old, new, 1))


# ---- XML


def packed(values: np.ndarray, how: str, appended: list[bytes]) -> str:
    """Attributes and text of a DataArray."""
    raw = values.tobytes()
    if how == "ascii":
        return f'format="ascii">{" ".join(map(str, values.ravel().tolist()))}'
    if how in ("zlib", "lzma"):
        half = 64  # bytes of a block
        blocks = [raw[i : i + half] for i in range(0, len(raw), half)]
        small = [(zlib.compress if how == "zlib" else lzma.compress)(block) for block in blocks]
        last = len(blocks[-1]) % half if blocks else 0
        head = struct.pack(f"<{3 + len(small)}I", len(small), half, last, *map(len, small))
        return 'format="binary">' + (base64.b64encode(head) + base64.b64encode(b"".join(small))).decode()
    head = struct.pack("<I", len(raw))
    if how == "binary":
        return 'format="binary">' + base64.b64encode(head + raw).decode()
    place = sum(map(len, appended))
    appended.append(base64.b64encode(head + raw) if how == "base64" else head + raw)
    return f'format="appended" offset="{place}">'


def xml(how: str, pieces: int = 1, fields: bool = True) -> bytes:
    """Polygonal data in ``pieces`` copies, each one unit higher."""
    appended: list[bytes] = []

    def array(name: str, values: np.ndarray, kind: str) -> str:
        width = values.shape[1] if values.ndim == 2 else 1
        return (
            f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" '
            f"{packed(values, how, appended)}</DataArray>"
        )

    out = ""
    for k in range(pieces):
        ends, flat = np.cumsum([len(f) for f in FACES]), np.array([n for f in FACES for n in f])
        out += f'<Piece NumberOfPoints="{len(X)}" NumberOfPolys="{len(FACES)}"><Points>'
        out += array("Points", X + np.array([0, 0, k]), "Float64") + "</Points><Polys>"
        out += array("connectivity", flat.astype("<i4"), "Int32") + array(
            "offsets", ends.astype("<i8"), "Int64"
        )
        out += "</Polys>"
        if fields:
            colors = np.full((len(X), 3), 51, np.uint8)
            out += '<PointData TCoords="where">' + array("where", UV.astype("<f4"), "Float32")
            out += (
                array("RGB", colors, "UInt8") + array("other", np.zeros(len(X)), "Float64") + "</PointData>"
            )
        out += "</Piece>"
    compressor = {
        "zlib": ' compressor="vtkZLibDataCompressor"',
        "lzma": ' compressor="vtkLZMADataCompressor"',
    }
    text = (
        f'<?xml version="1.0"?>\n<VTKFile type="PolyData" byte_order="LittleEndian"{compressor.get(how, "")}>'
    )
    text += f"<PolyData>{out}</PolyData>"
    end = b"</VTKFile>"
    if appended:
        kind = "base64" if how == "base64" else "raw"
        end = f'<AppendedData encoding="{kind}">\n_'.encode() + b"".join(appended) + b"</AppendedData>" + end
    return text.encode() + end


@pytest.mark.parametrize("how", ["ascii", "binary", "zlib", "lzma", "raw", "base64"])
def test_xml_polygons_in_every_encoding(tmp_path: Path, how: str) -> None:
    mesh = read(tmp_path, "a.vtp", xml(how))
    check(mesh)
    assert isinstance(mesh, TriMesh)
    np.testing.assert_array_equal(mesh.uv, UV)
    np.testing.assert_array_equal(mesh.colors, np.full((8, 3), 0.2))


def test_pieces_are_read_as_one(tmp_path: Path) -> None:
    mesh = read(tmp_path, "a.vtp", xml("binary", pieces=3))
    assert isinstance(mesh, TriMesh)
    assert (mesh.n_vertices, mesh.n_triangles) == (24, 18)
    assert mesh.vertices[16:, 2].tolist() == [2.0] * 8
    assert mesh.uv is not None


@pytest.mark.parametrize("how", ["binary", "zlib", "raw", "base64"])
def test_xml_files_cut_short_or_damaged_are_refused(tmp_path: Path, how: str) -> None:
    data = xml(how, fields=False)
    for length in range(0, len(data) - 1, 13):
        with pytest.raises(MeshError, match=r"a\.vtp"):
            read(tmp_path, "a.vtp", data[:length])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('NumberOfPoints="8"', 'NumberOfPoints="9"', r"points of shape \(8, 3\) where '9'"),
        ('NumberOfPolys="4"', 'NumberOfPolys="5"', "holds 4 cells of Polys, '5'"),
        ("4 7 10 14", "4 7 10 15", "holds 4 cells of Polys, '4' and other points"),
        ("4 7 10 14", "7 4 10 14", "contradict each other"),
        ("4 7 10 14", "4 7 1e1 14", "holds what is no number"),
        ("0 1 2 3 1", "0 1 2 33 1", "cell 0: refers to vertex"),
        ('type="Float64" Name="Points"', 'type="Float65" Name="Points"', "an array of type 'Float65'"),
        ('"PolyData"', '"ImageData"', "holds 'ImageData'; only"),
        ("<?xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><?xml", "it declares entities"),
        ("<PolyData>", "<PolyDat>", "is no whole XML file"),
    ],
)
def test_xml_contradictions_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = xml("ascii", fields=False).decode()
    assert old in text
    with pytest.raises(MeshError, match=rf"a\.vtp:? .*{message}"):
        read(tmp_path, "a.vtp", text.replace(old, new, 1))


@pytest.mark.parametrize("suffix", [".vtk", ".vtu"])
@pytest.mark.parametrize("binary", [False, True])
def test_grids_by_another_writer(tmp_path: Path, suffix: str, binary: bool) -> None:
    """Surfaces and bodies that meshio writes; a surface beside tetrahedra is left out."""
    meshio = pytest.importorskip("meshio")
    skin = TetMesh(BOX, TETS).triangles
    for cells in ([("triangle", skin)], [("triangle", skin), ("tetra", TETS)], [("quad", [[0, 1, 3, 2]])]):
        path = tmp_path / f"a{suffix}"
        meshio.Mesh(BOX, [(kind, np.array(rows)) for kind, rows in cells]).write(path, binary=binary)
        mesh = pl.read_mesh(path)
        if cells[-1][0] == "tetra":
            assert isinstance(mesh, TetMesh)
            np.testing.assert_array_equal(mesh.tets, TETS)
        else:
            assert isinstance(mesh, TriMesh)
            assert mesh.area == pytest.approx(6.0 if len(skin) == len(cells[0][1]) else 1.0)
