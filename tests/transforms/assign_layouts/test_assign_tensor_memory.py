"""Layout assignment for sm_100a: what is in tensor memory, what registers it is read into, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from support.stripping import strip
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from kernels import Gemm
from kernels.mutations import Edit, all_of, in_agent, replacing
from kernels.simulating import parse
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Candidate,
    Cost,
    Weights,
)
from tileas_xdsl.transforms.assign_layouts.driver import assign_layouts
from tileas_xdsl.transforms.assign_layouts.explain import explanation
from tileas_xdsl.transforms.assign_layouts.request import Decision, Preferences


def _gemm(consumers: int = 1, **parameters: Any) -> Gemm:
    sizes: dict[str, Any] = {"bm": 128, "bn": 128, "bk": 64}
    return Gemm(**{**sizes, **parameters}, consumers=consumers, instruction="tcgen05")


def _stripped(kernel: Gemm, edit: Edit | None = None) -> tuple[ModuleOp, func.FuncOp]:
    module = parse(kernel.text() if edit is None else edit(kernel.text()))
    assert strip(module) >= 2
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return module, function


def _decided(function: func.FuncOp, weights: Weights | None = None) -> Sequence[Decision]:
    preferences = Preferences(weights or Weights())
    return assign_layouts(function, get_target("sm_100a"), preferences)


def _of_registers(decisions: Sequence[Decision]) -> Decision:
    """What is decided for the registers that sums are read into, first."""
    return next(d for d in decisions if any(c.atom.startswith("tcgen05_ld_") for c in d.candidates))


def _costs(decision: Decision) -> Mapping[tuple[str, str], Cost]:
    """By the instruction that loads a layout, and that of each operation: what it costs."""
    loads = {
        c.layout: c.atom.removeprefix("tcgen05_ld_")
        for c in decision.candidates
        if isinstance(c.op, ConvertLayoutOp)
    }
    alive = (c for c in decision.candidates if not c.dropped)
    return {(loads[c.layout], c.atom.split("_ld")[0]): c.cost for c in alive}


def _chosen(decision: Decision) -> Sequence[Candidate]:
    assert decision.choice is not None
    return list(decision.choice.atoms.values())


def _score(*costs: Cost) -> float:
    """The published weights, and the registers once."""
    registers = max(cost.registers for cost in costs)
    return sum(c.smem + 4 * (c.tmem or 0) for c in costs) + 0.25 * registers


def test_plain_stores_of_f32_take_whole_sectors() -> None:
    """A row for each thread is loaded in half the cycles, and stored in four times the sectors.

    128 columns: 128 / 32 cycles where 32 lanes go at once, 128 / 16 else.  A warp stores 4 columns
    of a row at a time, which fill half of a sector (32 / 0.5), or 8 columns, a sector (16).
    """
    decision = _of_registers(_decided(_stripped(_gemm())[1]))
    assert _costs(decision) == {
        ("32x32b", "tcgen05"): Cost(0, 4, 128),
        ("16x256b", "tcgen05"): Cost(0, 8, 128),
        ("16x128b", "tcgen05"): Cost(0, 8, 128),
        ("32x32b", "stg"): Cost(64, None, 128),
        ("16x256b", "stg"): Cost(16, None, 128),
        ("16x128b", "stg"): Cost(64, None, 128),
    }
    scores = {
        shape: _score(*(c for (one, _), c in _costs(decision).items() if one == shape))
        for shape in ("32x32b", "16x256b", "16x128b")
    }
    assert scores == {"32x32b": 112, "16x256b": 80, "16x128b": 128}
    assert decision.choice is not None
    assert [c.atom for c in _chosen(decision)] == ["tcgen05_ld_16x256b", "stg"]
    assert decision.choice.cost == Cost(16, 8, 128)


def test_cycles_of_tensor_memory_decide() -> None:
    """Without them f32 sums go by whole sectors; if they are dear, by the fastest load."""
    for weight, shape in ((0, "16x256b"), (4, "16x256b"), (12.5, "32x32b")):
        weights = Weights(1, weight, 0.25)
        decision = _of_registers(_decided(_stripped(_gemm())[1], weights))
        assert _chosen(decision)[0].atom == f"tcgen05_ld_{shape}", weight


@pytest.mark.parametrize(
    ("kernel", "load", "store"),
    [
        (_gemm(), "16x256b", "stg"),
        (_gemm(output="bf16", bn=256), "32x32b", "stg"),
        (_gemm(epilogue="tma"), "32x32b", "sts"),
        (_gemm(output="bf16", epilogue="tma"), "32x32b", "sts"),
        (_gemm(2), "16x256b", "stg"),
        (_gemm(2, output="bf16", epilogue="tma"), "16x256b", "stsm_m88"),
        (_gemm(2, epilogue="tma"), "16x128b", "stsm_m88"),
    ],
    ids=str,
)
def test_registers_fit_the_stores_behind_them(kernel: Gemm, load: str, store: str) -> None:
    atoms = [c.atom for c in _chosen(_of_registers(_decided(_stripped(kernel)[1])))]
    assert atoms == [f"tcgen05_ld_{load}", store]


@pytest.mark.parametrize(
    "kernel",
    [_gemm(), _gemm(2, bn=256, element="bf16"), _gemm(element="e4m3", b="nk", bk=128)],
    ids=str,
)
def test_every_tile_is_where_its_operations_use_it(kernel: Gemm) -> None:
    """C of products in tensor memory, A and B in shared memory with the widest swizzle."""
    module, function = _stripped(kernel)
    decided = _decided(function)
    products = [op for op in module.walk() if isinstance(op, AsyncDotOp)]
    assert len(products) == kernel.consumers
    for op in products:
        assert op.atom is not None
        assert op.atom.data.keyword == f"tcgen05_{kernel.element}_{kernel.element}_f32"
        assert [space_of(v.type) for v in (op.a, op.b, op.c)] == [*[Space.SMEM] * 2, Space.TMEM]
    operands = [d.choice for d in decided if d.choice and d.choice.kind is Space.SMEM]
    assert len(operands) == 2
    for choice in operands:
        assert isinstance(choice.layout, MemoryLayout)
        assert str(choice.layout).endswith("swizzle<3,4,3>>")
    reads = [op for op in module.walk() if isinstance(op, ConvertLayoutOp)]
    assert [space_of(op.source.type) for op in reads] == [Space.TMEM] * kernel.consumers


def test_the_explanation_shows_cycles_of_tensor_memory() -> None:
    _, function = _stripped(_gemm())
    text = explanation(function, _decided(function), Weights())
    rows = [line.split() for line in text.splitlines() if "tcgen05_ld_" in line]
    assert [(row[1].removeprefix("tcgen05_ld_"), row[-1] == "chosen") for row in rows] == [
        ("32x32b", False),
        ("16x256b", True),
        ("16x128b", False),
    ]
    assert [row[7:11] for row in rows] == [
        ["0", "4", "128", "48"],
        ["0", "8", "128", "64"],
        ["0", "8", "128", "64"],
    ]


# two blocks together

PAIR = _gemm(pair=2, b="nk", persistent=4)


def _ctas(module: ModuleOp) -> set[str]:
    atoms = (op.atom for op in module.walk() if isinstance(op, AsyncDotOp))
    return {"" if atom is None else atom.data.parameters().get("cta_group", "") for atom in atoms}


def _chosen_ctas(kernel: Gemm, edit: Edit | None = None) -> set[str]:
    module, function = _stripped(kernel, edit)
    assert _ctas(module) == {""}
    _decided(function)
    return _ctas(module)


def test_blocks_that_share_b_multiply_together() -> None:
    assert _chosen_ctas(PAIR) == {"2"}
    assert _chosen_ctas(_gemm(2, bm=256, stages=2, pair=2, b="nk")) == {"2"}
    # Of two agents each has 64 rows of both blocks.
    assert _chosen_ctas(_gemm(2, pair=2, b="nk")) == {"2"}


SHARED_A = in_agent(
    0,
    replacing(
        "%la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k] barrier %barrier {atom = #load_a,",
        "%la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k] barrier %barrier "
        "{num_multicast = 2 : i32, atom = #load_a,",
    ),
)
OF_ONE_BLOCK: Mapping[str, tuple[Gemm, Edit | None]] = {
    "A is shared": (_gemm(cluster=2, b="nk"), None),
    "nothing is shared": (_gemm(b="nk"), None),
    "both are shared": (
        PAIR,
        all_of(
            replacing("#load_a = #nv_tileas<atom tma_load_2d<box = [64, 128]>>",
                      "#load_a = #nv_tileas<atom tma_load_2d<box = [64, 128], multicast>>"),
            replacing("%a box[%bk, %box_a] {atom = #load_a}",
                      "%a box[%bk, %box_a] {atom = #load_a, num_multicast = 2 : i32}"),
            SHARED_A,
        ),
    ),
    "the blocks have other tiles": (
        PAIR,
        in_agent(1, replacing("%place = %start to", "%place = %block to")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE_BLOCK)
def test_other_blocks_multiply_alone(name: str) -> None:
    """Two blocks multiply together only if that is known to be what each would do alone."""
    assert _chosen_ctas(*OF_ONE_BLOCK[name]) == {""}
