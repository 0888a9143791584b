"""What the type of an atom offers to `cute`, which knows no instruction and no target by itself.

A copy, an MMA or a prefetch of some architecture is a *type*, a `ParametrizedAttribute` and
`TypeAttribute` that mixes in one of the classes below.  `cute.make_atom`, `cute.copy_atom_call`,
`cute.mma_atom_call`, tiled copies and tiled MMAs, and `cute-desugar` ask it for facts; what is
legal beyond the facts the type checks itself, in its `check_...` methods, which raise
`op_error(op, ...)` with their literal messages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.target_attribute import target_of
from tileas_xdsl.layout import Layout
from tileas_xdsl.target.tiers import meets_any


class AtomField(NamedTuple):
    """A value of an atom that varies at run time: `cute.make_atom` takes it, in this order."""

    name: str
    type: Attribute
    optional: bool = False
    """Optional fields are the last ones; `make_atom` may leave them out from the right."""


class MmaOperand(Enum):
    """The operands of an MMA."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    SFA = "SFA"
    SFB = "SFB"
    E = "E"


@dataclass(frozen=True)
class CopyCall:
    """The types that a copy is called with; `sources` and `destinations` are views mostly."""

    sources: Sequence[Attribute]
    destinations: Sequence[Attribute]
    predicate: Attribute | None = None


@dataclass(frozen=True)
class MmaCall:
    """The types that an MMA is called with: D and C once, A and B with their scale factors."""

    d: Attribute
    a: Sequence[Attribute]
    b: Sequence[Attribute]
    c: Attribute
    repeats: bool = False
    """Whether views have further modes, over which the instruction repeats."""


class AtomType(ABC):
    """The type of an atom: what every kind of atom answers."""

    @property
    @abstractmethod
    def minimum_targets(self) -> Sequence[str]:
        """Targets of which one must be met (`target.tiers`); none if every target has it."""

    @property
    def state(self) -> Sequence[AtomField]:
        """The operands of `cute.make_atom`, in order; none for an atom without run-time values."""
        return ()

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """What `cute-desugar` writes on `cute.make_atom`: shapes and element types, by name."""
        return {}

    def check_make_atom(self, op: Operation, values: Sequence[Attribute]) -> None:
        """Raise `op_error` for illegal values beyond their number and types; `op` makes one."""
        del op, values


class CopyAtomType(AtomType):
    """A copy instruction, done by `threads` threads together."""

    SOURCE_SPACES: ClassVar[Sequence[AddressSpace]] = ()
    """Where the source may be; none if the type checks it itself."""
    DESTINATION_SPACES: ClassVar[Sequence[AddressSpace]] = ()
    """Where the destination may be; none if the type checks it itself."""

    @property
    @abstractmethod
    def copy_bits(self) -> int | None:
        """The bits that one thread gives the instruction; None if the views decide."""

    @property
    def threads(self) -> int:
        """How many threads do one copy together."""
        return 1

    @property
    def source_layout(self) -> Layout | None:
        """`(thread, bit) -> bit` of what is copied, on the source's side; None: one to one."""
        return None

    @property
    def destination_layout(self) -> Layout | None:
        """`(thread, bit) -> bit` of what is copied, on the destination's side."""
        return None

    @property
    def reference_layout(self) -> Layout | None:
        """The side in which `layout_copy_tv` of a tiled copy counts: the destination."""
        return self.destination_layout

    def bits_at_once(self, side: Layout | None) -> int | None:
        """The bits of one copy in the view of a thread on the side with the layout `side`."""
        return self.copy_bits if side is None else side[1].size()

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The shape of a copy: the bits of a thread, where they are fixed, and how many threads."""
        bits = {} if self.copy_bits is None else {"copy_bits": IntegerAttr(self.copy_bits, i32)}
        return bits | {"threads": IntegerAttr(self.threads, i32)}

    def check_copy(self, op: Operation, call: CopyCall) -> None:
        """Raise `op_error` where this instruction cannot do the copy, beyond the facts above."""
        del op, call


class MmaAtomType(AtomType):
    """A matrix instruction, `D = A * B + C`, done by `threads` threads together."""

    @property
    @abstractmethod
    def shape_mnk(self) -> tuple[int, int, int]:
        """The extents of one instruction."""

    @property
    @abstractmethod
    def threads(self) -> int:
        """The number of threads that execute the atom together."""

    @abstractmethod
    def element_type(self, operand: MmaOperand) -> Attribute | None:
        """The element type of an operand; None if the instruction has no such operand."""

    @abstractmethod
    def operand_layout(self, operand: MmaOperand) -> Layout | None:
        """`(thread, value) -> index` of an operand, column-major in (M,K), (N,K) or (M,N).

        None if the instruction has no such operand.
        """

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The extents of one instruction, and the element type of each operand that it has."""
        elements = {operand.value: self.element_type(operand) for operand in MmaOperand}
        shape = DenseArrayBase.from_list(i32, self.shape_mnk)
        return {"shape_mnk": shape} | {
            f"elem_{name.lower()}": type_ for name, type_ in elements.items() if type_ is not None
        }

    def operand_spaces(self, operand: MmaOperand) -> Sequence[AddressSpace]:
        """Where the views of an operand may be; none if the type checks it itself."""
        del operand
        return ()

    def fragment_type(
        self, op: Operation, operand: MmaOperand, source: Attribute
    ) -> Attribute | None:
        """What `cute.mma.make_fragment` makes for an operand partitioned as `source`.

        None, the default: a view of registers, compact in the source's order.
        """
        del op, operand, source
        return None

    def check_mma(self, op: Operation, call: MmaCall) -> None:
        """Raise `op_error` where this instruction cannot do the product, beyond the facts above."""
        del op, call


class PrefetchAtomType(AtomType):
    """A prefetch: from memory, to nowhere."""

    def check_prefetch(self, op: Operation, source: Attribute) -> None:
        """Raise `op_error` where this instruction cannot prefetch `source`."""
        del op, source


class TensorMapType(ABC):
    """The type of a tensor map, which TMA reads: what `cute` asks of it."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Whether it is for boxes, `tiled`, or for columns of pixels, `im2col`."""


def target_fault(op: Operation, atom: AtomType) -> str | None:
    """Why the target of `op` has not got `atom`, naming the least that has; None if it has."""
    target = target_of(op)
    if target is None or meets_any(target, atom.minimum_targets):
        return None
    return f"needs {' or '.join(atom.minimum_targets)}, but the target is {target}: {atom}"
