"""Conflict errors of TileLang's inference: recoverable for one order, else final."""

from __future__ import annotations

from tileas_xdsl.inference.decisions import InferenceError


class LayoutConflict(InferenceError):  # noqa: N818 (it is what TileLang calls it)
    """Layouts that do not fit: in free mode another operation may decide first."""
