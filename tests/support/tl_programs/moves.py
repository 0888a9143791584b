"""Random block-level operations: copies, reductions, cumulative sums."""

from __future__ import annotations

from tests.support.tl_programs.loops import fill
from tests.support.tl_programs.values import LIMITS
from tests.support.tl_programs.writer import ELEMENTS, Buffer, Writer

MOST_EXACT = 1 << 24
"""Bound below which integer sums in f32 are exact in any order."""


def loaded(w: Writer, shape: tuple[int, ...] | None = None, space: str = "") -> Buffer:
    """Emit a copy of a region of a new array, possibly out of bounds, to a new buffer."""
    shape = shape or w.shape()
    element = w.choose(ELEMENTS)
    buffer = w.allocated(shape, element, space or w.choose(("fragment", "fragment", "shared")))
    lacks = w.chance(4)
    extents = tuple(max(1, e + (w.number(-3, 3) if lacks else 0)) for e in shape)
    array = w.array(extents, w.choose((element, element, "f32")) if element != "i32" else element)
    at = ""
    if w.chance(3):
        offsets = [w.constant(w.number(0, 2), "index") for _ in shape]
        at = f"[{', '.join(offsets)}]"
    w.line(f"tl.copy {array.name}{at} to {buffer.name} : {array.type} to {buffer.type}")
    w.mark("copy in")
    w.readable.append(buffer)
    return buffer


def moved(w: Writer, source: Buffer) -> None:
    """Emit a copy between buffers of the block."""
    bound = w.bounds.get(source.name, 4)
    narrow = ("f16",) if source.element != "i32" and bound <= LIMITS["f16"] else ()
    element = w.choose((source.element, *narrow))
    target = w.allocated(source.shape, element, w.choose(("fragment", "shared")))
    w.line(f"tl.copy {source.name} to {target.name} : {source.type} to {target.type}")
    w.mark("copy inside")
    w.bounds[target.name] = bound
    w.readable.append(target)


def stored(w: Writer, source: Buffer) -> None:
    """Emit a copy to an array."""
    if w.blocks:
        return
    shape = tuple(max(1, extent + w.choose((0, 0, 2, -1))) for extent in source.shape)
    array = w.output(shape, source.element)
    w.line(f"tl.copy {source.name} to {array.name} : {source.type} to {array.type}")
    w.mark("copy out")


def reduced(w: Writer, source: Buffer) -> None:
    """Emit a reduction along an axis, without f16 sums, which depend on the order."""
    if source.space != "fragment" or len(source.shape) < 2:
        return
    axis = w.number(0, len(source.shape) - 1)
    keeps = w.chance(3)
    middle = (1,) if keeps else ()
    shape = (*source.shape[:axis], *middle, *source.shape[axis + 1 :])
    bound = w.bounds.get(source.name, 4)
    is_exact = source.element != "f16" and bound * source.shape[axis] < MOST_EXACT
    kind = w.choose(("max", "min", "absmax", *(("sum", "abssum") if is_exact else ())))
    target = w.allocated(shape, source.element, "fragment")
    flags = ["keep_dims"] if keeps else []
    if w.chance(4):
        fill(w, target)
        flags.append("clear = false")
    options = f" {{{', '.join(flags)}}}" if flags else ""
    w.line(
        f"tl.reduce {kind} {source.name} to {target.name} axis {axis}{options} "
        f": {source.type} to {target.type}"
    )
    w.mark("kept axis" if keeps else "reduction")
    w.bounds[target.name] = 4 + bound * (source.shape[axis] if "sum" in kind else 1)
    w.readable.append(target)


def summed(w: Writer, source: Buffer) -> None:
    """Emit cumulative sums along an axis."""
    bound = w.bounds.get(source.name, 4)
    is_exact = source.element != "f16" and bound * max(source.shape) < MOST_EXACT
    if source.space != "fragment" or not is_exact:
        return
    target = w.allocated(source.shape, source.element, "fragment")
    axis, flag = w.number(0, len(source.shape) - 1), w.choose(("", " {reverse}"))
    w.line(
        f"tl.cumsum {source.name} to {target.name} axis {axis}{flag} "
        f": {source.type} to {target.type}"
    )
    w.mark("running sums")
    w.bounds[target.name] = bound * max(source.shape)
    w.readable.append(target)
