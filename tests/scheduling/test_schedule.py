"""The attribute `tileas.schedule`: read, written, and checked for its form."""

import pytest
from support.ir import parse
from xdsl.dialects import scf

from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.scheduling.schedule import Role, loads_of
from tileas_xdsl.scheduling.schedule_attributes import (
    clear_schedule,
    read_pin,
    read_schedule,
    write_schedule,
)
from tileas_xdsl.target.costs.units import Unit

LOAD = '{stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}'
DOT = (
    "{stage = 1 : i32, order = 0 : i32, start = 1024 : i32,"
    ' role = "consumer", unit = "tensor_core"}'
)
PRODUCER = '{name = "producer", warps = 4 : i32, registers = 40 : i32}'
CONSUMER = '{name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}'
LOOP = (
    f"{{ii = 1024 : i32, roles = [{PRODUCER}, {CONSUMER}],"
    " buffers = [{value = 0 : i32, stages = 4 : i32}]}"
)


def loop_of(load=LOAD, dot=DOT, loop=LOOP):
    """A loop of a load and a product with the attributes."""
    a, b, c = "tensor<64x64xf16>", "tensor<64x64xf16>", "tensor<64x64xf32>"
    view = "!nv_tileas.tiled_view<64x64xf16, gmem>"
    load, dot = f"tileas.schedule = {load}", f"tileas.schedule = {dot}"
    module = parse(f"""
func.func @f(%a: {view}, %y: {b}, %n: index, %zero: {c}) {{
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %sum = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> ({c}) {{
    %x = nv_tileas.tiled_load %a[%0, %k] {{atom = #nv_tileas<atom ldg>, {load}}}
      : {view} -> {a}
    %next = nv_tileas.dot %x, %y, %acc {{atom = #nv_tileas<atom wgmma_f16_f16_f32>, {dot}}}
      : {a}, {b}, {c} -> {c}
    scf.yield %next : {c}
  }} {{tileas.schedule = {loop}}}
  func.return
}}""")
    (found,) = (op for op in module.walk() if isinstance(op, scf.ForOp))
    return found


def test_a_schedule_is_read():
    loop = loop_of()
    schedule = read_schedule(loop)
    assert schedule is not None
    assert (schedule.ii, schedule.stages) == (1024, 2)
    load, dot, _ = loop.body.block.ops
    assert (schedule.placements[load].role, schedule.placements[dot].role) == (
        Role.PRODUCER,
        Role.CONSUMER,
    )
    assert schedule.placements[dot].unit is Unit.TENSOR_CORE
    assert schedule.plan.role(Role.CONSUMER).replicas == 2
    assert schedule.plan.stages(0) == 4
    assert loads_of(loop) == [load]


def test_what_is_written_is_read_again_in_both_spellings():
    loop = loop_of()
    schedule = read_schedule(loop)
    clear_schedule(loop)
    assert read_schedule(loop) is None
    write_schedule(loop, schedule)
    assert read_schedule(loop) == schedule
    dot = [*loop.body.block.ops][1]
    del dot.attributes["tileas.schedule"]
    assert (read_pin(dot).stage, read_pin(dot).order, read_pin(dot).start) == (1, 0, None)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"load": "3 : i32"}, "has no dictionary as tileas.schedule"),
        ({"load": "{stag = 0 : i32}"}, "unknown entry 'stag' in tileas.schedule; did you mean"),
        ({"load": "{xyz = 0 : i32}"}, "known are stage, order, start, role, unit"),
        ({"load": "{stage = 0 : i64}"}, "has stage = 0 : i64 in tileas.schedule, which has to be"),
        ({"load": "{start = -1 : i32}"}, "has start = -1 in tileas.schedule; at least 0"),
        ({"load": '{role = "boss"}'}, 'has role = "boss" in tileas.schedule; known are producer'),
        ({"load": '{unit = "abacus"}'}, "known are tma, tensor_core"),
        ({"load": "{stage = 0 : i32}"}, "has only a part of a placement"),
        ({"loop": "{roles = 4 : i32}"}, "which has to be an array"),
        ({"loop": "{turns = 4 : i32}"}, "has turns = 4 : i32 in tileas.schedule, which has to be"),
        ({"loop": '{roles = [{name = "producer"}]}'}, "a role without name, warps or registers"),
        ({"loop": "{buffers = [{value = 0 : i32}]}"}, "a buffer without value or stages"),
        ({"loop": f"{{roles = [{PRODUCER}, {CONSUMER}]}}"}, "has no ii in tileas.schedule"),
        ({"loop": f"{{ii = 1024 : i32, roles = [{CONSUMER}]}}"}, "in the role producer, which"),
        ({"loop": LOOP.replace(CONSUMER, PRODUCER)}, "has a role twice"),
        ({"loop": LOOP.replace("40", "41")}, "gives 41 registers to the role producer"),
        ({"loop": LOOP.replace("value = 0", "value = 1")}, "has a buffer of load 1, but its body"),
        ({"loop": LOOP.replace("1024", "512")}, "starts at cycle 1024, which with ii = 512 is"),
        ({"load": DOT.replace("1024", "1030")}, "has no operation in stage 0"),
        ({"load": LOAD.replace("producer", "consumer")}, "has order 0 of the role consumer, as"),
        (
            {"load": LOAD.replace("producer", "consumer").replace("start = 0", "start = 500"),
             "dot": DOT.replace("order = 0", "order = 1")},
            "starts in cycle 0 of a round, before order 0, which starts in cycle 500",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(attributes, message):
    with pytest.raises(OpError, match=message.replace("[", r"\[")):
        read_schedule(loop_of(**attributes))


def test_two_buffers_of_one_load_are_refused():
    entry = "{value = 0 : i32, stages = 4 : i32}"
    with pytest.raises(OpError, match="two entries for one load"):
        read_schedule(loop_of(loop=LOOP.replace(entry, f"{entry}, {entry}")))
