"""Random programs: what their text computes is what their values are.

A program is blocks that pass values to one another; one evaluator runs the IR by its values,
another one the printed text by its registers.
"""

import random
import re

import pytest
from support.assembling import Body, module_of, needs_ptxas
from xdsl.ir import Block

from tests.backend.ptx.lowering.ptx_evaluators import run_ir, run_text
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.dialects.ptx import (
    AddOp,
    BraOp,
    CondBraOp,
    ConstOp,
    EntryOp,
    LdParamOp,
    MadOp,
    PackOp,
    RetOp,
    SetpOp,
    StOp,
    SubOp,
    UnpackOp,
    param,
    reg,
)

STEPS = 40


def random_program(rng):
    """Blocks with arguments of 1 to 3 registers; every way through them ends by a counter."""
    entry = EntryOp("k", [param("u64")])
    counts = [rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(2, 5))]
    types = [reg("b32"), *(reg("b32", count) for count in counts)]
    blocks = [Block(arg_types=types) for _ in range(rng.randint(1, 4))]
    end = Block(arg_types=types)
    for block in (*blocks, end):
        entry.body.add_block(block)
    start = Body(entry.entry_block)
    address = start(LdParamOp(entry.parameters[0], "u64"))
    values = [start.const(0), *(constants(start, rng, count) for count in counts)]
    start(BraOp(blocks[0], *values))
    for block in blocks:
        fill(Body(block), rng, blocks, end)
    last = Body(end)
    for index, argument in enumerate(end.args):
        last(StOp(address, argument, "b32", "global", offset=64 * index, width=1))
    last(RetOp())
    return entry


def constants(body, rng, count):
    return body(PackOp([body.const(rng.randrange(1000)) for _ in range(count)]))


def fill(body, rng, blocks, end):
    counter, *values = body.block.args
    values = list(values)
    for _ in range(rng.randint(0, 6)):
        values.append(mixed(body, rng, values))
    one = body.const(1)
    counter = body(AddOp(counter, one, "u32"))
    more = body(SetpOp(counter, body.const(STEPS), "lt", "u32"))
    first, second = (passed(rng, body.block.args, values) for _ in range(2))
    target = rng.choice(blocks)
    body(CondBraOp(more, target, [counter, *first], end, [counter, *second]))


def mixed(body, rng, values):
    """A new value from old ones: arithmetic in place or crosswise, or registers put together."""
    value = rng.choice(values)
    count = value.type.count.data
    same = [other for other in values if other.type.count.data in (1, count)]
    pieces = list(body(UnpackOp(value)).results)
    rng.shuffle(pieces)
    turned = body(PackOp(pieces)).result
    return rng.choice(
        [
            lambda: body(AddOp(value, rng.choice(same), "u32")).result,
            lambda: body(SubOp(turned, value, "u32")).result,
            lambda: body(MadOp(value, body(ConstOp(3)), turned, "u32", mode="lo")).result,
            lambda: turned,
        ]
    )()


def passed(rng, arguments, values):
    """For every argument but the counter, any value of its type."""
    return [
        rng.choice([value for value in values if value.type == argument.type])
        for argument in arguments[1:]
    ]


@pytest.mark.parametrize("seed", range(60))
def test_text_computes_what_values_are(seed):
    entry = random_program(random.Random(seed))
    module = module_of(entry)
    module.verify()
    stored = run_ir(entry)
    assert len(stored) >= 3
    assert run_text(ptx_text(module)) == stored


def test_evaluators_notice_a_lost_move():
    """Without its moves a program stores something else: the comparison can fail."""
    found = 0
    for seed in range(20):
        entry = random_program(random.Random(seed))
        text = ptx_text(module_of(entry))
        moves = re.findall(r"    mov\.b32 %r\d+, %r\d+;\n", text)
        if moves:
            try:
                found += run_text(text.replace(moves[-1], "", 1)) != run_ir(entry)
            except KeyError:
                found += 1
    assert found >= 5


@needs_ptxas
def test_random_programs_assemble():
    modules = [random_program(random.Random(seed)) for seed in range(5)]
    for index, entry in enumerate(modules):
        assert assemble(ptx_text(module_of(entry))).messages == (), index
