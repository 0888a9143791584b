"""Each stage of a compilation is a text that parses back, and the passes go on from it."""

import re

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Region

from benchmarks import round_trips
from benchmarks.freeze import subjects
from benchmarks.round_trips import RoundTrip
from tileas_xdsl.printing import module_text

REPRESENTATIVE = (
    "combine-combine element=f16 mode=min.sm_90a",
    "cutile-embedding 37 of 50x100 f16.sm_90a",
    "cutile-matmul_at 100x72x80 f16, tiles 64x64x32.sm_100a",
    "gemm-gemm cluster=2 consumers=1 stages=2 bm=64 bn=64 bk=64.sm_90a",
    "streamk_gemm-streamk_gemm.sm_90a",
    "windows-windows born=host.sm_90a",
)
"""Kernels of every input level, with most kinds of operations that passes leave.

`make sweep` walks all, attention too, and every stage: `benchmarks/round_trips.py`.
"""
EVERY = 3
"""Of the stages of a kernel one in so many is read back here, others of the next kernel."""


@pytest.mark.parametrize(("number", "name"), [*enumerate(REPRESENTATIVE)])
def test_stages_parse_back_and_give_the_same_ptx(number: int, name: str) -> None:
    if name.startswith("cutile-"):
        pytest.importorskip("cuda.tile")
    trip = RoundTrip(subjects()[name](), EVERY, number % EVERY)
    trip.run()
    assert trip.findings == []
    assert trip.stages > len(trip.kernel.passes)


def test_what_a_pass_changes_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages that a pass left as they were are not."""
    monkeypatch.setattr(round_trips, "difference", lambda module, parsed: "planted")
    trip = RoundTrip(subjects()["windows-windows born=host.sm_90a"]())
    trip.run()
    found = [finding.stage for finding in trip.findings]
    assert {finding.problem for finding in trip.findings} == {"planted"}
    assert {"source", "convert-tileas-to-cute-nvgpu", "convert-cute-nvgpu-to-ptx"} <= set(found)
    assert 10 < len(found) < trip.stages - 5


def test_values_print_under_names_of_their_own():
    """xDSL alone calls two of them `%size_1`: one by its hint, one as the second `%size`."""
    block = Block(arg_types=[i32] * 4)
    for argument, name in zip(block.args, ("size", "size_0_1", "size_1_1", "size"), strict=True):
        argument.name_hint = name
    block.add_op(func.ReturnOp())
    module = ModuleOp([func.FuncOp("f", ([i32] * 4, []), Region(block))])
    names = re.findall(r"%(\w+): i32", module_text(module, {}))
    assert names == ["size", "size_0", "size_1", "size_2"]
