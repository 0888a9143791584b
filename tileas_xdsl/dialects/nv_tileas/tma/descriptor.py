"""Descriptors of tensors in global memory, as TMA reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import (
    OobMode,
    OobModeAttr,
    SwizzleMode,
    SwizzleModeAttr,
)
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Value,
    atom_attribute,
    integer_attribute,
)
from tileas_xdsl.dialects.nv_tileas.memory.checks import check_index_types
from tileas_xdsl.dialects.nv_tileas.memory.structure import MemoryOp, memory_op
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.tma.capture import capture_problem
from tileas_xdsl.dialects.nv_tileas.tma.checks import (
    Box,
    Descriptor,
    check_alignment,
    check_box,
    check_descriptor_mode,
    check_element_stride,
    check_global,
    check_multicast,
    check_nan_fill,
    number_of,
    tile_bits,
    tma_atom,
)
from tileas_xdsl.dialects.nv_tileas.tma.im2col import NAMES, Pixels, check_pixels, pixels_of
from tileas_xdsl.dialects.nv_tileas.tma.index import (
    TMA_INDEX,
    check_tma_index,
    has_descriptors,
    is_host_code,
)
from tileas_xdsl.dialects.nv_tileas.tma.slices import unsliced
from tileas_xdsl.dialects.nv_tileas.types import TmaDescType

OF_LIST = "nv_tileas.of_list"
"""Attribute of a descriptor: the array is one of a list, and its tensor map one of a table."""


@memory_op
class MakeTiledTmaDescOp(MemoryOp):
    """A descriptor of a tensor in global memory and of the box of it that one instruction moves.

    `box` starts with the innermost dimension.  What it depends on can be captured before the
    kernel runs: nothing that control flow merges, but for which array of a list is described
    (`OF_LIST`), whose tensor maps are there before.  In mode im2col the box is channels and
    pixels, `pixel_lower` and `pixel_upper` are the corners of the pixels at which copies begin, and
    `filter` is what the leading coordinate counts the taps of; all start with the innermost one.
    """

    name = "nv_tileas.make_tiled_tma_desc"

    view = operand_def()
    box = var_operand_def()
    result = result_def(TmaDescType)

    atom = prop_def(AtomAttr)
    mode = opt_prop_def(StringAttr)
    swizzle_mode = opt_prop_def(SwizzleModeAttr)
    oob_mode = opt_prop_def(OobModeAttr)
    tma_internal_type = opt_prop_def(TypeAttribute)
    num_multicast = opt_prop_def(IntegerAttr.constr(i32))
    alignment = opt_prop_def(IntegerAttr.constr(i32))
    pixel_lower = opt_prop_def(DenseArrayBase.constr(i32))
    pixel_upper = opt_prop_def(DenseArrayBase.constr(i32))
    filter = opt_prop_def(DenseArrayBase.constr(i32))
    tma_index = opt_prop_def(IntegerAttr.constr(i32), prop_name=TMA_INDEX)

    traits = traits_def(MemoryConsistency())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    custom_directives = (Coordinates,)
    assembly_format = (
        "$view `box` `` custom<Coordinates>($box, type($box)) attr-dict"
        " `:` type($view) `->` type($result)"
    )

    def __init__(
        self,
        view: Value,
        box: Sequence[Value],
        *,
        atom: AtomAttr | str,
        mode: str | None = None,
        swizzle: SwizzleMode | str | None = None,
        oob: OobMode | str | None = None,
        internal_type: Attribute | None = None,
        num_multicast: int | None = None,
        alignment: int | None = None,
        pixels: Pixels | None = None,
        tma_index: int | None = None,
    ) -> None:
        init_of_groups(
            self,
            operands=[view, box],
            result_types=[TmaDescType()],
            properties={
                "atom": atom_attribute(atom),
                "mode": None if mode is None else StringAttr(mode),
                "swizzle_mode": None if swizzle is None else SwizzleModeAttr(SwizzleMode(swizzle)),
                "oob_mode": None if oob is None else OobModeAttr(OobMode(oob)),
                "tma_internal_type": internal_type,
                "num_multicast": integer_attribute(num_multicast),
                "alignment": integer_attribute(alignment),
                TMA_INDEX: integer_attribute(tma_index),
                **_pixel_properties(pixels),
            },
        )

    @property
    def element_type(self) -> Attribute | None:
        """The elements that TMA moves."""
        return self.tma_internal_type or element_of(self.view.type)

    @property
    def box_extents(self) -> Box:
        """The extents of the box, innermost first, as far as they are constants."""
        return tuple(constant_integer(extent) for extent in self.box)

    @property
    def load_mode(self) -> str | None:
        """The mode: its own, or else that of the atom."""
        if self.mode is not None:
            return self.mode.data
        return self.atom.data.mode if isinstance(self.atom.data, TmaAtom) else None

    @property
    def is_written(self) -> bool:
        """Whether tiles are stored by it, and none are loaded."""
        atom = self.atom.data
        return isinstance(atom, TmaAtom) and atom.direction != "tma_load"

    @property
    def pixels(self) -> Pixels | None:
        """The pixel parameters of mode im2col; None in tiled mode."""
        return pixels_of(self)

    def verify_(self) -> None:
        view, element, box = self.view.type, self.element_type, self.box_extents
        atom = tma_atom(self, self.atom)
        check_global(self, view, atom)
        swizzle = None if self.swizzle_mode is None else self.swizzle_mode.data
        check_box(self, box, atom, element, swizzle)
        check_index_types(self, self.box)
        check_descriptor_mode(self, atom, self.mode)
        check_pixels(self, atom.rank, self.load_mode, box)
        check_element_stride(self, view)
        check_alignment(self, number_of(self.alignment))
        check_multicast(
            self, atom, number_of(self.num_multicast), tile_bits(atom.box or box, element)
        )
        check_nan_fill(self, self.oob_mode, element)
        if has_descriptors(self):
            check_tma_index(self, self.result)
        if OF_LIST in self.attributes:
            return
        if (problem := capture_problem(self, for_host=is_host_code(self))) is not None:
            raise op_error(self, problem)


def _pixel_properties(pixels: Pixels | None) -> Mapping[str, Attribute]:
    if pixels is None:
        return {}
    values = (pixels.lower, pixels.upper, pixels.filter)
    return {
        name: DenseArrayBase.from_list(i32, list(numbers))
        for name, numbers in zip(NAMES, values, strict=True)
    }


def descriptor_of(value: SSAValue) -> Descriptor | None:
    """What is known of a descriptor: all if the kernel builds it, nothing if it is an argument."""
    made = unsliced(value).owner
    if not isinstance(made, MakeTiledTmaDescOp) or not isinstance(made.atom.data, TmaAtom):
        return None
    swizzle = None if made.swizzle_mode is None else made.swizzle_mode.data
    atom = replace(made.atom.data, mode=made.load_mode or "tiled")
    return Descriptor(atom, made.box_extents, made.element_type, swizzle)
