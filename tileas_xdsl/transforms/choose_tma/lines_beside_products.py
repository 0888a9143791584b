"""Lines and numbers that threads read beside the products of a loop, as the scales of a round.

    scf.for %k {                                  scf.for %k {
      %d = dot %a, %b, %zero                        %t = convert_layout (tiled_load %rows) : smem
      %s = tiled_load %rows : 128x1         ->      %s = convert_layout %t
      %n = load %blocks : f32                       %u = convert_layout (load splat %blocks) : smem
      %c = fma %d, %s * %n, %sum                    %n = tensor.extract (convert_layout %u)[0]

Threads would wait for memory in each round, behind the stage of the operands.  In the stage lines
are there when these are.  Registers that are loaded a round ahead do not help: ptxas copies them at
the start of a round, and waits there.
"""

from __future__ import annotations

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import AnyFloat, IndexType, TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.copied_chunks import ThreadLoad, is_line
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.threads.gmem.memory_order import MemoryOrder
from tileas_xdsl.transforms.choose_tma.computed_operands import reaches_product


def is_line_beside_products(load: ThreadLoad) -> bool:
    """Whether threads that multiply what a loop loads read a line of another array in a round.

    Not a line of indices by which others are loaded: the producer needs it, not the consumers.
    """
    is_read = is_line(shape_of(load.result.type) or ()) and _is_beside_products(load)
    return is_read and not _addresses_loads(load)


def _addresses_loads(load: ThreadLoad) -> bool:
    """Whether another load of the loop is placed by what is computed of this one."""
    pending: list[SSAValue] = [load.result]
    seen = set(pending)
    while pending:
        for op in [use.operation for use in pending.pop().uses]:
            if isinstance(op, ThreadLoad):
                return True
            made = op.parent_op() if isinstance(op, YieldOp) else op
            new = () if made is None or isinstance(made, DotOp) else {*made.results} - seen
            pending += new
            seen.update(new)
    return False


def _is_beside_products(load: ThreadLoad) -> bool:
    loop = load.parent_op()
    if not isinstance(loop, scf.ForOp) or len(instances_in(loop, DotOp)) != 1:
        return False  # Several products are scheduled, and loads in front of them.
    others = [op for op in loop.body.ops if isinstance(op, ThreadLoad) and op is not load]
    return any(map(reaches_product, others))


class LoadNumberAsLine(RewritePattern):
    """Load a float beside products as a tile of one element, which has room in a stage.

    Integers may be what others load by.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        is_awaited = op.out_token is not None and bool(op.out_token.uses)
        if not isa(op.result.type, AnyFloat) or op.coords or is_awaited:
            return
        is_weak = MemoryOrder.of(op.mem_semantic, op.mem_scope).semantics is None
        if op.atom.data.family != "ldg" or not is_weak or not _is_beside_products(op):
            return
        pointer = _splat(op.base, rewriter)
        mask = None if op.mask is None else _splat(op.mask, rewriter)
        made = LoadOp(
            pointer,
            atom=op.atom,
            mask=mask,
            token=op.token,
            padding=op.padding_value,
        )
        made.attributes |= op.attributes
        made.location = op.location
        zero = constant(rewriter, 0, IndexType())
        number = tensor.ExtractOp(made.result, [zero], op.result.type)
        tokens = [] if made.out_token is None else [made.out_token]
        rewriter.replace(op, [made, number], [number.result, *tokens])


def _splat(value: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    return rewriter.insert(tensor.SplatOp(value, [], TensorType(value.type, [1]))).result
