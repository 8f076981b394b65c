"""Charts of curves on logarithmic axes, as SVG: no package needed, and they print well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

COLOURS = ("#1b6ca8", "#c2571a", "#4a8c3f", "#7b4fa3", "#8a6d1f")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 80, 20, 44, 56


@dataclass(frozen=True)
class Curve:
    """A name and points (x, y) that are greater than 0; others are left out."""

    name: str
    points: Sequence[tuple[float, float]]

    @property
    def shown(self) -> list[tuple[float, float]]:
        """Logarithms of the points that have one."""
        return [(log10(x), log10(y)) for x, y in self.points if x > 0 and y > 0]


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = floor(min(values)), ceil(max(values))
    return low, max(high, low + 1)


def chart(title: str, x_label: str, y_label: str, curves: Sequence[Curve]) -> str:
    """An SVG picture of the curves, both axes logarithmic, a legend beside the last points."""
    points = [p for c in curves for p in c.shown] or [(0.0, 0.0)]
    x0, x1 = _decades([p[0] for p in points])
    y0, y1 = _decades([p[1] for p in points])

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * (x - x0) / (x1 - x0)
        return across, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - y0) / (y1 - y0)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="13"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15">{escape(title)}</text>',
    ]
    for k in range(x0, x1 + 1):
        (x, low), (_, high) = at(k, y0), at(k, y1)
        out.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{low + 18:.1f}" text-anchor="middle">{10.0**k:g}</text>')
    for k in range(y0, y1 + 1):
        (left, y), (right, _) = at(x0, k), at(x1, k)
        out.append(f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{10.0**k:g}</text>')
    for n, curve in enumerate(curves):
        colour = COLOURS[n % len(COLOURS)]
        places = [at(*p) for p in curve.shown]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y = TOP + 16 + 18 * n
        out.append(f'<path d="M{WIDTH - 190} {y - 4}h22" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{WIDTH - 162}" y="{y}">{escape(curve.name)}</text>')
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">{escape(x_label)}</text>')
    height = TOP + (HEIGHT - TOP - BOTTOM) / 2
    turned = f'transform="rotate(-90 18 {height})"'
    out.append(f'<text x="18" y="{height}" text-anchor="middle" {turned}>{escape(y_label)}</text></svg>\n')
    return "\n".join(out)
