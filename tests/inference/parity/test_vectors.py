"""TileLang's own answers: layouts of fragments, shared buffers and loops, as functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.inference.parity.tilelang_kernels import kernel_of
from tests.inference.parity.tilelang_layouts import Printed, assert_same, place_table
from tests.inference.parity.tilelang_programs import kernel_from
from tileas_xdsl.inference.decisions import Decisions, InferenceError
from tileas_xdsl.inference.parity import infer
from tileas_xdsl.inference.program import Loop, LoopKind, Program
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.tables import table

DATA = Path(__file__).parent.parent / "data" / "tilelang_parity_sm90a.json"
VECTORS: dict[str, dict[str, dict[str, Printed]]] = json.loads(DATA.read_text(encoding="utf-8"))


MORE: dict[str, dict[str, Any]] = json.loads(
    (DATA.parent / "tilelang_more.json").read_text(encoding="utf-8")
)
"""What TileLang answered, or null where it gave up, for kernels of other sizes and kinds."""


def _assert_same_shared(printed: Printed, layout: AnyLayout, bits: int, name: str) -> None:
    shape = tuple(printed["input_shape"])
    offsets = np.asarray(table(layout)).reshape(shape[::-1]).T
    assert np.array_equal(place_table(printed) * bits // 8, offsets), f"{name}: {layout}"


def _assert_same_buffers(
    expected: dict[str, Printed], decisions: Decisions, program: Program
) -> None:
    for buffer, printed in expected.items():
        if printed["kind"] == "Layout":
            bits = program.buffers[buffer].bits
            _assert_same_shared(printed, decisions.shared[buffer], bits, buffer)
        else:
            assert_same(printed, decisions.fragments[buffer], buffer)
    assert set(expected) == {*decisions.fragments, *decisions.shared}


@pytest.mark.parametrize("kernel", MORE)
def test_other_kernels(kernel: str) -> None:
    row = MORE[kernel]
    program, model = kernel_from(row).program, kernel.split("|")[1]
    if row["layouts"] is None:
        with pytest.raises(InferenceError):
            infer(program, model)
    else:
        _assert_same_buffers(row["layouts"], infer(program, model), program)


@pytest.mark.parametrize("vector", VECTORS)
def test_layouts_are_those_of_tilelang(vector: str) -> None:
    name, model = vector.split("|")
    program = kernel_of(name).program
    decisions = infer(program, model)
    expected = VECTORS[vector]
    _assert_same_buffers(expected["buffers"], decisions, program)
    loops = [
        decisions.loops[number]
        for number, operation in enumerate(program.operations)
        if isinstance(operation, Loop) and operation.kind is LoopKind.PARALLEL
    ]
    for (loop, printed), decision in zip(expected["loops"].items(), loops, strict=True):
        assert_same(printed, decision.owners, f"loop {loop}")
