"""Operands of products that are loaded through pointers which count up along their columns.

    %o = generate { ^(i, j): %first + i + j * %n }                   K x N, elements of one column
    %x = load (addptr %base, %o) mask (generate { ^(i, j): .. })     lie beside each other
    %s = convert_layout %x : smem
    %d = dot %a, %s, %c

    %o = generate { ^(j, i): %first + i + j * %n }                   N x K: rows are runs that
    %y = load (addptr %base, %o) mask (generate { ^(j, i): .. })     `cp.async` copies ahead
    %x = generate { ^(i, j): extract %y[j, i] }                      and the product reads K-major

What addresses are computed of is written again for the transposed tile, each operation beside its
own, so that what loops do not change stays in front of them.
"""

from __future__ import annotations

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.values.rows.strides import row_step
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.threads.smem.smem_layout import reads_mn_major
from tileas_xdsl.transforms.normalize_dot_operands.permutations import Permuted, permutation
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert


class LoadPointersInMemoryOrder(RewritePattern):
    """Load an operand of products through transposed pointers, where these count up in rows."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        if op.coords or row_step(op.base) == 1 or not _is_read_transposed(op):
            return
        made = _Transposed()
        pointers = made.of(op.base)
        mask = None if op.mask is None else made.of(op.mask)
        if pointers is None or row_step(pointers) != 1 or (op.mask is not None and mask is None):
            return
        for source, transposed in made.operations.items():
            rewriter.insert(transposed, InsertPoint.after(source))
        type_ = _transposed_type(op.result)
        assert type_ is not None
        insert = Insert(rewriter.insert)
        loaded = insert(
            LoadOp.create(
                operands=[pointers, *(v for v in (mask, op.token) if v is not None)],
                result_types=[type_, *(token.type for token in op.results[1:])],
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
        )
        permuted = permutation(Permuted(loaded.results[0], (1, 0)), insert)
        rewriter.replace(op, [], [permuted, *loaded.results[1:]])


def _is_read_transposed(op: LoadOp) -> bool:
    """Whether products alone read the tile, from shared memory, as units read its transpose."""
    stores = [use.operation for use in op.result.uses]
    return bool(stores) and all(
        isinstance(one, ConvertLayoutOp)
        and space_of(one.result.type) is Space.SMEM
        and all(_takes_transposed(use.operation, use.index) for use in one.result.uses)
        for one in stores
    )


def _takes_transposed(op: Operation, index: int) -> bool:
    return isinstance(op, DotOp) and (index == 1 or (index == 0 and takes_a_mn_major(op)))


def takes_a_mn_major(op: DotOp) -> bool:
    """Whether the unit of a product takes operand A of its elements MN-major."""
    atom = atom_of(op.atom)
    bits = bits_of(element_of(op.a.type))
    return isinstance(atom, MmaAtom) and reads_mn_major(atom.instruction, bits)


def _transposed_type(value: SSAValue) -> TensorType[Attribute] | None:
    kind = value.type
    if not isa(kind, TensorType[Attribute]) or len(kind.get_shape()) != 2:
        return None
    rows, columns = kind.get_shape()
    return TensorType(kind.element_type, [columns, rows], kind.encoding)


class _Transposed:
    """Transposed copies of the operations that tiles are computed by, not inserted yet."""

    def __init__(self) -> None:
        self.operations: dict[Operation, Operation] = {}

    def of(self, tile: SSAValue) -> SSAValue | None:
        """Return the transpose of a tile; None if an operation knows none."""
        type_, made = _transposed_type(tile), tile.owner
        if type_ is None or not isinstance(made, Operation):
            return None
        if made not in self.operations:
            copy = self._copied(made, type_)
            if copy is None:
                return None
            copy.location = made.location
            self.operations[made] = copy
        return self.operations[made].results[0]

    def _copied(self, op: Operation, type_: TensorType[Attribute]) -> Operation | None:
        match op:
            case GenerateOp():
                return _with_axes_exchanged(op, type_)
            case tensor.SplatOp():
                return tensor.SplatOp(op.input, [], type_)
            case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value) if is_splat(value):
                return arith.ConstantOp(DenseIntOrFPElementsAttr.new([type_, value.data]), type_)
            case _ if op.name.startswith("arith.") or isinstance(op, AddPtrOp):
                return self._elementwise(op, type_)
            case _:
                return None

    def _elementwise(self, op: Operation, type_: TensorType[Attribute]) -> Operation | None:
        operands = [self.of(operand) for operand in op.operands]
        known = [operand for operand in operands if operand is not None]
        if len(known) != len(operands) or len(op.results) != 1:
            return None
        return on_types(op, known, [type_])


def _with_axes_exchanged(op: GenerateOp, type_: TensorType[Attribute]) -> Operation:
    made = op.clone()
    row, column = made.body.block.args
    rows = tuple(row.uses)
    column.replace_all_uses_with(row)
    for use in rows:
        use.operation.operands[use.index] = column
    return GenerateOp.create(
        result_types=[type_],
        regions=[made.detach_region(made.body)],
        attributes=dict(op.attributes),
    )
