"""Words under the pictures: the protocol in one line, and JSON that every browser reads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from pliant.io.recording import Recording, plain

__all__ = ["json_text", "protocol_text"]


def protocol_text(recording: Recording) -> str:
    """The plain entries of ``meta["protocol"]`` on one line; the step alone where there is no protocol."""
    protocol = recording.meta.get("protocol")
    if not isinstance(protocol, Mapping):
        protocol = {"dt": recording.dt}
    words = []
    for key, value in json.loads(json.dumps(protocol, default=plain)).items():
        text = _value_text(key, value)
        if text:
            words.append(text)
    return " · ".join(words)


def _value_text(key: str, value: Any) -> str | None:
    name = key.replace("_", " ")
    if isinstance(value, bool):
        return f"{name} {'on' if value else 'off'}"
    if isinstance(value, int):
        return f"{name} {value}"
    if isinstance(value, float):
        return f"{name} {1000 * value:.4g} ms" if key == "dt" else f"{name} {value:.4g}"
    if isinstance(value, str):
        return value if key == "solver" else f"{name} {value}"
    return None  # nested entries are in the page's details


def json_text(value: Any) -> str:
    """JSON that ``JSON.parse`` reads and that may stand inside a ``script`` element.

    JSON knows no NaN and no infinity: they become the words ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.
    """
    clean = _finite(json.loads(json.dumps(value, default=plain)))
    return json.dumps(clean, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
