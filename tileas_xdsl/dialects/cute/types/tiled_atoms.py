"""Types of atoms repeated over threads and values.

`!cute.tiled_copy<ATOM, layout_copy_tv = <"...">, tiler_mn = <"[..;..]">>` copies a tile of shape
`tiler_mn` at a time: `layout_copy_tv` maps (thread, value) to the index in it.  `!cute.tiled_mma<
ATOM, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[..;..;..]">>` repeats an MMA over
the threads of `atom_layout_MNK`, which maps an atom's place along M, N and K to its number.
"""

from __future__ import annotations

from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.clauses import TYPE, Clause, ClausedType, parameter_of
from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType, MmaAtomType
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.tuples import TileAttr
from tileas_xdsl.layout import Layout

LAYOUT, TILE = parameter_of(LayoutAttr), parameter_of(TileAttr)


@irdl_attr_definition
class TiledCopyType(ClausedType, TypeAttribute):
    """A copy atom repeated over a tile."""

    name = "cute.tiled_copy"
    atom: Attribute
    layout_copy_tv: LayoutAttr
    tiler_mn: TileAttr

    CLAUSES = (
        Clause(TYPE), Clause(LAYOUT, "layout_copy_tv"), Clause(TILE, "tiler_mn"),
    )  # fmt: skip

    @property
    def thread_values(self) -> Layout:
        """(thread, value) to the index in the tile."""
        return self.layout_copy_tv.data

    def verify(self) -> None:
        if not isinstance(self.atom, CopyAtomType):
            raise VerifyException(f"a tiled copy repeats a copy atom, not {self.atom}")
        if self.thread_values.rank != 2:
            raise VerifyException(
                f"layout_copy_tv is of rank 2, threads and values, not {self.thread_values}"
            )


NO_PERMUTATION = TileAttr((None, None, None))
"""No mode is permuted; it is not written."""


@irdl_attr_definition
class TiledMmaType(ClausedType, TypeAttribute):
    """An MMA atom repeated over threads."""

    name = "cute.tiled_mma"
    atom: Attribute
    atom_layout_mnk: LayoutAttr
    permutation_mnk: TileAttr

    CLAUSES = (
        Clause(TYPE), Clause(LAYOUT, "atom_layout_MNK"),
        Clause(TILE, "permutation_MNK", default=NO_PERMUTATION),
    )  # fmt: skip

    def __init__(
        self, atom: Attribute, layout: Layout, permutation: TileAttr = NO_PERMUTATION
    ) -> None:
        super().__init__(atom, LayoutAttr(layout), permutation)

    @property
    def atom_layout(self) -> Layout:
        """The place of an atom along M, N, K to its number."""
        return self.atom_layout_mnk.data

    def verify(self) -> None:
        if not isinstance(self.atom, MmaAtomType):
            raise VerifyException(f"a tiled MMA repeats an MMA atom, not {self.atom}")
        if self.atom_layout.rank != 3:
            raise VerifyException(f"atom_layout_MNK is of rank 3, not {self.atom_layout}")
        if len(self.permutation_mnk.data) != 3:
            raise VerifyException("permutation_MNK has three modes")
