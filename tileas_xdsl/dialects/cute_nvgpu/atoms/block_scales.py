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
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma import FP4, FP6, FP8

QMMA_K = 32

OMMA_SCALES: Mapping[int, tuple[type[Attribute], ...]] = {
    32: (Float8E8M0FNUType,),
    16: (Float8E4M3FNType, Float8E8M0FNUType),
}
"""By the elements that share one: scale factors of elements of 4 bits."""

SCALE_NAMES: Mapping[Attribute, str] = {Float8E8M0FNUType(): "ue8m0", Float8E4M3FNType(): "ue4m3"}
"""What PTX calls the types of scale factors."""


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
            listed = ",".join(map(str, shape))
            raise VerifyException(message("cute_nvgpu.sm100_mma_bs.shape", shape=listed))


def _check_qmma(elements: Sequence[Attribute], scale: Attribute, vector: int) -> None:
    if vector != QMMA_K:
        raise VerifyException(message("cute_nvgpu.sm100_mma_bs.qmma_vec_size", size=vector))
    *operands, held = elements
    known = all(isinstance(element, FP8 + FP6 + FP4) for element in operands)
    if not known or not isinstance(held, Float32Type):
        a, b = operands
        types = {"a": a, "b": b, "accumulator": held}
        raise VerifyException(message("cute_nvgpu.sm100_mma_bs.qmma_types", **types))
    if not isinstance(scale, Float8E8M0FNUType):
        raise VerifyException(message("cute_nvgpu.sm100_mma_bs.qmma_scale", type=scale))


def _check_omma(
    elements: Sequence[Attribute], scale: Attribute, vector: int, majors: Sequence[str]
) -> None:
    a, b, held = elements
    known = all(isinstance(element, FP4) for element in (a, b))
    if not known or not isinstance(held, Float32Type):
        types = {"a": a, "b": b, "accumulator": held}
        raise VerifyException(message("cute_nvgpu.sm100_mma_bs.omma_types", **types))
    if not isinstance(scale, OMMA_SCALES.get(vector, ())):
        text = message("cute_nvgpu.sm100_mma_bs.vec_size", size=vector, a=a, b=b, scale=scale)
        raise VerifyException(text)
    if tuple(majors) != ("k", "k"):
        raise VerifyException(message("cute_nvgpu.sm100_mma_bs.majors"))
