"""Copies of threads and warps: plain ones, `cp.async`, matrices in shared memory.

Matrix forms: PTX ISA 9.7.14.5.15 (ldmatrix) and 9.7.14.5.16 (stmatrix).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import BoolAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.clauses import INTEGER, TYPE, WORD, Clause, ClausedType, flag
from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType, CopyCall
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.atoms.mma import registers_of
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import TUPLE, integer, text, unit
from tileas_xdsl.layout import Layout, coalesce, composition, make_layout
from tileas_xdsl.target.features import FEATURES, Feature

BITS = unit("b")

COPY_BITS = (8, 16, 32, 64, 128)
"""What one thread loads or stores at once."""

MEM_ORDERS = (
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "sc",
    "mmio",
    "constant",
    "volatile",
    "weak",
)
MEM_SCOPES = ("cta", "cluster", "gpu", "sys")

ASYNC_BYTES: Mapping[str, Sequence[int]] = {"always": (4, 8, 16), "global": (16,)}
"""By the caches that `cp.async` uses, the bytes that it copies (PTX ISA 9.7.9.25.3.1)."""


@irdl_attr_definition
class UniversalCopyType(ClausedType, CopyAtomType, TypeAttribute):
    """`!cute_nvgpu.atom.universal_copy<f16, 128 b>`: loads and stores of one thread.

    `, mem_order = acquire, mem_scope = gpu` say how it is ordered; absent, it is weak.
    """

    name = "cute_nvgpu.atom.universal_copy"
    value_type: Attribute
    bits: IntAttr
    dsmem: BoolAttr
    order: StringAttr
    scope: StringAttr

    CLAUSES = (
        Clause(TYPE), Clause(BITS), Clause(flag("allow_dsmem"), default=BoolAttr.from_bool(False)),
        Clause(WORD, "mem_order", default=StringAttr("")),
        Clause(WORD, "mem_scope", default=StringAttr("")),
    )  # fmt: skip

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_90",) if self.dsmem.value.data else ()

    @property
    def copy_bits(self) -> int | None:
        return integer(self.bits)

    def verify(self) -> None:
        if integer(self.bits) not in COPY_BITS:
            known = ", ".join(map(str, COPY_BITS))
            raise VerifyException(f"a thread copies {known} bits, not {integer(self.bits)}")
        for value, known in ((text(self.order), MEM_ORDERS), (text(self.scope), MEM_SCOPES)):
            if value and value not in known:
                raise VerifyException(f"a copy is {', '.join(known)}, not {value}")


@irdl_attr_definition
class SimtAsyncCopyType(ClausedType, CopyAtomType, TypeAttribute):
    """`!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>`: `cp.async` of one thread."""

    name = "cute_nvgpu.atom.simt_async_copy"
    value_type: Attribute
    cache: StringAttr
    bits: IntAttr

    CLAUSES = (Clause(TYPE), Clause(WORD, "cache"), Clause(BITS))
    SOURCE_SPACES = (AddressSpace.GMEM,)

    @property
    def minimum_targets(self) -> Sequence[str]:
        return ("sm_80",)

    @property
    def copy_bits(self) -> int | None:
        return integer(self.bits)

    def check_copy(self, op: Operation, call: CopyCall) -> None:
        for type_ in call.destinations:
            if isinstance(type_, MemRefType) and type_.space is not AddressSpace.SMEM:
                raise op_error(op, message("cute_nvgpu.cp_async.destination", space=type_.space))

    def verify(self) -> None:
        cache, bits = text(self.cache), integer(self.bits)
        if bits not in (32, 64, 128):
            raise VerifyException(message("cute_nvgpu.cp_async.vector_width"))
        if cache not in ASYNC_BYTES:
            raise VerifyException(f"cp.async uses the caches {', '.join(ASYNC_BYTES)}, not {cache}")
        if bits // 8 not in ASYNC_BYTES[cache]:
            raise VerifyException(f"cp.async with cache = {cache} copies 16 bytes, not {bits // 8}")


class MatrixForm(NamedTuple):
    """A form of ldmatrix: extents of a matrix, whether it is transposed, how bytes are unpacked."""

    shape: tuple[int, int]
    transposed: bool
    patterns: tuple[str, ...]
    counts: tuple[int, ...]
    targets: Sequence[str]


_UNPACKED = ("u4x16p64to8", "u6x16p32to8")
_BYTES_TARGETS = FEATURES[Feature.NARROW_MATRICES]
LOADS: Sequence[MatrixForm] = (
    MatrixForm((8, 8), False, ("u16",), (1, 2, 4), ("sm_75",)),
    MatrixForm((8, 8), True, ("u16",), (1, 2, 4), ("sm_75",)),
    MatrixForm((8, 16), False, ("u4to8", "s4to8", *_UNPACKED), (1, 2, 4), _BYTES_TARGETS),
    MatrixForm((8, 32), False, ("u2to4", "s2to4"), (1, 2, 4), _BYTES_TARGETS),
    MatrixForm((16, 16), True, ("u8", *_UNPACKED), (1, 2), _BYTES_TARGETS),
)
"""Modes of LDSM: .M88, .MT88, .M816, .M832 and .MT1616."""

STORES: Sequence[MatrixForm] = (
    MatrixForm((8, 8), False, ("u16",), (1, 2, 4), ("sm_90",)),
    MatrixForm((8, 8), True, ("u16",), (1, 2, 4), ("sm_90",)),
    MatrixForm((16, 8), True, ("u8",), (1, 2, 4), _BYTES_TARGETS),
)
"""Modes of STSM; the bits of the values say the pattern."""

DIRECTIONS = ("n", "t")
"""How a type writes a matrix as it lies, and transposed."""


class MatrixCopyType(ClausedType, CopyAtomType):
    """A copy of matrices by a warp."""

    if TYPE_CHECKING:
        mode: IntTupleType
        count: IntAttr
        direction: StringAttr

    @property
    def threads(self) -> int:
        return 32

    def form(self, forms: Sequence[MatrixForm], pattern: str) -> MatrixForm | None:
        """The form that the type names; None if there is none."""
        for form in forms:
            same = form.shape == self.mode.data and pattern in form.patterns
            direction = DIRECTIONS[form.transposed]
            if same and text(self.direction) == direction and integer(self.count) in form.counts:
                return form
        return None

    @property
    def copy_bits(self) -> int | None:
        """A warp gives 32 bits a thread of each matrix of 64 elements, twice that of 256."""
        return 32 * integer(self.count) * (2 if self.mode.data == (16, 16) else 1)

    def layout_of(self, instruction: str, side: str, bits: int) -> Layout | None:
        """(thread, bit) to bit; None where no instruction has the form."""
        m, n = self.mode.data
        way = ".trans" if text(self.direction) == "t" else ""
        name = f"{instruction}.m{m}n{n}.x{integer(self.count)}{way}.b{bits}.{side}"
        layout = registers_of(name)
        return None if layout is None else in_bits(layout, bits)


def in_bits(layout: Layout, bits: int) -> Layout:
    """(thread, bit) to bit, of (thread, value) to element; the bits of a value run first.

    `recast_layout` puts them where the stride is 1, which is among the threads of a transposed
    matrix (CUTLASS include/cute/atom/copy_traits_sm75.hpp has `((4,8),(16,2)):((256,16),(1,128))`).
    """
    threads, values = (composition(Layout(mode.cosize(), bits), mode) for mode in layout)
    return make_layout(threads, coalesce(make_layout(Layout(bits, 1), values)))


@irdl_attr_definition
class LdsmType(MatrixCopyType, TypeAttribute):
    """`!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, ..., n>`."""

    name = "cute_nvgpu.atom.ldsm"
    value_type: Attribute
    mode: IntTupleType
    pattern: StringAttr
    count: IntAttr
    direction: StringAttr

    CLAUSES = (
        Clause(TYPE, "val_type"), Clause(TUPLE, "mode"), Clause(WORD, "sz_pattern"),
        Clause(INTEGER, "num_matrices"), Clause(WORD),
    )  # fmt: skip
    SOURCE_SPACES = (AddressSpace.SMEM,)
    DESTINATION_SPACES = (AddressSpace.RMEM,)

    @property
    def minimum_targets(self) -> Sequence[str]:
        form = self.form(LOADS, text(self.pattern))
        return () if form is None else form.targets

    @property
    def source_layout(self) -> Layout | None:
        return self._side("src")

    @property
    def destination_layout(self) -> Layout | None:
        return self._side("dst")

    def _side(self, side: str) -> Layout | None:
        bits = {"u16": 16, "u8": 8}.get(text(self.pattern))
        return None if bits is None else self.layout_of("ldmatrix", side, bits)

    def verify(self) -> None:
        if self.form(LOADS, text(self.pattern)) is None:
            raise VerifyException(message("cute_nvgpu.ldsm.config"))


@irdl_attr_definition
class StsmType(MatrixCopyType, TypeAttribute):
    """`!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>`."""

    name = "cute_nvgpu.atom.stsm"
    value_type: Attribute
    mode: IntTupleType
    count: IntAttr
    direction: StringAttr

    CLAUSES = (
        Clause(TYPE), Clause(TUPLE, "mode"), Clause(INTEGER, "num_matrices"), Clause(WORD),
    )  # fmt: skip
    SOURCE_SPACES = (AddressSpace.RMEM,)
    DESTINATION_SPACES = (AddressSpace.SMEM,)

    @property
    def _pattern(self) -> str:
        return "u8" if self.mode.data == (16, 8) else "u16"

    @property
    def minimum_targets(self) -> Sequence[str]:
        form = self.form(STORES, self._pattern)
        return () if form is None else form.targets

    @property
    def source_layout(self) -> Layout | None:
        return self.layout_of("stmatrix", "src", 8 if self._pattern == "u8" else 16)

    @property
    def destination_layout(self) -> Layout | None:
        return self.layout_of("stmatrix", "dst", 8 if self._pattern == "u8" else 16)

    @property
    def reference_layout(self) -> Layout | None:
        """The source: registers say what a thread has (CUTLASS copy_traits_sm90.hpp)."""
        return self.source_layout

    def verify(self) -> None:
        if self.form(STORES, self._pattern) is None:
            listed = "x".join(map(str, self.mode.data))
            raise VerifyException(
                f"stmatrix has no {integer(self.count)} matrices of {listed}, "
                f"{text(self.direction)}"
            )
