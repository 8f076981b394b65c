"""Meshes, judges and the static reference against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench.statics import static_displacements
from pliant.bench.workloads import Bar, Cloth, make, options
from pliant.errors import PliantError


def test_strain_of_known_shapes() -> None:
    work = Cloth(5)
    x = work.mesh.vertices
    assert work.measure(1.25 * x) == pytest.approx({"mean strain": 0.25, "max strain": 0.25, "apart": 0})
    flat = x * [1.5, 1, 1]  # along x by a half, along the diagonals by sqrt(3.25/2), across not at all
    along, diagonal, all_ = 5 * 4, 4 * 4, len(work.edges)
    mean = (along * 0.5 + diagonal * (np.sqrt(3.25 / 2) - 1)) / all_
    assert work.measure(flat) == pytest.approx({"mean strain": mean, "max strain": 0.5, "apart": 0})
    assert work.measure(np.stack([x, 0.7 * x]))["mean strain"] == pytest.approx(0.3), "the worst world counts"
    assert work.measure(np.stack([x, x + 2.0]))["apart"] == pytest.approx(2.0)


def test_the_cloth_is_what_is_described() -> None:
    work = Cloth(33)
    assert (work.frames, work.first_measured) == (120, 91)
    assert work.mass.sum() == pytest.approx(0.2)
    assert len(work.edges) == 3 * 32**2 + 2 * 32
    assert len(work.hinges) == len(work.edges) - 4 * 32
    assert np.ptp(work.mesh.vertices, axis=0).tolist() == [1, 1, 0]
    assert work.mesh.vertices[work.pins].tolist() == [[-0.5, -0.5, 0], [0.5, -0.5, 0]]
    assert Cloth(5, seconds=0.05).first_measured == 3, "a short run measures its last frame"
    samples = [{"mean strain": m, "max strain": 10 * m, "apart": 0.0} for m in (0.3, 0.1, 0.2)]
    quality = work.summary(samples)
    assert quality["mean strain"] == 0.2
    assert quality["max strain at the end"] == 2.0


def test_the_swing_of_the_bar_is_averaged_out() -> None:
    work = Bar()
    for period in (0.45, 0.5, 0.53):
        for damping in (0.0, 1.0):
            t = np.arange(1, work.frames + 1) * work.dt
            tip = -0.1 * (1 - np.exp(-damping * t) * np.cos(2 * np.pi * t / period))
            quality = work.summary([{"tip": z} for z in tip[work.first_measured - 1 :]])
            assert quality["tip"] == pytest.approx(-0.1, rel=0.01)
    assert work.summary([{"tip": z} for z in (-0.1, -0.3)])["swing"] == pytest.approx(0.2)


def test_the_bars_tip_is_read_from_one_world_or_many() -> None:
    work = Bar()
    sunk = work.vertices - np.array([0, 0, 0.25])
    for x in (sunk, sunk[None], np.stack([sunk, sunk])):
        assert work.measure(x)["tip"] == pytest.approx(-0.25, abs=1e-12)


def test_a_pulled_bar_stretches_as_hooke_says() -> None:
    """Uniform tension with nu = 0 is a patch test: linear tetrahedra give F x/(E A) exactly."""
    work = Bar(8)
    x, tets = work.vertices, work.tets
    on_end = np.array([np.isin(t, work.tip).sum() == 3 for t in tets])
    force = np.zeros_like(x)
    for t in tets[on_end]:
        a, b, c = t[np.isin(t, work.tip)]
        area = 0.5 * np.linalg.norm(np.cross(x[b] - x[a], x[c] - x[a]))
        force[[a, b, c], 0] += 1000.0 * area / 3  # 1 kPa
    u = static_displacements(x, tets, (2.5e6, 0.0), force, work.held)
    assert u[:, 0] == pytest.approx(1000.0 / 5e6 * (x[:, 0] + 0.5), abs=1e-15)
    assert np.abs(u[:, 1:]).max() < 1e-15


def test_the_bar_bends_about_as_far_as_a_beam() -> None:
    """Timoshenko: w L^4/(8 E I) + w L^2/(2 k G A), 0.0992 m; linear tetrahedra come out stiffer."""
    from pliant.bench.compare import static_tip

    work = Bar()
    inertia, area, weight = 0.175**4 / 12, 0.175**2, 1000 * 9.81 * 0.175**2
    mu, _ = work.lame
    beam = weight / (8 * 5e6 * inertia) + weight / (2 * 5 / 6 * mu * area)
    assert beam == pytest.approx(0.0992, abs=1e-4)
    tip, coarse = static_tip(work), static_tip(Bar(20))
    assert len(work.tets) == 9800
    assert 0.8 * beam < -coarse < -tip < beam
    assert tip == pytest.approx(-0.0935, abs=5e-5), "the same mesh under another program for finite elements"


def test_masses_of_the_bar() -> None:
    work = Bar(12)
    assert work.mass.sum() == pytest.approx(1000 * 0.175**2)
    assert work.mass.min() > 0


def test_workloads_travel_as_plain_data() -> None:
    for name, work in (("cloth", Cloth(7, seconds=1.0)), ("worlds", Cloth(5, worlds=3)), ("bar", Bar(8))):
        assert make(name, options(work)) == work
    with pytest.raises(PliantError, match='no workload "rope"'):
        make("rope", {})
