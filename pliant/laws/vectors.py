"""Arithmetic of triples."""

from __future__ import annotations

from typing import Any

from ..backend.jit import law

Vec = tuple[Any, Any, Any]


@law
def dot(a: Vec, b: Vec) -> Any:
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@law
def cross(a: Vec, b: Vec) -> Vec:
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@law
def plus(a: Vec, b: Vec) -> Vec:
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@law
def minus(a: Vec, b: Vec) -> Vec:
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@law
def times(s: Any, a: Vec) -> Vec:
    """s a"""
    return (s * a[0], s * a[1], s * a[2])


@law
def mix(s: Any, a: Vec, t: Any, b: Vec) -> Vec:
    """s a + t b"""
    return (s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2])


@law
def opposite_sum(a: Vec, b: Vec) -> Vec:
    """-(a + b)"""
    return (-(a[0] + b[0]), -(a[1] + b[1]), -(a[2] + b[2]))
