"""Create TMA descriptors: one for all transfers of equal boxes of one array.

A descriptor (tensor map) is 128 bytes that the host encodes and a kernel prefetches, so that two
loads of the same array share one where the array, the direction, the box, the swizzle and the
element type agree (`Description`). Each distinct one gets the next `tma_index`, the number of
its kernel argument; operations that reuse it carry the same index.

    %x = tiled_load %v[%i, %k] : 64x64    %d = make_tiled_tma_desc %a box[%c64, %c64]  (tma_index 0)
    %y = tiled_load %v[%j, %k] : 64x64    %s = async.tiled_tma_load %d, %b0[...] {tma_index = 0}
                                          %t = async.tiled_tma_load %d, %b1[...] {tma_index = 0}

Requests are bound first (`bind` raises, writes nothing), and written when all of a function can
be: an error leaves the IR unchanged. A descriptor is made in front of the loops around its first
use, as far out as the array is defined.
"""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    UnitAttr,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.launches.array_slices import ArraySlice, mapped_slice
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import PointedArray, array_of
from tileas_xdsl.analysis.values.listed_arrays import listed_array
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.nv_tileas.atoms import BLACKWELL_MODES, TmaAtom
from tileas_xdsl.dialects.nv_tileas.enums import OobMode, SwizzleMode
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.capture import capture_problem_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import (
    bits_of,
    check_box,
    check_descriptor_mode,
    check_element_stride,
    check_global,
    check_multicast,
    number_of,
    tile_bits,
)
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import OF_LIST, MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.index import TMA_INDEX, has_descriptors
from tileas_xdsl.dialects.nv_tileas.tma.layout import largest_box_extent, shared_layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.tma.tensor_map import SWIZZLES
from tileas_xdsl.transforms.tma_to_async.array_slices import slice_of, whole_array
from tileas_xdsl.transforms.tma_to_async.candidates import Request
from tileas_xdsl.transforms.tma_to_async.global_arrays import stride_problem

INTERNAL_TYPE = "tma_internal_type"
"""Attribute of a transfer: TMA treats the elements as those of this type."""


@dataclass(frozen=True)
class Description:
    """The key of a descriptor: transfers that agree in it share one."""

    view: SSAValue
    """The array; of a slice, the pointer to the array that it is of."""
    direction: str
    mode: str
    box: tuple[int, ...]
    """Innermost first."""
    swizzle: SwizzleMode | None
    internal_type: TypeAttribute | None
    slices_of: tuple[PointedArray, int] | None = None
    """The array that slices are of, and their dimension."""


@dataclass
class Binding:
    """A descriptor of the IR, or one to make in front of its first use."""

    description: Description
    atom: TmaAtom
    index: int
    first: Operation
    made: MakeTiledTmaDescOp | None = None

    def value(self, request: Request) -> SSAValue:
        """Return the descriptor, and make it at the first call."""
        part = mapped_slice(array_of(request.op.view))
        if self.made is None:
            self.made = self._make(request, part)
        self.made.tma_index = IntegerAttr(self.index, 32)
        return self.made.result if part is None else slice_of(self.made.result, part, request.op)

    def _make(self, request: Request, part: ArraySlice | None) -> MakeTiledTmaDescOp:
        facts, point = self.description, _insertion_point(self.description.view, self.first)
        view = facts.view
        if part is not None:
            whole = whole_array(part)
            Rewriter.insert_op(whole, point)
            view = whole.result
        extents = {n: arith.ConstantOp(IntegerAttr(n, IndexType())) for n in facts.box}
        for extent, constant in extents.items():
            constant.result.name_hint = f"c{extent}"
        made = MakeTiledTmaDescOp(
            view,
            [extents[n] for n in facts.box],
            atom=request.op.atom,
            mode=facts.mode,
            swizzle=facts.swizzle,
            oob=OobMode.ZERO if facts.direction == "tma_load" else None,
            internal_type=facts.internal_type,
        )
        if listed_array(facts.view) is not None:
            made.attributes[OF_LIST] = UnitAttr()
        if facts.view.name_hint is not None:
            made.result.name_hint = f"of_{facts.view.name_hint}"
        for op in (*extents.values(), made):
            op.location = self.first.location
        Rewriter.insert_op((*extents.values(), made), point)
        return made


@dataclass
class Descriptors:
    """The descriptors of a function."""

    bindings: dict[Description, Binding] = field(default_factory=dict[Description, Binding])
    count: int = 0

    @staticmethod
    def of(function: func.FuncOp) -> Descriptors:
        """Collect the descriptors at the start of a function, which precede all that may reuse
        them.
        """
        found = Descriptors()
        indices = [number_of(op.properties.get(TMA_INDEX)) for op in operations_in(function)]
        found.count = max((n + 1 for n in indices if n is not None), default=0)
        entry = function.body.first_block
        for op in () if entry is None else entry.ops:
            if isinstance(op, MakeTiledTmaDescOp) and (facts := _described(op)) is not None:
                assert isinstance(op.atom.data, TmaAtom)
                index = number_of(op.tma_index)
                binding = Binding(facts, op.atom.data, -1 if index is None else index, op, op)
                found.bindings.setdefault(facts, binding)
        return found

    def bind(self, request: Request) -> Binding:
        """Return the descriptor of a request, a new one if none fits; raise where TMA cannot do it.

        Nothing is written yet.
        """
        facts = _description(request)
        binding = self.bindings.get(facts)
        if binding is None or not _is_usable(binding, request):
            _check(request, facts)
            binding = Binding(facts, request.atom, -1, request.op)
            self.bindings[facts] = binding
        if binding.index < 0:
            binding.index = self.count
            self.count += 1
        return binding


