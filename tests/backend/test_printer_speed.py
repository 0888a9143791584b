"""Constructors and printer are quick, and linear in the number of operations."""

import time

from support.assembling import Body, module_of
from xdsl.ir import Block

from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.dialects.ptx import (
    AddOp,
    BraOp,
    CondBraOp,
    CvtOp,
    EntryOp,
    RetOp,
    SetpOp,
    ShlOp,
    SregOp,
    StOp,
    UndefOp,
    WgmmaOp,
    WgmmaWaitOp,
    reg,
)


def program(count):
    """About `count` operations in a loop that carries 128 accumulators."""
    entry = EntryOp("k", [])
    loop, end = Block(arg_types=[reg("b32"), reg("f32", 128)]), Block()
    entry.body.add_block(loop)
    entry.body.add_block(end)
    start, body = Body(entry.entry_block), Body(loop)
    first = start(SregOp("tid.x"))
    start(BraOp(loop, first, start(UndefOp("f32", 128))))
    index, accumulator = loop.args
    for step in range(count // 6):
        four = body.const(4)
        index = body(AddOp(index, four, "u32"))
        place = body(ShlOp(index, four, "b32"))
        body(StOp(place, first, "b32", "shared", offset=4 * step))
        wide = body(CvtOp(place, "u64", "u32"))
        more = body(SetpOp(place, four, "lt", "u32"))
        if step % 80 == 0:
            accumulator = body(WgmmaOp(accumulator, wide, wide, more, "f32", "bf16"))
    done = body(WgmmaWaitOp(0, [accumulator])).results[0]
    body(CondBraOp(more, loop, [index, done], end, []))
    Body(end)(RetOp())
    return module_of(entry)


def best(action, times=5):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return min(taken)


def test_two_thousand_operations():
    """Bars with room for a busy machine: 30 ms to print and 15 us an operation to construct."""
    module = program(2000)
    assert best(lambda: ptx_text(module)) < 0.12
    assert best(lambda: program(2000)) < 0.12


def test_time_is_linear():
    small, large = program(1000), program(8000)
    assert best(lambda: ptx_text(large)) < 24 * best(lambda: ptx_text(small))


def test_no_move_in_the_loop():
    assert "mov.f32" not in ptx_text(program(1000))
