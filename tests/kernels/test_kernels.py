"""Every kernel equals numpy, as far as rounding allows, in whatever order things happen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels import Copy, Gemm, Kernel, Sizes, Softmax, VectorAdd
from kernels.mutations import in_agent, replacing, swapping
from kernels.simulating import parse, run, schedules
from tileas_xdsl.interpreters.tile.launch import Schedule

SEEDS = 8
SWEEP = 200


@dataclass(frozen=True)
class Case:
    """A kernel and the size of a problem."""

    kernel: Kernel
    sizes: Sizes

    def __str__(self) -> str:
        return f"{self.kernel} {'x'.join(map(str, self.sizes.values()))}"


def _gemm(exact: bool, **parameters: Any) -> Case:
    kernel = Gemm(**parameters)
    return Case(kernel, {"m": 32, "n": 64, "k": 96} if exact else kernel.sizes)


VECTORS = [
    Case(VectorAdd(element), {"n": n})
    for element in ("f32", "f16", "bf16", "i32")
    for n in (128, 150, 1)
]
COPIES = [
    Case(Copy(element), {"m": m, "n": n})
    for element in ("f32", "f16", "bf16", "e4m3", "i32")
    for m, n in ((16, 96), (20, 144), (3, 16))
]
ROWS = [
    Case(Softmax(element), {"m": 3, "n": n})
    for element in ("f32", "f16", "bf16")
    for n in (64, 45, 1)
]
SEVERAL = {"m": 70, "n": 40, "k": 40}
"""Three rows of two tiles, for more and for fewer persistent blocks."""

PERSISTENT = [
    *(
        Case(Gemm(persistent=blocks, group=group, form=form), SEVERAL)
        for blocks, group, form in ((1, 8, "region"), (4, 2, "scalar"), (7, 1, "scalar"))
    ),
    Case(Gemm(persistent=2, group=2, epilogue="tma", output="f16", stages=2), SEVERAL),
    Case(Gemm(persistent=4, group=2, cluster=2, form="scalar", epilogue="tma"), SEVERAL),
    Case(
        Gemm(persistent=2, group=3, cluster=2, consumers=1, element="e4m3", b="nk"),
        {
            "m": 100,
            "n": 80,
            "k": 48,
        },
    ),
]
GEMMS = [
    *(
        _gemm(exact, element=element, output=output, form=form)
        for element in ("f16", "bf16", "e4m3")
        for output in ("f32", "f16")
        for form in ("region", "scalar")
        for exact in (True, False)
    ),
    *(
        _gemm(False, stages=stages, form=form)
        for stages in (1, 2, 4)
        for form in ("region", "scalar")
    ),
    *(
        _gemm(exact, epilogue="tma", output=output)
        for output in ("f32", "f16")
        for exact in (True, False)
    ),
    *(
        _gemm(exact, element=element, cluster=2, form=form)
        for element in ("f16", "e4m3")
        for form in ("region", "scalar")
        for exact in (True, False)
    ),
    _gemm(False, element="bf16", output="f16", form="scalar", epilogue="tma", cluster=2, stages=2),
    *(_gemm(False, instruction="tcgen05", form=form) for form in ("region", "scalar")),
    *(
        _gemm(exact, b="nk", element=element, form=form)
        for element in ("f16", "e4m3")
        for form in ("region", "scalar")
        for exact in (True, False)
    ),
    *(
        _gemm(False, consumers=1, form=form, epilogue=epilogue)
        for form in ("region", "scalar")
        for epilogue in ("plain", "tma")
    ),
    Case(Gemm(), {"m": 1, "n": 8, "k": 8}),
    Case(Gemm(epilogue="tma"), {"m": 70, "n": 40, "k": 40}),
    Case(Gemm(cluster=2), {"m": 40, "n": 72, "k": 40}),
    *PERSISTENT,
]
CASES = [*VECTORS, *COPIES, *ROWS, *GEMMS]


@pytest.mark.sample(30)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_are_those_of_numpy(case: Case) -> None:
    module = parse(case.kernel.text())
    for data, schedule in enumerate(schedules(SEEDS)):
        found = run(case.kernel, case.sizes, schedule, data=data, module=module)
        assert found.deviation.is_right, (schedule, data, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_right_kernel_is_accused(case: Case) -> None:
    module = parse(case.kernel.text())
    for data, schedule in enumerate(schedules(SWEEP)):
        found = run(case.kernel, case.sizes, schedule, data=data, module=module)
        assert found.deviation.is_right, (schedule, data, found.deviation)


def test_tcgen05_releases_a_stage_when_it_has_read_it() -> None:
    """A fault with wgmma is how tcgen05 works: the release follows the product by itself."""
    kernel = Gemm(form="scalar", instruction="tcgen05")
    early = in_agent(2, swapping("%after = ", "%t3 = "))
    module = parse(in_agent(1, swapping("%after = ", "%t3 = "))(early(kernel.text())))
    for schedule in schedules(SEEDS):
        assert run(kernel, schedule=schedule, module=module).deviation.is_right, schedule


def test_what_is_out_of_bounds_without_padding_is_nothing_to_rely_on() -> None:
    kernel = Softmax()
    module = parse(replacing(", padding_value = #nv_tileas<padding neg_inf>", "")(kernel.text()))
    assert not run(kernel, module=module).deviation.is_right


_INDEX: Mapping[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "minui": lambda a, b: min(a, b),
}
_INDEX_LINE = re.compile(r"%(\w+) = arith\.(\w+) %(\w+), %(\w+) : index")


def _tile_at(text: str, place: int, facts: dict[str, int]) -> tuple[int, int]:
    """Row and column of the tile that the text of a kernel computes at a place of the order."""
    known = {**facts, "place": place}
    body = text[text.index("iter_args(%pt = ") : text.index("%pn, %in = ")]
    for name, operation, a, b in _INDEX_LINE.findall(body):
        known[name] = _INDEX[operation](known[a], known[b])
    return known["m"], known["n"]


@pytest.mark.parametrize(("cluster", "group"), [(1, 1), (1, 2), (2, 3), (1, 8)])
def test_persistent_blocks_go_through_bands_column_by_column(cluster: int, group: int) -> None:
    rows, columns = 5, 3
    expected = [
        (m, pair * cluster)
        for first in range(0, rows, group)
        for pair in range(columns)
        for m in range(first, min(first + group, rows))
    ]
    facts = {
        "band": group * columns,
        "deepest": group,
        "tile_rows": rows,
        "seats": cluster,
        "seat": 0,
    }
    text = Gemm(persistent=2, cluster=cluster, group=group).text()
    assert [_tile_at(text, k, facts) for k in range(rows * columns)] == expected


@pytest.mark.parametrize("blocks", [1, 3, 5])
def test_persistent_blocks_share_the_tiles(blocks: int) -> None:
    """Each tile takes two loads, of A and of B: K is as deep as one tile."""
    found = run(Gemm(persistent=blocks), {"m": 150, "n": 136, "k": 8}, trace=True)
    spans = found.simulation.trace.spans
    loads = Counter(span.lane.block for span in spans if span.name == "async.tiled_tma_load")
    assert sorted(loads.values()) == sorted(2 * len(range(k, 25, blocks)) for k in range(blocks))


@pytest.mark.parametrize("resident", [1, 2, 5])
def test_blocks_side_by_side(resident: int) -> None:
    kernel, sizes = Gemm(form="scalar", cluster=2), {"m": 70, "n": 104, "k": 80}
    module = parse(kernel.text())
    for schedule in schedules(5):
        found = run(kernel, sizes, schedule, module=module, resident=resident)
        assert found.deviation.is_right, schedule


PROGRAM = """
import hashlib
from kernels import Gemm
from kernels.simulating import run
from tileas_xdsl.interpreters.tile.launch import Schedule
sizes = {"m": 70, "n": 104, "k": 80}
run = run(Gemm(form="scalar", cluster=2), sizes, Schedule("random", 3), trace=True)
told = repr(run.simulation.trace) + str(run.simulation.cycles)
print(hashlib.sha256(told.encode() + run.simulation.arrays[2].tobytes()).hexdigest())
"""


def test_the_same_schedule_gives_the_same_run_in_another_process() -> None:
    root = Path(__file__).parents[2]
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(printed) == 1


REPEATED = [
    VectorAdd(),
    Copy(),
    Softmax(),
    Gemm(epilogue="tma"),
    Gemm(form="scalar", cluster=2),
]


@pytest.mark.sample(10)
@pytest.mark.parametrize("kernel", REPEATED, ids=str)
@pytest.mark.parametrize("schedule", schedules(2), ids=str)
def test_the_same_schedule_gives_the_same_run(kernel: Kernel, schedule: Schedule) -> None:
    one, other = (run(kernel, schedule=schedule, trace=True).simulation for _ in range(2))
    for mine, its in zip(one.arrays, other.arrays, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(its).tobytes()
    assert (one.cycles, one.operations, one.blocks) == (
        other.cycles,
        other.operations,
        other.blocks,
    )
    assert one.trace.spans, "a trace was asked for"
    assert repr(one.trace) == repr(other.trace)


def test_schedules_differ() -> None:
    module = parse(Gemm().text())
    runs = [run(Gemm(), schedule=s, module=module, trace=True) for s in schedules(3)]
    assert len({repr(found.simulation.trace) for found in runs}) > 1


@pytest.mark.parametrize("kernel", REPEATED, ids=str)
def test_a_wrong_result_is_noticed(kernel: Kernel) -> None:
    """The tolerance is tight: one step of the output's type beyond it is an error."""
    inputs = kernel.make_inputs(np.random.default_rng(3), kernel.sizes)
    references = kernel.reference(inputs)
    right = [
        references[k].value.astype(given.dtype) if k in references else given
        for k, given in enumerate(inputs)
    ]
    assert kernel.check(inputs, right).is_right
    assert not kernel.check(inputs, inputs).is_right, "outputs that nobody wrote"
    (position,) = references
    wrong = [array.copy() for array in right]
    bound = np.broadcast_to(references[position].bound, wrong[position].shape)
    step = 3 * np.maximum(bound.flat[-1], np.spacing(np.abs(wrong[position].flat[-1])))
    wrong[position].flat[-1] += step.astype(wrong[position].dtype)
    assert not kernel.check(inputs, wrong).is_right
    changed = [array.copy() for array in right]
    changed[0].flat[0] += changed[0].dtype.type(1)
    assert not kernel.check(inputs, changed).is_right, "an input that changed"


def test_the_text_has_the_parameters() -> None:
    text = Gemm(element="e4m3", output="f16", stages=5, bm=64, bn=16, bk=128).text()
    for part in ("numStages = 5", "tensor<64x128xf8E4M3FN>", "wgmma_e4m3_e4m3_f32", "x16xf16"):
        assert part in text
    assert "$" not in text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "other"}, "no gemm has form 'other'"),
        ({"epilogue": "other"}, "epilogue 'other'"),
        ({"instruction": "mma"}, "wgmma or tcgen05, not mma"),
        ({"cluster": 3}, "1 or 2 blocks, not 3"),
        ({"b": "mn"}, "kn or nk, not mn"),
        ({"consumers": 3}, "1 or 2 consumers, not 3"),
        ({"persistent": 3, "cluster": 2}, "3 persistent blocks in clusters of 2"),
        ({"persistent": -1}, "-1 persistent blocks"),
        ({"persistent": 2, "group": 0}, "bands of 0 rows of tiles"),
    ],
)
def test_variants_that_do_not_exist(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Gemm(**parameters)
