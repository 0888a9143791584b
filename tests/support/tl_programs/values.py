"""Per-iteration arithmetic on small integers, exact in any order and width."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.tl_programs.writer import Buffer, Writer

CONVERSIONS = {
    ("f16", "f32"): "extf",
    ("f32", "f16"): "truncf",
    ("i32", "f32"): "sitofp",
    ("i32", "f16"): "sitofp",
    ("f32", "i32"): "fptosi",
    ("f16", "i32"): "fptosi",
}
"""`arith` conversions by source and result type."""

OPERATIONS = {
    "f32": ("addf", "subf", "maximumf", "minimumf"),
    "f16": ("addf", "subf", "maximumf", "minimumf"),
    "i32": ("addi", "subi", "maxsi", "minsi"),
}
"""`arith` operations by type that keep small integers small and integral."""

LIMITS = {"f32": 1 << 16, "f16": 256, "i32": 1 << 16}
"""Magnitude limits by type for exact sums and multiples."""

SCALES = {"f32": "mulf", "f16": "mulf", "i32": "muli"}
"""Multiplication by type."""


def converted(w: Writer, value: str, element: str, wanted: str) -> str:
    """Convert a value to another type."""
    if element == wanted:
        return value
    if element == "i32" and wanted == "f16":
        value, element = converted(w, value, "i32", "f32"), "f32"
    if element == "f16" and wanted == "i32":
        value, element = converted(w, value, "f16", "f32"), "f32"
    name = CONVERSIONS[element, wanted]
    return w.let("v", f"arith.{name} {value} : {element} to {wanted}")


def small(w: Writer, value: str, element: str, bound: int, limit: int) -> str:
    """Reduce a value of magnitude `bound` to at most `limit`."""
    if bound <= limit:
        return value
    low, high = w.constant(-limit, element), w.constant(limit, element)
    most, least = ("minsi", "maxsi") if element == "i32" else ("minimumf", "maximumf")
    value = w.let("v", f"arith.{most} {value}, {high} : {element}")
    return w.let("v", f"arith.{least} {value}, {low} : {element}")


def combined(
    w: Writer, values: Sequence[tuple[str, Buffer]], element: str, limit: int = 0
) -> tuple[str, int]:
    """Combine all values into one of a type; return it with its bound.

    With a limit the values are clamped and not scaled, so that they can be summed.
    """
    results, bounds = list[str](), list[int]()
    for value, buffer in values:
        bound = w.bounds.get(buffer.name, 4)
        most = min(bound, limit or LIMITS[element])
        cut = small(w, value, buffer.element, bound, most)
        results.append(converted(w, cut, buffer.element, element))
        bounds.append(most)
    result = results[0]
    for other in results[1:]:
        operation = w.choose(OPERATIONS[element])
        result = w.let("v", f"arith.{operation} {result}, {other} : {element}")
    if limit or not w.chance(3):
        return result, sum(bounds)
    scale = w.constant(w.choose((-1, 2)), element)
    result = w.let("v", f"arith.{SCALES[element]} {result}, {scale} : {element}")
    return result, 2 * sum(bounds)
