"""Forms of `cvt` and `cvt.pack`.

Source: PTX ISA 9.7.9.21 and 9.7.9.22, checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import ANYWHERE, Requirement, since
from tileas_xdsl.target.isa.tables.arithmetic.floating import ROUNDINGS

TO_INTEGERS = ("rni", "rzi", "rmi", "rpi")
"""Roundings of floats to integral values."""

_INTEGERS = tuple(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64))
_WIDTHS = {"f16": 16, "f32": 32, "f64": 64}
_UNARY = "d:to, a:source"
_PACKING = "d:to, a:f32, b:f32"
_SATFINITE = since((8, 1), 80)
_HALVES = since((7, 0), 80)
_BRAINS = since((7, 8), 90)
_BYTES = since((7, 8), 90)
_NARROW = since((8, 6), 100, Feature.NARROW_FLOATS)
"""Floats of 4 and 6 bits, and scales."""
_STOCHASTIC = since((8, 7), 100, Feature.STOCHASTIC_ROUNDING)

Forms = Iterator[InstructionForm]


def _row(
    modifiers: str,
    pair: tuple[str, str],
    operands: str = _UNARY,
    needs: Requirement = ANYWHERE,
    rounding: tuple[str, ...] = ROUNDINGS,
) -> InstructionForm:
    """`cvt` to and from a pair of types."""
    saturation = ("sat",) if "satfinite" not in modifiers else ("satfinite",)
    syntax = f"cvt{modifiers.replace('satfinite', 'saturation')}.to.source"
    return form(syntax, operands, needs, rounding=rounding, saturation=saturation,
                to=pair[:1], source=pair[1:])  # fmt: skip


def _integers() -> Forms:
    for source in _INTEGERS:
        for to in _INTEGERS:
            saturation = "" if _holds(to, source) else "{.saturation}"
            yield _row(saturation, (to, source))
        for to in _WIDTHS:
            ftz = "{.ftz}" * (to == "f32")
            yield _row(f".rounding{ftz}{{.saturation}}", (to, source))
            yield _row(f".rounding{ftz}{{.saturation}}", (source, to), rounding=TO_INTEGERS)
        if int(source[1:]) > 8:
            yield _row(".rounding", ("bf16", source), needs=_BRAINS)
            yield _row(".rounding", (source, "bf16"), needs=_BRAINS, rounding=TO_INTEGERS)


def _holds(to: str, source: str) -> bool:
    """Return whether every value of `source` is one of `to`, so that there is nothing to clamp."""
    wider = int(to[1:]) - int(source[1:])
    if to[0] == source[0]:
        return wider >= 0
    return to[0] == "s" and wider > 0


def _floats() -> Forms:
    for source, width in _WIDTHS.items():
        for to, to_width in _WIDTHS.items():
            ftz = "{.ftz}" * ("f32" in (to, source))
            if to == source:
                yield _row(f"{{.rounding}}{ftz}{{.saturation}}", (to, source), rounding=TO_INTEGERS)
            else:
                rounding = ".rounding" * (to_width < width)
                yield _row(f"{rounding}{ftz}{{.saturation}}", (to, source))
    nearest = ("rn", "rz")
    yield _row(".rounding.relu", ("f16", "f32"), needs=_HALVES, rounding=nearest)
    yield _row(".rounding{.relu}.satfinite", ("f16", "f32"), needs=_SATFINITE, rounding=nearest)
    yield _row(".rounding{.relu}", ("bf16", "f32"), needs=_HALVES, rounding=nearest)
    yield _row(".rounding{.relu}.satfinite", ("bf16", "f32"), needs=_SATFINITE, rounding=nearest)
    yield _row("", ("f32", "bf16"), needs=since((7, 1), 80))
    yield _row("{.rounding}{.ftz}", ("f32", "bf16"), needs=_BRAINS)
    yield _row("{.rounding}", ("f16", "bf16"), needs=_BRAINS)
    yield _row("{.rounding}", ("f64", "bf16"), needs=_BRAINS)
    yield _row("{.rounding}", ("bf16", "f16"), needs=_BRAINS)
    yield _row(".rounding", ("bf16", "f64"), needs=_BRAINS)
    yield _row("{.rounding}", ("bf16", "bf16"), needs=_BRAINS, rounding=TO_INTEGERS)
    yield _row(".rounding", ("bf16", "f32"), needs=_BRAINS, rounding=("rm", "rp"))
    yield _row(".rounding", ("tf32", "f32"), needs=_HALVES, rounding=("rna",))
    yield _row(".rounding.satfinite", ("tf32", "f32"), needs=_SATFINITE, rounding=("rna",))
    yield _row(".rounding{.relu}", ("tf32", "f32"), needs=_BRAINS, rounding=nearest)
    yield _row(".rounding{.relu}.satfinite", ("tf32", "f32"), needs=since((8, 6), 100),
               rounding=nearest)  # fmt: skip


def _packed() -> Forms:
    nearest = ("rn", "rz")
    for to in ("f16x2", "bf16x2"):
        yield _row(".rounding{.relu}", (to, "f32"), _PACKING, _HALVES, nearest)
        yield _row(".rounding{.relu}.satfinite", (to, "f32"), _PACKING, _SATFINITE, nearest)
    for packed in ("e4m3x2", "e5m2x2"):
        yield _row(".rounding.satfinite{.relu}", (packed, "f32"), _PACKING, _BYTES, ("rn",))
        yield _row(".rounding.satfinite{.relu}", (packed, "f16x2"), needs=_BYTES, rounding=("rn",))
        yield _row(".rounding.satfinite{.relu}", (packed, "bf16x2"),
                   needs=_NARROW.joined(since((9, 1))), rounding=("rn",))  # fmt: skip
        yield _row(".rounding{.relu}", ("f16x2", packed), needs=_BYTES, rounding=("rn",))
    for packed in ("e2m3x2", "e3m2x2", "e2m1x2"):
        yield _row(".rounding.satfinite{.relu}", (packed, "f32"), _PACKING, _NARROW, ("rn",))
        yield _row(".rounding{.relu}", ("f16x2", packed), needs=_NARROW, rounding=("rn",))
        for halves in ("f16x2", "bf16x2"):
            yield _row(".rounding.satfinite{.relu}", (packed, halves),
                       needs=_NARROW.joined(since((9, 1))), rounding=("rn",))  # fmt: skip
    for to in ("f16x2", "bf16x2"):
        yield _row(".rounding{.relu}", (to, "f32"), f"{_PACKING}, r:b32", _STOCHASTIC, ("rs",))
        yield _row(".rounding{.relu}.satfinite", (to, "f32"), f"{_PACKING}, r:b32", _STOCHASTIC,
                   ("rs",))  # fmt: skip
    for packed in ("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"):
        yield _row(".rounding.satfinite{.relu}", (packed, "f32"), "d:to, <a:f32*4>, r:b32",
                   _STOCHASTIC, ("rs",))  # fmt: skip
    scales = ("rz", "rp")
    yield _row(".rounding{.satfinite}", ("ue8m0x2", "f32"), _PACKING, _NARROW, scales)
    yield _row(".rounding{.satfinite}", ("ue8m0x2", "bf16x2"), needs=_NARROW, rounding=scales)
    yield _row(".rounding", ("bf16x2", "ue8m0x2"), needs=_NARROW, rounding=("rn",))


FORMS = (
    *_integers(),
    *_floats(),
    *_packed(),
    form("cvt.pack.sat.to.s32", "d:b32, a:s32, b:s32", since((6, 5), 72), to=("u16", "s16")),
    form("cvt.pack.sat.to.s32.b32", "d:b32, a:s32, b:s32, c:b32", since((6, 5), 72),
         to=("u8", "s8")),
    form("cvt.pack.sat.to.s32.b32", "d:b32, a:s32, b:s32, c:b32", since((6, 5), 75),
         to=("u4", "s4", "u2", "s2")),
)  # fmt: skip
