"""The pass `tileas-materialize-async`: matrix products run while code behind them does.

    %r, %d = consumer_read %t { %d = dot %q, %k, %zero }        %r, %f = consumer_read %t {
    %u = consumer_release %r                                      %f = async.dot %q, %k, %zero
    ...                                                   ->    }
    %s = mulf %d, %scale                                        ...
                                                                %d = async.wait %f
                                                                %u = consumer_release %r
                                                                %s = mulf %d, %scale

A product of a warpgroup (`wgmma`) is waited for in front of the first operation that reads it, and
a stage is released behind the waits of all products that read it: at the latest where its block
ends.  The lowering to threads counts the products issued between, which stay in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import mma_instruction
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    PipelineYieldOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type


@dataclass(frozen=True)
class TileasMaterializeAsync(ModulePass):
    """Issue the products of stages asynchronously, and wait for them where they are read.

    Needs tiles that are laid out: between a product and its wait nothing may move its registers.
    Products that are promoted, that threads compute (`mma.sync`, FMA), or whose sums are in tensor
    memory (waited for at the read anyway) stay as they are.
    """

    name = "tileas-materialize-async"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in instances_in(op, scf.ForOp):
            for chain in _chains(loop):
                _carry(loop, chain)
        for read in instances_in(op, ConsumerReadOp):
            product = _product(read)
            if product is not None:
                _issue(read, product)
        for product in instances_in(op, DotOp):
            _issue_alone(product)


@dataclass(frozen=True)
class _Chain:
    """A product of a loop that accumulates on that of the round before, or of the prologue.

    %r0, %d0 = consumer_read ...
    scf.for iter_args(%r = %r0, %d = %d0) {
      %r1, %d1 = consumer_read { dot %a, %b, %d }
      consumer_release %r
      yield %r1, %d1
    }
    """

    index: int
    """Of the accumulator among what the loop carries."""
    first: ConsumerReadOp
    next: ConsumerReadOp


def _chains(loop: scf.ForOp) -> Iterator[_Chain]:
    """The products of a loop whose wait may be left to the next round."""
    end = loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    for k, (begin, after) in enumerate(zip(loop.iter_args, end.operands, strict=True)):
        first, following = begin.owner, after.owner
        if not isinstance(first, ConsumerReadOp) or not isinstance(following, ConsumerReadOp):
            continue
        if following.parent is not loop.body.block or not begin.has_one_use():
            continue
        product = _product(following)
        argument = loop.body.block.args[k + 1]
        if product is None or product.c is not argument or not argument.has_one_use():
            continue
        if not all(_is_of_stage(value, loop) for value in (product.a, product.b)):
            continue
        if after.has_one_use() and _product(first) is not None:
            yield _Chain(k, first, following)


def _is_of_stage(operand: SSAValue, loop: scf.ForOp) -> bool:
    """Whether an operand stays in memory until its stage is released, or all the time."""
    while isinstance(view := operand.owner, ViewOp) and loop.is_ancestor(view):
        operand = view.source
    if isinstance(operand.owner, Block):
        return isinstance(operand.owner.parent_op(), ConsumerReadOp)
    return not loop.is_ancestor(operand.owner)


def _carry(loop: scf.ForOp, chain: _Chain) -> None:
    """Let the loop carry the token of a product; what is read of it is waited for behind the loop.

    In the loop the product of the round before is waited for where its stage is released.
    """
    type_ = chain.next.payload[0].type
    for read in (chain.first, chain.next):
        product = _product(read)
        assert product is not None
        set_type(read.payload[0], _in_background(product).result.type)
    token = chain.next.payload[0].type
    argument, result = loop.body.block.args[chain.index + 1], loop.results[chain.index]
    set_type(argument, token)
    set_type(result, token)
    for release in _carried_releases(loop.body.block.args[1:], loop, chain):
        Builder(InsertPoint.before(release)).insert(_bare_wait(argument))
    behind = _carried_releases(loop.results, loop, chain)
    uses = list(result.uses)
    block = loop.parent
    assert block is not None
    found = [block.find_ancestor_op_in_block(use.operation) for use in uses]
    inside = {op for op in (*found, *behind) if op is not None}
    place = next(op for op in block.ops if op in inside or op is block.last_op)
    wait = Builder(InsertPoint.before(place)).insert(WaitOp(result))
    (done,) = wait.values
    assert done.type == type_
    for use in uses:
        use.operation.operands[use.index] = done


def _carried_releases(
    carried: Sequence[SSAValue], loop: scf.ForOp, chain: _Chain
) -> Sequence[ConsumerReleaseOp]:
    """The releases of the stage that a product of the round before has read."""
    end = loop.body.block.last_op
    assert end is not None
    mine = [v for v, y in zip(carried, end.operands, strict=True) if y is chain.next.result_token]
    return [release for value in mine for release in _releases(value)]


def _bare_wait(token: SSAValue) -> WaitOp:
    """Wait for a product whose registers the next product goes on with."""
    return WaitOp.build(operands=[token], result_types=[[]])


def _product(read: ConsumerReadOp) -> DotOp | None:
    """The product of a read, which is all that the read gives, if it can run in the background."""
    block = read.body.block if read.body is not None else None
    if block is None or len(read.payload) != 1:
        return None
    end = block.last_op
    found = end.operands[0].owner if isinstance(end, PipelineYieldOp) else None
    if not isinstance(found, DotOp) or found.parent is not block or found.promote is not None:
        return None
    is_wgmma = mma_instruction(found.atom) == "wgmma"
    return found if is_wgmma and found.result.has_one_use() else None


def _issue(read: ConsumerReadOp, product: DotOp) -> None:
    """Make a product asynchronous; wait at its first use, and release the stage behind that."""
    (payload,) = read.payload
    type_ = payload.type
    releases = [r for r in _releases(read.result_token) if r.parent is read.parent]
    first = _first_user(read, [payload, *(release.result_token for release in releases)])
    made = _in_background(product)
    set_type(payload, made.result.type)
    uses = list(payload.uses)
    wait = WaitOp(payload)
    wait.location = product.location
    Builder(InsertPoint.before(first)).insert(wait)
    (done,) = wait.values
    assert done.type == type_
    for use in uses:
        use.operation.operands[use.index] = done
    for release in releases:
        if release.is_before_in_block(wait):
            release.detach()
            Builder(InsertPoint.after(wait)).insert(release)
    _make_operand_behind(made.a, first)


def _issue_alone(product: DotOp) -> None:
    """Make a product of no stage asynchronous, where others are issued before it is read.

    %d = dot %x, %y                         %f = async.dot %x, %y
    %r, %e = consumer_read { dot ... }  ->  %r, %e = consumer_read { dot ... }
    copy %d                                 %d = async.wait %f
                                            copy %d
    """
    block = product.parent
    if block is None or not isinstance(block.parent_op(), scf.ForOp):
        return
    if product.promote is not None or mma_instruction(product.atom) != "wgmma":
        return
    found = [block.find_ancestor_op_in_block(use.operation) for use in product.result.uses]
    users = [op for op in found if op is not None]
    if len(users) < len(found) or not users or any(op is block.last_op for op in users):
        return
    # Without another product issued before the first use, the wait would follow at once, and
    # nothing would run meanwhile.
    first = next(op for op in block.ops if op in users)
    if not any(map(_multiplies, _between(product, first))):
        return
    made = _in_background(product)
    uses = list(made.result.uses)
    wait = WaitOp(made.result)
    wait.location = made.location
    Builder(InsertPoint.before(first)).insert(wait)
    for use in uses:
        use.operation.operands[use.index] = wait.values[0]


def _between(first: Operation, last: Operation) -> Iterator[Operation]:
    """The operations between two of a block."""
    op = first.next_op
    while op is not None and op is not last:
        yield op
        op = op.next_op


def _multiplies(op: Operation) -> bool:
    return has_instance(op, DotOp, AsyncDotOp)


def _make_operand_behind(operand: SSAValue, end: Operation) -> None:
    """Put what makes the next round's operand behind the wait for the product that reads this one.

    The product has it in registers: made earlier, the next one needs others, and a copy.
    """
    block = end.parent
    if block is None or not isinstance(end, scf.YieldOp) or operand.owner is not block:
        return
    following = end.operands[block.args.index(operand) - 1]
    maker = following.owner
    if not isinstance(maker, arith.TruncFOp) or maker.parent is not block:
        return
    if following.has_one_use():
        maker.detach()
        Builder(InsertPoint.before(end)).insert(maker)


def _in_background(product: DotOp) -> AsyncDotOp:
    """Replace a product by the asynchronous one."""
    made = AsyncDotOp(
        product.a,
        product.b,
        product.c,
        product.atom,
        signedness_a=product.signedness_a,
        signedness_b=product.signedness_b,
    )
    made.attributes |= product.attributes
    made.location = product.location
    Rewriter.replace_op(product, made)
    return made


def _first_user(read: ConsumerReadOp, values: Sequence[SSAValue]) -> Operation:
    """The first operation of a block that uses values or contains what does."""
    block = read.parent
    assert block is not None
    found = [block.find_ancestor_op_in_block(u.operation) for v in values for u in v.uses]
    inside = {op for op in found if op is not None}
    return next(op for op in block.ops if op in inside or op is block.last_op)


def _releases(token: SSAValue) -> Iterator[ConsumerReleaseOp]:
    """The releases of a stage, behind the reads of it that follow."""
    for use in token.uses:
        if isinstance(use.operation, ConsumerReleaseOp):
            yield use.operation
        elif isinstance(use.operation, ConsumerReadOp):
            yield from _releases(use.operation.result_token)
