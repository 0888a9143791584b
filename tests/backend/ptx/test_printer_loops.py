"""A long loop that carries accumulators is printed without moves."""

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


def test_no_move_in_the_loop():
    assert "mov.f32" not in ptx_text(program(1000))
