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
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    PipelineYieldOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.transforms.assign_layouts.tile_encodings import set_type


@dataclass(frozen=True)
class TileasMaterializeAsync(ModulePass):
    """Issue the products of stages asynchronously, and wait for them where they are read.

    Needs tiles that are laid out: between a product and its wait nothing may move its registers.
    Products that are promoted, that threads compute (`mma.sync`, FMA), or whose sums are in tensor
    memory (waited for at the read anyway) stay as they are.
    """

    name = "tileas-materialize-async"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for read in [one for one in op.walk() if isinstance(one, ConsumerReadOp)]:
            product = _product(read)
            if product is not None:
                _issue(read, product)


def _product(read: ConsumerReadOp) -> DotOp | None:
    """The product of a read, which is all that the read gives, if it can run in the background."""
    block = read.body.block if read.body is not None else None
    if block is None or len(read.payload) != 1:
        return None
    end = block.last_op
    found = end.operands[0].owner if isinstance(end, PipelineYieldOp) else None
    if not isinstance(found, DotOp) or found.parent is not block or found.promote is not None:
        return None
    atom = atom_of(found.atom)
    is_wgmma = isinstance(atom, MmaAtom) and atom.instruction == "wgmma"
    return found if is_wgmma and found.result.has_one_use() else None


def _issue(read: ConsumerReadOp, product: DotOp) -> None:
    """Make a product asynchronous; wait at its first use, and release the stage behind that."""
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
    (payload,) = read.payload
    type_ = payload.type
    releases = [r for r in _releases(read.result_token) if r.parent is read.parent]
    first = _first_user(read, [payload, *(release.result_token for release in releases)])
    Rewriter.replace_op(product, made)
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
