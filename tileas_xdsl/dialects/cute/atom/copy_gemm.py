"""Copies and products of whole views, which atoms do piece by piece, with their rules of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.calls import (
    AtomCall,
    ProductCall,
    atom_of,
    check_copy_facts,
    layout_of_view,
)
from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType, CopyCall, MmaAtomType
from tileas_xdsl.dialects.cute.base.operands import has_static_shape
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
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
            raise op_error(self, message("cute.copy.static_shape"))
        if src.rank != dst.rank:
            raise op_error(self, message("cute.copy.ranks", src=src.rank, dst=dst.rank))
        source, destination = int_tuple.wrap(src.shape), int_tuple.wrap(dst.shape)
        for rank in range(1, src.rank):
            if product(source[rank]) != product(destination[rank]):
                raise op_error(
                    self,
                    message(
                        "cute.copy.sizes",
                        rank=rank,
                        src=show(src.shape),
                        dst=show(dst.shape),
                    ),
                )
        if _rest(source[0]) != _rest(destination[0]):
            shapes = {"src": show(src.shape), "dst": show(dst.shape)}
            raise op_error(self, message("cute.copy.atom_sizes", **shapes))

    def _check_predicate(
        self, atom: CopyAtomType, src: Any, predicate: Attribute, source: Attribute
    ) -> None:
        if not isinstance(predicate, MemRefType):
            raise op_error(self, message("cute.copy.predicate_type"))
        layout = predicate.layout
        if layout.rank != src.rank:
            text = message("cute.copy.predicate_rank", predicate=layout.rank, src=src.rank)
            raise op_error(self, text)
        if predicate.space not in PREDICATE_SPACES:
            raise op_error(self, message("cute.copy.predicate_space"))
        if predicate.swizzle.bits:
            raise op_error(self, message("cute.copy.predicate_swizzle", swizzle=predicate.swizzle))
        if not has_static_shape(layout):
            raise op_error(self, message("cute.copy.predicate_static"))
        if _sizes(layout.shape) != _sizes(src.shape):
            shapes = {"shape": show(src.shape), "predicate": show(layout.shape)}
            raise op_error(self, message("cute.copy.predicate_shape", **shapes))
        self._check_one_element(atom, source)

    def _check_one_element(self, atom: CopyAtomType, source: Attribute) -> None:
        """Each element has its own predicate, so the atom copies one at a time."""
        if not isinstance(source, MemRefType) or atom.copy_bits is None:
            return
        width = bit_width(source.element_type)
        if atom.copy_bits != width:
            raise op_error(
                self, message("cute.copy.predicate_bits", expected=width, given=atom.copy_bits)
            )


def _rest(mode: Any) -> int:
    """How often the atom's part of mode 0 is repeated inside it."""
    return product(mode[1:]) if is_tuple(mode) else 1


def _sizes(shape: Any) -> tuple[int, ...]:
    return int_tuple.product_each(shape)


C_RANKS = {
    1: ((1, 2), "cute.gemm.rank_c_1"),
    2: ((2, 3), "cute.gemm.rank_c_2"),
    3: ((3,), "cute.gemm.rank_c_3"),
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
            a, b, d = types[:3]
            raise op_error(self, message("cute.gemm.composed_layout", a=a, b=b, d=d))

    def _check_ranks(self, ranks: Sequence[int]) -> None:
        a, b, c, d = ranks
        if a != b:
            raise op_error(self, message("cute.gemm.ranks_ab", a=a, b=b))
        if c != d:
            raise op_error(self, message("cute.gemm.ranks_cd", c=c, d=d))
        if a not in C_RANKS:
            raise op_error(self, f"multiplies A of rank 1, 2 or 3, but got {a}")
        allowed, key = C_RANKS[a]
        if c not in allowed:
            raise op_error(self, message(key, rank=c))

    def _check_sizes(self, views: Sequence[Any]) -> None:
        a, b, _, d = views
        if a.rank == 1 or d.rank < 3:
            return
        shapes = [int_tuple.wrap(layout.shape) for layout in (a, b, d)]
        (m, n), (dm, dn) = (shapes[0][1], shapes[1][1]), shapes[2][1:3]
        if _differ(m, dm) or _differ(n, dn):
            raise op_error(self, message("cute.gemm.extents"))
        if a.rank == 3 and _differ(shapes[0][2], shapes[1][2]):
            raise op_error(self, "multiplies A and B with the same number of steps along K")


def _differ(a: Any, b: Any) -> bool:
    """Whether two extents are known to differ."""
    one: Any = product(a)
    other: Any = product(b)
    return isinstance(one, int) and isinstance(other, int) and one != other
