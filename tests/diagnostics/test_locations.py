"""Operations and block arguments without a location get that of a neighbour."""

import random

from xdsl.dialects import test
from xdsl.dialects.builtin import UNKNOWN_LOC, i32
from xdsl.ir import Block, Operation, Region

from tileas_xdsl.diagnostics import locations
from tileas_xdsl.diagnostics.locations import file_location, locate_lost, locate_new

TEXT = """\
func.func @f(%a: i32) {
  "test.op"() : () -> ()
  "test.op"() ({
  ^bb0(%b: i32):
    "test.termop"() : () -> ()
  }) : () -> ()
  func.return
}
"""


def line_of(op: Operation) -> int:
    place = file_location(op.location)
    assert place is not None
    return place.line


def test_what_is_located_stays(parse):
    module = parse(TEXT)
    before = [op.location for op in module.walk()]
    locate_lost(module)
    assert [op.location for op in module.walk()] == before


def test_the_one_before_then_the_one_after_then_the_one_around(parse):
    module = parse(TEXT)
    body = module.body.block.first_op.body.block
    first, second, last = body.ops
    inner = second.regions[0].block
    body.insert_ops_before([test.TestOp(), test.TestOp()], first)
    body.insert_ops_after([test.TestOp()], first)
    inner.last_op.location = UNKNOWN_LOC
    inner.args[0].location = UNKNOWN_LOC
    last.location = UNKNOWN_LOC
    locate_lost(module)
    assert [line_of(op) for op in body.ops] == [2, 2, 2, 2, 3, 3]
    assert line_of(inner.last_op) == 3
    assert file_location(inner.args[0].location).line == 3


def test_nothing_is_lost_where_anything_around_is_located(parse):
    rng = random.Random(0)
    for _ in range(50):
        module = parse(TEXT)
        for op in list(module.walk())[1:]:
            if rng.random() < 0.6:
                op.location = UNKNOWN_LOC
        for block in module.walk_blocks():
            for argument in block.args:
                argument.location = UNKNOWN_LOC
        locate_lost(module)
        assert all(op.location is not UNKNOWN_LOC for op in module.walk())
        arguments = [(block, argument) for block in module.walk_blocks() for argument in block.args]
        assert all(arg.location == block.parent_op().location for block, arg in arguments)


def test_what_nothing_locates_stays_unknown():
    root = test.TestOp(regions=[Region(Block([test.TestOp()], arg_types=[i32]))])
    locate_lost(root)
    assert all(op.location is UNKNOWN_LOC for op in root.walk())


def test_what_comes_into_a_block_is_located_and_nothing_is_walked_otherwise(parse, monkeypatch):
    walked = []

    def counted(root):
        walked.append(root)
        locate_lost(root)

    monkeypatch.setattr(locations, "locate_lost", counted)
    module = parse(TEXT)
    body = module.body.block.first_op.body.block
    locate_new(module)
    locate_new(module)
    body.last_op.attributes["n"] = UNKNOWN_LOC
    body.erase_op(body.first_op)
    locate_new(module)
    assert len(walked) == 1
    body.insert_op_before(made := test.TestOp(), body.first_op)
    locate_new(module)
    argument = body.insert_arg(i32, 0)
    locate_new(module)
    copy = module.clone()
    locate_new(copy)
    assert [line_of(made), file_location(argument.location).line] == [3, 1]
    assert walked == [module] * 3 + [copy]
