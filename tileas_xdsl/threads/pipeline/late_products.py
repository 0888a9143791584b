"""Products that run on while threads compute the operand of the next one.

    scf.for %k {                                  wait full[%k]
      consume_one {                               store (unpack %words) to place[%k % 2]
        %y = unpack %words                        wgmma_wait_group 0; arrive empty[%k - 1]
        %s = convert_layout %y : smem       ->    barrier
        %d = dot %s, %x, %c                       wgmma of place[%k % 2]
      }                                         }
    }                                           wgmma_wait_group 0; arrive empty[last]

The computed operand has two places, so that a product is waited for behind the store of the next
one.  All threads have waited for the product before it when they met a round ago: nobody reads the
place that is written.  A may be in registers, which are computed behind the wait.  Of a product
whose sums are promoted the last part runs on.

Where no operand is written, for A is computed in registers, the product runs while what A is
computed of is loaded:

    scf.for %k {                                  wait full[%k]; ldmatrix %words
      consume_one {                               wgmma_wait_group 0; arrive empty[%k - 1]
        %y = unpack %words                 ->     unpack %words
        %d = dot %y, %x, %c                       wgmma
      }                                         }
    }                                           wgmma_wait_group 0; arrive empty[last]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import mma_instruction
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumeOneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import space_of

MIN_STAGES = 3
"""One that the product reads, one that its next operand is computed of, one that is filled."""

PLACES = 2
"""Of the operand: the product reads one while threads write the other."""

RUNS_ON = "nv_tileas.runs_on"
"""Attribute of a `consume_one` for whose product there is room to run on."""


@dataclass(frozen=True)
class LateProduct:
    """A product of the stage of a round, which is waited for in the next round."""

    product: DotOp
    loop: scf.ForOp
    operand: SSAValue | None
    """The tile in shared memory that threads write for it; None where A is in registers alone."""

    @property
    def position(self) -> int:
        """Of the accumulator among what the loop carries."""
        return self.loop.body.block.args.index(self.product.c) - 1


def late_product(op: ConsumeOneOp, stages: int) -> LateProduct | None:
    """Return the product of a stage if it may run on; None for others."""
    loop, body = op.parent_op(), op.regions[0].block if op.regions else None
    products = instances_in(op, DotOp)
    if not isinstance(loop, scf.ForOp) or body is None or len(products) != 1:
        return None
    (product,) = products
    operand = written_operand(product)
    if RUNS_ON not in op.attributes or stages < MIN_STAGES:
        return None
    if product.parent is not body or (operand is None and not computes_a(product)):
        return None
    return LateProduct(product, loop, operand) if _only_accumulates(op, product, loop) else None


def written_operand(product: DotOp) -> SSAValue | None:
    """The tile in shared memory that threads write for a product that may run on; None for others.

    Of promoted sums the last part runs on.
    """
    operands, body = (product.a, product.b), product.parent
    if body is None or mma_instruction(product.atom) != "wgmma":
        return None
    written = [value for value in operands if _is_written(value, body)]
    return _whole(written[0]) if len(written) == 1 else None


def computes_a(product: DotOp) -> bool:
    """Whether A of a product is computed in registers of what threads load of a stage.

    They load it to other registers than those that the product before reads, which may run on.
    """
    if mma_instruction(product.atom) != "wgmma" or space_of(product.a.type) is Space.SMEM:
        return False
    made = _computed_before(product)
    computing = [op for op in made if not _reads_stage(op)]
    return len(computing) < len(made) and any(map(_computes, computing))


def loads_of_a(product: DotOp) -> Sequence[ConvertLayoutOp]:
    """The loads of the stage that A of a product is computed of."""
    return [op for op in _computed_before(product) if _reads_stage(op)]


def _computed_before(product: DotOp) -> set[Operation]:
    """The operations beside a product that A is computed by."""
    found, values = set[Operation](), [product.a]
    while values:
        made = values.pop().owner
        if isinstance(made, Operation) and made.parent is product.parent and made not in found:
            found.add(made)
            values += [v for op in operations_in(made) for v in op.operands]
    return found


def _reads_stage(op: Operation) -> TypeGuard[ConvertLayoutOp]:
    """Whether threads load a tile that is in shared memory."""
    if not isinstance(op, ConvertLayoutOp):
        return False
    return Space.SMEM is space_of(op.source.type) is not space_of(op.result.type)


def _computes(op: Operation) -> bool:
    """Whether an operation computes elements, and does not only give them other coordinates."""
    if isinstance(op, GenerateOp):
        return any(layout_role(inner) is LayoutRole.ELEMENTWISE for inner in op.body.block.ops)
    return layout_role(op) is LayoutRole.ELEMENTWISE


def load_first(late: LateProduct) -> Operation:
    """Let a round load what A is computed of in front of all else; return what comes next."""
    body = late.product.parent
    assert body is not None
    loads = loads_of_a(late.product)
    first = {op for load in loads for op in (load, *_views(load.source))}
    for op in [op for op in body.ops if op not in first]:
        op.detach()
        body.add_op(op)
    return next(op for op in body.ops if op not in first)


def _views(tile: SSAValue) -> Iterator[Operation]:
    """The views that a tile is of another one."""
    while isinstance(view := tile.owner, ViewOp):
        yield view
        tile = view.source


def write_first(late: LateProduct, operand: SSAValue) -> None:
    """Let the operand be written in front of all else that a round computes.

    A in registers is computed behind it then, and behind the wait for the product that reads it.
    """
    body, values, first = late.product.parent, [operand], set[Operation]()
    assert body is not None
    while values:
        for made in _writers(values.pop()):
            if made.parent is body and made not in first:
                first.add(made)
                values += [v for op in operations_in(made) for v in op.operands]
    for op in [op for op in body.ops if op not in first]:
        op.detach()
        body.add_op(op)


def _writers(tile: SSAValue) -> list[Operation]:
    """What makes a value, and copies to it: threads may read a tile that they have just stored."""
    copies = [use.operation for use in tile.uses if isinstance(use.operation, CopyOp)]
    written = [op for op in copies if op.destination is tile]
    return [*written, tile.owner] if isinstance(tile.owner, Operation) else [*written]


def _only_accumulates(op: ConsumeOneOp, product: DotOp, loop: scf.ForOp) -> bool:
    """Whether nothing but the product of the next round has the sums until the loop ends."""
    end, last = loop.body.block.last_op, product.parent.last_op if product.parent else None
    if end is None or last is None or not product.result.has_one_use():
        return False
    if list(last.operands) != [product.result] or product.c not in loop.body.block.args[1:]:
        return False
    position = loop.body.block.args.index(product.c) - 1
    payload = op.results[-1]
    return product.c.has_one_use() and payload.has_one_use() and end.operands[position] is payload


def _whole(value: SSAValue) -> SSAValue:
    while isinstance(view := value.owner, ViewOp):
        value = view.source
    return value


def _is_written(value: SSAValue, body: Block) -> bool:
    """Whether threads write a tile in shared memory, each round of it once."""
    whole = _whole(value)
    if isinstance(made := whole.owner, ConvertLayoutOp):
        is_stored = space_of(made.source.type) is not Space.SMEM or is_transposed(made.source.type)
        is_stored &= space_of(whole.type) is Space.SMEM
        return made.parent is body and is_stored
    copies = [use.operation for use in whole.uses if isinstance(use.operation, CopyOp)]
    return isinstance(made, AllocTensorOp) and [op.parent for op in copies] == [body]
