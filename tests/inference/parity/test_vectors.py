"""TileLang's own answers: layouts of fragments, shared buffers and loops, as functions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.tilelang_kernels import kernel_of
from tests.support.tilelang_layouts import Printed, assert_same, place_table
from tileas_xdsl.inference.parity import infer
from tileas_xdsl.inference.program import Loop, LoopKind
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.tables import table

DATA = Path(__file__).parent.parent / "data" / "tilelang_parity_sm90a.json"
VECTORS: dict[str, dict[str, dict[str, Printed]]] = json.loads(DATA.read_text(encoding="utf-8"))


def _assert_same_shared(printed: Printed, layout: AnyLayout, bits: int, name: str) -> None:
    shape = tuple(printed["input_shape"])
    offsets = np.asarray(table(layout)).reshape(shape[::-1]).T
    assert np.array_equal(place_table(printed) * bits // 8, offsets), f"{name}: {layout}"


@pytest.mark.parametrize("vector", VECTORS)
def test_layouts_are_those_of_tilelang(vector: str) -> None:
    name, model = vector.split("|")
    program = kernel_of(name).program
    decisions = infer(program, model)
    expected = VECTORS[vector]
    for buffer, printed in expected["buffers"].items():
        if printed["kind"] == "Layout":
            bits = program.buffers[buffer].bits
            _assert_same_shared(printed, decisions.shared[buffer], bits, buffer)
        else:
            assert_same(printed, decisions.fragments[buffer], buffer)
    loops = [
        decisions.loops[number]
        for number, operation in enumerate(program.operations)
        if isinstance(operation, Loop) and operation.kind is LoopKind.PARALLEL
    ]
    for (loop, printed), decision in zip(expected["loops"].items(), loops, strict=True):
        assert_same(printed, decision.owners, f"loop {loop}")
