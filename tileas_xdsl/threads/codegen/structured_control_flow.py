"""Code that runs under a condition: `scf.if` without results."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.threads.codegen.builder import ThreadBuilder


def run_if(e: ThreadBuilder, condition: SSAValue, block: Block) -> None:
    """Insert an `scf.if` of a block that lacks only its terminator."""
    with e.within(block):
        e.insert(scf.YieldOp())
    e.insert(scf.IfOp(condition, [], Region(block)))


@contextmanager
def predicated(e: ThreadBuilder, condition: SSAValue | None) -> Generator[None]:
    """Insert code that runs where a condition holds; None always holds."""
    if condition is None:
        yield
        return
    block = Block()
    with e.within(block):
        yield
    run_if(e, condition, block)
