"""Contestants that go wrong in all the ways a library can, and one that does not."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np

from pliant.bench.contestants import Contestant
from pliant.bench.workloads import Cloth


class Still:
    """A sheet that stays where it is until ``event`` happens in frame ``when``."""

    def __init__(self, work: Cloth, event: Callable[[np.ndarray], None], when: int) -> None:
        self.x = work.mesh.vertices.copy()
        self.event, self.when, self.frame = event, when, 0

    def step(self) -> None:
        self.frame += 1
        print("a library that talks on standard output")
        if self.frame == self.when:
            self.event(self.x)

    def positions(self) -> np.ndarray:
        return self.x


def nothing(x: np.ndarray) -> None:
    pass


def crash(x: np.ndarray) -> None:
    print("Warning: about to go", flush=True)
    os._exit(7)


def die(x: np.ndarray) -> None:
    os.abort()


def hang(x: np.ndarray) -> None:
    threading.Event().wait()


def lose(x: np.ndarray) -> None:
    x[3] = np.nan


def explode(x: np.ndarray) -> None:
    x[3] = [0.0, 0.0, -4000.0]


def complain(x: np.ndarray) -> None:
    raise ValueError("\nthe matrix is\nsingular")


def refuse(work: Cloth) -> Still:
    raise ImportError("libnothing.so.1: cannot open shared object file")


def entry(name: str, event: Callable[[np.ndarray], None], when: int = 3) -> Contestant:
    return Contestant(name, "cloth", "numpy", name, lambda work: Still(work, event, when), same="still")


CONTESTANTS = [
    entry("good", nothing),
    entry("crashes", crash),
    entry("dies", die),
    entry("hangs", hang, 7),
    entry("hangs at once", hang, 1),
    entry("loses a vertex", lose),
    entry("explodes", explode),
    entry("complains", complain),
    Contestant("refuses", "cloth", "numpy", "refuses", refuse),
]
