"""What `tcgen05.mma` may not combine: thirteen rules, the first that is broken is the error.

Source: the verifier of LLVM's NVPTX backend for the forms of tcgen05.mma; PTX ISA 9.7.16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.target_attribute import target_of
from tileas_xdsl.target.features import FEATURES, Feature
from tileas_xdsl.target.tiers import meets_any, tier

TENSOR_TARGETS = FEATURES[Feature.TCGEN05]
"""Targets that have tensor memory, with those of their families."""

ONE_OR_TWO_BLOCKS = number_among(i32, (1, 2), "is of 1 or 2 blocks, not {given}")
"""How many CTAs execute an instruction (`cta_group`)."""

PLAIN_KINDS = ("f16", "tf32", "f8f6f4", "i8")
FP4_KINDS = ("mxf4", "mxf4nvf4")
SCALED_KINDS = ("mxf8f6f4", *FP4_KINDS)

SCALED_INPUT_TARGETS = FEATURES[Feature.TCGEN05_SCALED_INPUT]
"""Targets that can scale the accumulator before a product is added; not those of sm_110."""


@dataclass(frozen=True, slots=True)
class UmmaForm:
    """A form of the instruction, and for which target; None where no target is known."""

    kind: str
    target: str | None = None
    sparse: bool = False
    block_scale: bool = False
    scale_vec: str = ""
    """`1X`, `2X`, `4X`, or nothing where the kind decides."""
    scale_input: bool = False
    ashift: bool = False
    blocks: int = 1
    weight_stationary: bool = False
    collector: str = ""

    @property
    def is_conditional(self) -> bool:
        """Whether the target is of one chip only, as far as it is known."""
        return self.target is None or tier(self.target).feature_set == "a"


def _lacks_scaled_input(form: UmmaForm) -> bool:
    known = form.target is not None and not meets_any(form.target, SCALED_INPUT_TARGETS)
    return form.scale_input and known


RULES: Sequence[tuple[str, Callable[[UmmaForm], bool]]] = (
    (
        "tcgen05.mma.int8_target",
        lambda f: f.kind == "i8" and not f.is_conditional,
    ),
    (
        "tcgen05.mma.fp4_sparse_target",
        lambda f: f.sparse and f.kind in FP4_KINDS and not f.is_conditional,
    ),
    (
        "tcgen05.mma.scale_vec_target",
        lambda f: f.scale_vec != "" and not f.is_conditional,
    ),
    ("tcgen05.mma.scale_input_target", _lacks_scaled_input),
    (
        "tcgen05.mma.scale_input_kind",
        lambda f: f.scale_input and f.kind not in ("f16", "tf32"),
    ),
    (
        "tcgen05.mma.block_scale_kind",
        lambda f: f.block_scale and f.kind in PLAIN_KINDS,
    ),
    (
        "tcgen05.mma.ashift_block_scale",
        lambda f: f.ashift and f.block_scale,
    ),
    (
        "tcgen05.mma.weight_stationary_pair",
        lambda f: f.weight_stationary and f.blocks == 2,
    ),
    (
        "tcgen05.mma.weight_stationary_kind",
        lambda f: f.weight_stationary and f.kind in SCALED_KINDS,
    ),
    (
        "tcgen05.mma.ashift_collector",
        lambda f: f.ashift and f.collector in ("use", "fill"),
    ),
    (
        "tcgen05.mma.mxf8f6f4_scale_vec",
        lambda f: f.kind == "mxf8f6f4" and f.scale_vec in ("2X", "4X"),
    ),
    (
        "tcgen05.mma.mxf4nvf4_scale_vec",
        lambda f: f.kind == "mxf4nvf4" and f.scale_vec == "1X",
    ),
    (
        "tcgen05.mma.mxf4_scale_vec",
        lambda f: f.kind == "mxf4" and f.scale_vec in ("1X", "4X"),
    ),
)
"""The key of each rule's message, and whether a form breaks it."""


def check_rules(op: Operation, form: UmmaForm) -> None:
    """Refuse a form that breaks a rule."""
    for key, breaks in RULES:
        if breaks(form):
            raise op_error(op, message(key))


def check_tensor_target(op: Operation, instruction: str) -> None:
    """Refuse `tcgen05.mma` or `tcgen05.wait` for a target without tensor memory."""
    target = target_of(op)
    if target is not None and not meets_any(target, TENSOR_TARGETS):
        raise op_error(op, message(_TARGET_MESSAGES[instruction]))


_TARGET_MESSAGES = {
    "mma": "tcgen05.mma.target",
    "wait": "tcgen05.wait.target",
}
