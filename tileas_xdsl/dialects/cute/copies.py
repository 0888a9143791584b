"""Copies and products of whole views, which atoms do piece by piece, with their rules of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atoms import (
    AtomCall,
    ProductCall,
    atom_of,
    check_copy_facts,
    layout_of_view,
)
from tileas_xdsl.dialects.cute.interfaces import CopyAtomType, CopyCall, MmaAtomType
from tileas_xdsl.dialects.cute.literals import literal
from tileas_xdsl.dialects.cute.operands import has_static_shape
from tileas_xdsl.dialects.cute.spaces import AddressSpace
from tileas_xdsl.dialects.cute.view_types import MemRefType
from tileas_xdsl.dialects.cute.views import bit_width
from tileas_xdsl.layout import ComposedLayout, Layout, int_tuple
from tileas_xdsl.layout.int_tuple import is_tuple, product, show

PREDICATE_SPACES = (
    AddressSpace.RMEM,
    AddressSpace.SMEM,
    AddressSpace.GMEM,
    AddressSpace.GENERIC,
)


@irdl_op_definition
class CopyOp(AtomCall):
    """A copy of a whole view: mode 0 is what the atom copies at once, and the rest repeats."""

    name = "cute.copy"
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    atom = operand_def()
    sources = var_operand_def()
    destinations = var_operand_def()
    predicate = opt_operand_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def verify_(self) -> None:
        atom = atom_of(self, self.atom, CopyAtomType, "a copy atom")
        if not self.sources or not self.destinations:
            raise op_error(self, "copies a source to a destination, and has both of them")
        predicate = None if self.predicate is None else self.predicate.type
        call = CopyCall(
            [v.type for v in self.sources], [v.type for v in self.destinations], predicate
        )
        check_copy_facts(self, atom, call)
        src, dst = (layout_of_view(types[0]) for types in (call.sources, call.destinations))
        if src is not None and dst is not None:
            self._check_shapes(src, dst)
        if predicate is not None and src is not None:
            self._check_predicate(atom, src, predicate, call.sources[0])
        atom.check_copy(self, call)

    def _check_shapes(self, src: Layout | ComposedLayout, dst: Layout | ComposedLayout) -> None:
        if not has_static_shape(src) or not has_static_shape(dst):
            raise op_error(self, literal("expects-src-and-dst-to-have-static-shape"))
        if src.rank != dst.rank:
            raise op_error(
                self, literal("src-rank-2-is-not-dst-rank-3", ("2", src.rank), ("3", dst.rank))
            )
        source, destination = int_tuple.wrap(src.shape), int_tuple.wrap(dst.shape)
        for rank in range(1, src.rank):
            if product(source[rank]) != product(destination[rank]):
                key = "expects-same-size-in-rank-1-but-got-src-shape-8-4-and-dst-shape-8"
                raise op_error(
                    self,
                    literal(
                        key,
                        ("rank 1", f"rank {rank}"),
                        ("(8,4)", show(src.shape)),
                        ("(8,2)", show(dst.shape)),
                    ),
                )
        if _rest(source[0]) != _rest(destination[0]):
            key = "expects-same-size-in-rest-atom-vrank-but-got-src-shape-8-3-4-and"
            shapes = (("((8,3),4)", show(src.shape)), ("((8,2),4)", show(dst.shape)))
            raise op_error(self, literal(key, *shapes))

    def _check_predicate(
        self, atom: CopyAtomType, src: Any, predicate: Attribute, source: Attribute
    ) -> None:
        if not isinstance(predicate, MemRefType):
            raise op_error(self, literal("expects-pred-to-be-cute-mem-ref-type"))
        layout = predicate.layout
        if layout.rank != src.rank:
            places = (("rank = 3", f"rank = {layout.rank}"), ("rank = 2", f"rank = {src.rank}"))
            raise op_error(self, literal("pred-rank-3-is-not-src-rank-2", *places))
        if predicate.space not in PREDICATE_SPACES:
            raise op_error(
                self, literal("expects-pred-s-address-space-to-be-rmem-smem-gmem-generic")
            )
        if predicate.swizzle.bits:
            key = "expects-identity-swizzle-on-pred-tensor-but-got-s-3-4-3"
            raise op_error(self, literal(key, ("S<3,4,3>", predicate.swizzle)))
        if not has_static_shape(layout):
            raise op_error(self, literal("expects-pred-to-have-static-shape"))
        if _sizes(layout.shape) != _sizes(src.shape):
            key = "expects-pred-to-have-compatible-shape-with-8-4-but-got-actual-pred"
            shapes = (("(8,4)", show(src.shape)), ("(1,4)", show(layout.shape)))
            raise op_error(self, literal(key, *shapes))
        self._check_one_element(atom, source)

    def _check_one_element(self, atom: CopyAtomType, source: Attribute) -> None:
        """Each element has its own predicate, so the atom copies one at a time."""
        if not isinstance(source, MemRefType) or atom.copy_bits is None:
            return
        width = bit_width(source.element_type)
        if atom.copy_bits != width:
            key = "expects-copy-bits-to-be-16-but-got-128"
            raise op_error(self, literal(key, ("16", width), ("128", atom.copy_bits)))


def _rest(mode: Any) -> int:
    """How often the atom's part of mode 0 is repeated inside it."""
    return product(mode[1:]) if is_tuple(mode) else 1


