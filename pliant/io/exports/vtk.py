"""VTK XML files for ParaView: surfaces (.vtp), cells (.vtu), and a list of them over time (.pvd).

Format: "VTK XML file formats" of the VTK documentation. Arrays stand in the file itself, as base64 with a
64-bit length in front, little endian, not compressed.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.io.exports.clip import Clip
from pliant.io.filed import Filed, joined

__all__ = ["write_pvd", "write_vtp", "write_vtu"]

Array = np.ndarray

KINDS = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}
TRIANGLE, QUAD, POLYGON, TETRA = 5, 9, 7, 10  # of vtkCellType.h


def write_vtp(clip: Clip, i: int, path: Path) -> None:
    """Write the i-th frame as a surface of polygons (vtkPolyData)."""
    filed = clip.whole
    cells = [
        _array("connectivity", _small(filed.corners)),
        _array("offsets", _small(np.cumsum(filed.counts, dtype=np.int64))),
    ]
    counts = f'NumberOfPolys="{len(filed.counts)}" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0"'
    body = [*_points(clip, i, filed), "<Polys>", *cells, "</Polys>", *_parts(clip, _polygon_parts(clip))]
    _write(path, "PolyData", clip, i, f'NumberOfPoints="{filed.n_vertices}" {counts}', body)


def write_vtu(clip: Clip, i: int, path: Path) -> None:
    """Write the i-th frame as cells (vtkUnstructuredGrid): bodies as tetrahedra, cloth as its polygons."""
    pieces = clip.pieces
    filed = joined([(piece.start, _without_tets(piece.filed)) for piece in pieces])
    firsts = np.cumsum([0, *(piece.filed.n_vertices for piece in pieces)])
    ids, ends, kinds, part_of = [], [], [], []
    for k, piece in enumerate(pieces):
        tets = piece.filed.tets
        if tets is None:
            corners, counts = piece.filed.corners, piece.filed.counts
            kind = np.select([counts == 3, counts == 4], [TRIANGLE, QUAD], POLYGON)
        else:
            corners, counts = tets.ravel(), np.full(len(tets), 4)
            kind = np.full(len(tets), TETRA)
        ids.append(corners + firsts[k])
        ends.append(counts)
        kinds.append(kind)
        part_of.append(np.full(len(counts), k, np.int32))
    cells = [
        _array("connectivity", _small(np.concatenate(ids))),
        _array("offsets", _small(np.cumsum(np.concatenate(ends), dtype=np.int64))),
        _array("types", np.concatenate(kinds).astype(np.uint8)),
    ]
    body = [*_points(clip, i, filed), "<Cells>", *cells, "</Cells>", *_parts(clip, np.concatenate(part_of))]
    counts_text = f'NumberOfPoints="{filed.n_vertices}" NumberOfCells="{sum(map(len, ends))}"'
    _write(path, "UnstructuredGrid", clip, i, counts_text, body)


def write_pvd(clip: Clip, names: Sequence[str], path: Path) -> None:
    """Write the list of a series: the file of each frame and its time."""
    rows = [
        f'<DataSet timestep="{clip.seconds(i)!r}" part="0" file={quoteattr(name)}/>'
        for i, name in enumerate(names)
    ]
    text = [_HEAD.format(kind="Collection"), "<Collection>", *rows, "</Collection>", "</VTKFile>", ""]
    path.write_text("\n".join(text), encoding="utf-8", newline="\n")


_HEAD = (
    '<?xml version="1.0"?>\n<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" '
    'header_type="UInt64">'
)


def _write(path: Path, kind: str, clip: Clip, i: int, counts: str, body: list[str]) -> None:
    time = [] if clip.still else ["<FieldData>", _time(clip.seconds(i)), "</FieldData>"]
    lines = [
        _HEAD.format(kind=kind),
        f"<{kind}>",
        *time,
        f"<Piece {counts}>",
        *body,
        "</Piece>",
        f"</{kind}>",
    ]
    path.write_text("\n".join([*lines, "</VTKFile>", ""]), encoding="utf-8", newline="\n")


def _time(seconds: float) -> str:
    data = _base64(np.array([seconds]))
    return f'<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="binary">{data}</DataArray>'


def _points(clip: Clip, i: int, filed: Filed) -> list[str]:
    """Points, and what there is at them."""
    fields = clip.fields(i, filed.sources)
    data = [_array(name, values) for name, values in fields.items()]
    roles = [f'Scalars="{name}"' for name in fields if name == "strain"]
    roles += [f'Vectors="{name}"' for name in fields if name == "velocity"]
    uv = filed.vertex_uv
    if uv is not None:
        data.append(_array("uv", uv))
        roles.append('TCoords="uv"')
    if filed.colors is not None:
        data.append(_array("color", np.rint(255 * filed.colors).astype(np.uint8)))
    points = ["<Points>", _array("Points", clip.listed(i, filed)), "</Points>"]
    return [*points, f"<PointData {' '.join(roles)}>", *data, "</PointData>"] if data else points


def _polygon_parts(clip: Clip) -> Array:
    counts = [len(piece.filed.counts) for piece in clip.pieces]
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def _parts(clip: Clip, part_of: Array) -> list[str]:
    """Which part each cell belongs to, where there are several."""
    if len(clip.pieces) < 2:
        return []
    return ["<CellData>", _array("part", part_of.astype(np.int32)), "</CellData>"]


def _without_tets(filed: Filed) -> Filed:
    return filed if filed.tets is None else Filed(filed.sources, filed.counts, filed.corners, filed.triangles)


def _small(numbers: Array) -> Array:
    """In 32 bits where they fit, which most do."""
    return numbers.astype(np.int64 if numbers.max(initial=0) > np.iinfo(np.int32).max else np.int32)


def _array(name: str, values: Array) -> str:
    wide = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    kind = KINDS[values.dtype.str[1:]]
    return (
        f'<DataArray type="{kind}" Name={quoteattr(name)}{wide} format="binary">{_base64(values)}</DataArray>'
    )


def _base64(values: Array) -> str:
    raw = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()
    return base64.b64encode(np.uint64(len(raw)).astype("<u8").tobytes() + raw).decode("ascii")