def _described(op: MakeTiledTmaDescOp) -> Description | None:
    """Return the key of an existing descriptor, None if no tile could ask for it."""
    atom, box = op.atom.data, [n for n in op.box_extents if n is not None]
    fills_otherwise = op.oob_mode is not None and op.oob_mode.data is not OobMode.ZERO
    if not isinstance(atom, TmaAtom) or len(box) != len(op.box) or fills_otherwise:
        return None
    swizzle = None if op.swizzle_mode is None else op.swizzle_mode.data
    internal: TypeAttribute | None = op.tma_internal_type
    mode = op.load_mode or atom.mode
    return Description(array_of(op.view), atom.direction, mode, tuple(box), swizzle, internal)


def _is_usable(binding: Binding, request: Request) -> bool:
    """Whether a descriptor dominates a request and has an atom of the same rank and multicast."""
    if binding.made is None:
        return True
    atom, wanted = binding.atom, request.atom
    if (atom.rank, atom.multicast) != (wanted.rank, wanted.multicast):
        return False
    block = binding.made.parent_block()
    top = None if block is None else block.find_ancestor_op_in_block(request.op)
    return top is None or binding.made.is_before_in_block(top)


def _description(request: Request) -> Description:
    op, atom = request.op, request.atom
    layout = shared_layout(request.tile)
    box = atom.box or _box(request, layout)
    internal = op.attributes.get(INTERNAL_TYPE)
    part = mapped_slice(array := array_of(op.view))
    return Description(
        array if part is None else part.whole.pointer,
        atom.direction,
        atom.mode,
        box,
        _swizzle(request, layout, box),
        internal if isinstance(internal, TypeAttribute) else None,
        None if part is None else (part.whole, part.axis),
    )


def _box(request: Request, layout: MemoryLayout | None) -> tuple[int, ...]:
    """Return as much of the tile as one instruction transfers, innermost dimension first."""
    *outer, inner = shape_of(request.tile) or (1,)
    bits = bits_of(request.tile.element_type)
    span = None if layout is None else SWIZZLES[_mode_of(layout)].span
    inner = min(inner, inner if span is None else span * 8 // bits)
    if request.atom.mode in BLACKWELL_MODES:
        # gather4 and scatter4 address single rows: the box has one (PTX ISA, tile::gather4).
        return (largest_box_extent(inner), 1)
    return (largest_box_extent(inner), *map(largest_box_extent, reversed(outer)))


def _mode_of(layout: MemoryLayout) -> str:
    return next(name for name, s in BYTE_SWIZZLES.items() if s == layout.byte_swizzle)


def _swizzle(
    request: Request, layout: MemoryLayout | None, box: tuple[int, ...]
) -> SwizzleMode | None:
    """Return the swizzle of the tile, if rows of the box are not longer than its span."""
    if layout is None:
        return None
    mode, bits = _mode_of(layout), bits_of(request.tile.element_type)
    span = SWIZZLES[mode].span
    return None if span is not None and box[0] * bits > span * 8 else SwizzleMode(mode)


def _check(request: Request, facts: Description) -> None:
    """Raise unless a tensor map can be encoded for a description, at the request."""
    op, atom = request.op, request.atom
    type_ = facts.view.type if facts.slices_of is None else facts.slices_of[0].type
    if has_descriptors(op):
        raise op_error(op, "needs a descriptor, but its function has been given all it has")
    element = facts.internal_type or element_of(type_)
    check_global(op, type_, atom)
    check_box(op, facts.box, atom, element, facts.swizzle)
    check_descriptor_mode(op, atom, None)
    check_element_stride(op, type_)
    check_multicast(op, atom, None, tile_bits(facts.box, element))
    if (problem := stride_problem(type_, bits_of(element))) is not None:
        raise op_error(op, problem)
    if listed_array(facts.view) is not None:
        return
    if (problem := capture_problem_of([facts.view])) is not None:
        raise op_error(op, problem)


def _insertion_point(view: SSAValue, first: Operation) -> InsertPoint:
    """In front of the loops around the first use, if the array is known; else right behind it."""
    function = enclosing_function(first)
    body = None if function is None else function.regions[0]
    block = view.owner if isinstance(view, BlockArgument) else view.owner.parent
    if body is not None and len(body.blocks) == 1 and block is body.first_block:
        top = body.block.find_ancestor_op_in_block(first)
        assert top is not None
        return InsertPoint.before(top)
    if isinstance(view.owner, Block):
        return InsertPoint.at_start(view.owner)
    return InsertPoint.after(view.owner)