def _sizes(shape: Any) -> tuple[int, ...]:
    return int_tuple.product_each(shape)


C_RANKS = {
    1: ((1, 2), "expects-c-to-have-rank-1-or-2-but-got-c"),
    2: ((2, 3), "expects-c-to-have-rank-2-or-3-but-got-c"),
    3: ((3,), "expects-c-to-have-rank-3-but-got-c"),
}
"""By the rank of A, the ranks that C may have and what is said otherwise."""


@irdl_op_definition
class GemmOp(ProductCall):
    """A product of whole views: V by V, V,M by V,N, or V,M,K by V,N,K, as in CuTe."""

    name = "cute.gemm"

    def verify_(self) -> None:
        atom = atom_of(self, self.atom, MmaAtomType, "an MMA atom")
        call = self.call
        if not call.a or not call.b:
            raise op_error(self, "multiplies A and B, and has both of them")
        views = [layout_of_view(type_) for type_ in (call.a[0], call.b[0], call.c, call.d)]
        if all(layout is not None for layout in views):
            self._check_plain((call.a[0], call.b[0], call.d))
            self._check_ranks([layout.rank for layout in views if layout is not None])
            self._check_sizes(views)
        atom.check_mma(self, replace(call, repeats=True))

    def _check_plain(self, types: Sequence[Attribute]) -> None:
        if any(isinstance(layout_of_view(type_), ComposedLayout) for type_ in types):
            places = [(f"{{{place}}}", type_) for place, type_ in enumerate(types)]
            first = literal("does-not-support-composed-layout-for")
            raise op_error(self, first + literal("a-b-d-but-got-a-b-d", *places))

    def _check_ranks(self, ranks: Sequence[int]) -> None:
        a, b, c, d = ranks
        if a != b:
            start = literal("expects-a-b-to-have-the-same-rank-but-got-a")
            raise op_error(self, f"{start}{a}, B: {b}")
        if c != d:
            start = literal("expects-c-d-to-have-the-same-rank-but-got-c")
            raise op_error(self, f"{start}{c}, D: {d}")
        if a not in C_RANKS:
            raise op_error(self, f"multiplies A of rank 1, 2 or 3, but got {a}")
        allowed, key = C_RANKS[a]
        if c not in allowed:
            raise op_error(self, f"{literal(key)}{c}")

    def _check_sizes(self, views: Sequence[Any]) -> None:
        a, b, _, d = views
        if a.rank == 1 or d.rank < 3:
            return
        shapes = [int_tuple.wrap(layout.shape) for layout in (a, b, d)]
        (m, n), (dm, dn) = (shapes[0][1], shapes[1][1]), shapes[2][1:3]
        if _differ(m, dm) or _differ(n, dn):
            raise op_error(self, literal("expects-a-s-m-is-d-m-and-b-s-n-is-d-n"))
        if a.rank == 3 and _differ(shapes[0][2], shapes[1][2]):
            raise op_error(self, "multiplies A and B with the same number of steps along K")


def _differ(a: Any, b: Any) -> bool:
    """Whether two extents are known to differ."""
    one: Any = product(a)
    other: Any = product(b)
    return isinstance(one, int) and isinstance(other, int) and one != other


OPERATIONS = (CopyOp, GemmOp)
