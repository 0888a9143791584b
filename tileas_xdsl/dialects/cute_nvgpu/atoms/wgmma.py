"""The matrix instruction of a warpgroup, `wgmma` (PTX ISA 9.7.15).

Layouts: CUTLASS include/cute/atom/mma_traits_sm90_gmma.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr, i1
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.clauses import WORD, Clause
from tileas_xdsl.dialects.cute.atom.interfaces import AtomField, MmaOperand
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma import MmaType, registers_of
from tileas_xdsl.dialects.cute_nvgpu.atoms.operand_views import descriptors_of
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import KEYWORDS, SHAPE, keywords, text, types
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import TYPES as TYPE_LIST
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ELEMENTS, THREADS, M, ptx_element
from tileas_xdsl.layout import Layout
from tileas_xdsl.target.features import FEATURES, Feature
from tileas_xdsl.target.mma.register_layouts import wgmma_accumulator

FRAGMENTS = ("ss", "rs")
"""Where A and B are: `s` is shared memory by a descriptor, `r` registers."""

MAJORS = ("k", "mn")

K_BITS = 256

_REGISTERS: Mapping[int, str] = {
    16: "wgmma.m64k16.16bit.a", 8: "wgmma.m64k32.8bit.a", 32: "wgmma.m64k8.tf32.a",
}  # fmt: skip
"""By the bits of an element, the layout of A in registers."""


def check_majors(majors: Sequence[str]) -> None:
    """Refuse what is no major of A and one of B."""
    if len(majors) != 2 or any(major not in MAJORS for major in majors):
        raise VerifyException(f"ab_major is of k and mn, not ({', '.join(majors)})")


@irdl_attr_definition
class Sm90MmaType(MmaType, TypeAttribute):
    """`!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (...), frag_kind = ss>`."""

    name = "cute_nvgpu.sm90.mma"
    shape: ArrayAttr[IntAttr]
    majors: ArrayAttr[StringAttr]
    element_types: ArrayAttr[Attribute]
    fragments: StringAttr

    CLAUSES = (
        Clause(SHAPE), Clause(KEYWORDS, "ab_major"), Clause(TYPE_LIST, "elem_type"),
        Clause(WORD, "frag_kind"),
    )  # fmt: skip

    @property
    def minimum_targets(self) -> Sequence[str]:
        return FEATURES[Feature.WGMMA]

    @property
    def threads(self) -> int:
        return THREADS

    @property
    def elements(self) -> tuple[Attribute, ...]:
        return types(self.element_types)

    @property
    def state(self) -> Sequence[AtomField]:
        return (AtomField("accum_c", i1, optional=True),)

    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        m, n, k = self.shape_mnk
        match operand:
            case MmaOperand.C | MmaOperand.D:
                return wgmma_accumulator(n).layout
            case MmaOperand.A if text(self.fragments) == "rs":
                return registers_of(_REGISTERS[K_BITS // k])
            case MmaOperand.A | MmaOperand.B:
                rows = m if operand is MmaOperand.A else n
                return Layout((THREADS, (rows, k)), (0, (1, rows)))
            case _:
                return None

    def fragment_type(
        self, op: Operation, operand: MmaOperand, source: Attribute
    ) -> Attribute | None:
        in_registers = operand is MmaOperand.A and text(self.fragments) == "rs"
        if in_registers or operand not in (MmaOperand.A, MmaOperand.B):
            return super().fragment_type(op, operand, source)
        return descriptors_of(source)

    def verify(self) -> None:
        m, n, k = self.shape_mnk
        a, b, held = (ptx_element(element) for element in self.elements)
        if a not in ELEMENTS or b not in ELEMENTS[a].partners:
            raise VerifyException(f"wgmma has no product of {a} and {b}")
        facts = ELEMENTS[a]
        if k != facts.k:
            raise VerifyException(message("cute_nvgpu.sm90_mma.k", k=k, bits=facts.bits))
        if m != M:
            raise VerifyException(message("cute_nvgpu.sm90_mma.m", m=m))
        if n not in facts.n:
            steps = "8 to 256 in steps of 8"
            if len(facts.n) < 32:
                steps = "8, 16, 24 and 32 to 256 in steps of 16"
            raise VerifyException(f"wgmma has N {steps}, not {n}")
        if held not in facts.accumulators:
            known = " or ".join(facts.accumulators)
            raise VerifyException(f"sums of {a} are of {known}, not of {held}")
        self._check_fragments()

    def _check_fragments(self) -> None:
        majors = keywords(self.majors)
        check_majors(majors)
        element = ptx_element(self.elements[0])
        if "mn" in majors and not ELEMENTS[element].transposes:
            raise VerifyException(f"wgmma reads {element} k-major only")
        if text(self.fragments) not in FRAGMENTS:
            raise VerifyException(
                f"frag_kind is {' or '.join(FRAGMENTS)}, not {text(self.fragments)}"
            )
        if text(self.fragments) == "rs" and majors[0] != "k":
            raise VerifyException("A in registers is k-major")
