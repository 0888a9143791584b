"""Values that one of two expressions gives, of which only that one is evaluated."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Region, SSAValue

from tileas_xdsl.frontend.tilelang.emitter import Emitter


def branch(
    emitter: Emitter,
    condition: SSAValue,
    type_: Attribute,
    then: Callable[[], SSAValue],
    otherwise: Callable[[], SSAValue],
) -> SSAValue:
    """What `then` writes where the condition holds, else what `otherwise` does."""
    regions: list[Region] = []
    for write in (then, otherwise):
        block = Block()
        with emitter.within(block):
            emitter.insert(scf.YieldOp(write()))
        regions.append(Region(block))
    return emitter.insert(scf.IfOp(condition, [type_], regions[0], regions[1])).results[0]
