"""`tileas-cse`: operations inside regions are asked about once, and parts of one value apart."""

from __future__ import annotations

from collections import Counter

import pytest
from support.ir import parse
from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.traits import get_effects

from tileas_xdsl.transforms import tileas_cse
from tileas_xdsl.transforms.tileas_cse import TileasCse

DEPTH = 12


def test_effects_deep_inside_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = "".join(
        f"scf.if %p {{\n %v{n} = memref.load %m[%i] : memref<4xi32>\n" for n in range(DEPTH)
    )
    stored = "memref.store %x, %m[%i] : memref<4xi32>\n"
    text = (
        "func.func @f(%m: memref<4xi32>, %i: index, %x: i32, %p: i1) {\n"
        f"{opened}{stored}{'}' * DEPTH}\n func.return\n}}"
    )
    module = parse(text)
    asked: Counter[Operation] = Counter()

    def counted(op: Operation) -> object:
        asked[op] += 1
        return get_effects(op)

    monkeypatch.setattr(tileas_cse, "get_effects", counted)
    TileasCse().apply(Context(), module)
    assert max(asked.values()) <= 2  # by itself, and by the branch around it
    assert str(module).count("scf.if") == DEPTH
    assert "memref.load" not in str(module)


def test_parts_of_one_value_are_not_compared_with_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = "".join(
        f"%v{n} = vector.extract %x[{n % 32}] : i32 from vector<32xi32>\n"
        f"memref.store %v{n}, %m[%i] : memref<4xi32>\n"
        for n in range(64)
    )
    module = parse(
        f"func.func @f(%x: vector<32xi32>, %m: memref<4xi32>, %i: index) {{\n{parts}func.return\n}}"
    )
    compared: list[Operation] = []
    is_same = vars(tileas_cse)["_is_same"]

    def counted(op: Operation, other: Operation) -> bool:
        compared.append(op)
        return is_same(op, other)

    monkeypatch.setattr(tileas_cse, "_is_same", counted)
    TileasCse().apply(Context(), module)
    assert str(module).count("vector.extract") == 32
    assert len(compared) == 32
