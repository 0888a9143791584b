"""Which elements, scale factors and vectors of them a product with block scales takes.

| K | vector | elements | scale factors | kind |
|---|---|---|---|---|
| 32 | 32 | any of 8, 6 and 4 bits | f8E8M0FNU | mxf8f6f4 |
| 64 | 32 | f4E2M1FN | f8E8M0FNU | mxf4 |
| 64 | 16 | f4E2M1FN | f8E4M3FN, f8E8M0FNU | mxf4nvf4 |

Source: PTX ISA 9.7.16, kinds of tcgen05.mma; 9.7.14.5.14, mma with block scaling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E8M0FNUType, Float32Type
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cute.literals import literal
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma import FP4, FP6, FP8

QMMA_K, OMMA_K = 32, 64

OMMA_SCALES: Mapping[int, tuple[type[Attribute], ...]] = {
    32: (Float8E8M0FNUType,),
    16: (Float8E4M3FNType, Float8E8M0FNUType),
}
"""By the elements that share one: scale factors of elements of 4 bits."""

_OMMA_SAMPLES = ("f8E4M3FN", "f4E2M1FN", "f32")
_QMMA_SAMPLES = ("f8E4M3FN", "f6E2M3FN", "f16")


def check_scales(
    shape: tuple[int, int, int],
    elements: Sequence[Attribute],
    scale: Attribute,
    vector: int,
    majors: Sequence[str] = ("k", "k"),
    step: int = 1,
) -> None:
    """Refuse a combination that no instruction has; `step` is 2 for sparse products."""
    match shape[2] // step if shape[2] % step == 0 else 0:
        case 32:
            _check_qmma(elements, scale, vector)
        case 64:
            _check_omma(elements, scale, vector, majors)
        case _:
            key = "cannot-find-a-legal-mma-instruction-for-the-given-shape-mnk-cute"
            listed = ",".join(map(str, shape))
            raise VerifyException(literal(key, ("128,128,96", listed)))


def _check_qmma(elements: Sequence[Attribute], scale: Attribute, vector: int) -> None:
    if vector != QMMA_K:
        key = "expects-vec-size-is-32-in-qmma-but-got-vec-size-16"
        raise VerifyException(literal(key, ("vecSize=16", f"vecSize={vector}")))
    *operands, held = elements
    known = all(isinstance(element, FP8 + FP6 + FP4) for element in operands)
    if not known or not isinstance(held, Float32Type):
        key = "expects-qmma-acceptable-types-but-got-f8e4m3fn-f6e2m3fn-f16"
        raise VerifyException(literal(key, *zip(_QMMA_SAMPLES, elements, strict=True)))
    if not isinstance(scale, Float8E8M0FNUType):
        key = "expects-sf-type-to-be-e8m0-in-qmma-but-got-f8e4m3fn"
        raise VerifyException(literal(key, ("f8E4M3FN", scale)))


def _check_omma(
    elements: Sequence[Attribute], scale: Attribute, vector: int, majors: Sequence[str]
) -> None:
    a, b, held = elements
    known = all(isinstance(element, FP4) for element in (a, b))
    if not known or not isinstance(held, Float32Type):
        key = "expects-omma-acceptable-types-but-got-f8e4m3fn-f4e2m1fn-f32"
        raise VerifyException(literal(key, *zip(_OMMA_SAMPLES, elements, strict=True)))
    if not isinstance(scale, OMMA_SCALES.get(vector, ())):
        key = "given-vec-size-32-is-not-supported-or-has-conflict-with-other"
        samples = (("32", vector), ("f4E2M1FN", a), ("f4E2M1FN", b), ("f8E4M3FN", scale))
        raise VerifyException(literal(key, *samples))
    if tuple(majors) != ("k", "k"):
        raise VerifyException(message("expects-both-a-b-major-mode-to-be-k-major"))
