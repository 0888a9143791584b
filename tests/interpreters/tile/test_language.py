"""Every operation of the dialect has a meaning, in one table, and tests that run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from xdsl.dialects import gpu, memref, scf, test
from xdsl.ir import Operation

from tests.support.ir import parse
from tileas_xdsl.dialects.nv_tileas import NvTileas
from tileas_xdsl.dialects.operation_sugar import OperationSugar
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.language import TILE_LANGUAGE
from tileas_xdsl.interpreters.tile.launch import simulate

OPERATIONS = [op for op in NvTileas.operations if not issubclass(op, OperationSugar)]
HERE = Path(__file__).parent
TESTS = HERE.parents[1]
KERNELS = [
    *sorted((HERE / "semantics").rglob("*.py")),
    HERE / "pipelined.py",
    TESTS / "transforms" / "lower_tiles" / "memory" / "test_plain_atomics.py",
]


@pytest.mark.parametrize("kind", OPERATIONS, ids=lambda kind: kind.name)
def test_every_operation_has_a_meaning(kind: type[Operation]) -> None:
    assert TILE_LANGUAGE.knows(kind)


def test_every_operation_is_in_a_kernel_of_the_tests() -> None:
    words = {
        word for path in KERNELS for word in re.findall(r"nv_tileas\.[a-z_.]+", path.read_text())
    }
    assert len(OPERATIONS) > 50
    assert [op.name for op in OPERATIONS if op.name not in words] == []


@pytest.mark.parametrize("kind", [gpu.BarrierOp, gpu.BlockIdOp, memref.DimOp, scf.WhileOp])
def test_operations_of_other_dialects(kind: type[Operation]) -> None:
    assert TILE_LANGUAGE.knows(kind)
    assert not TILE_LANGUAGE.knows(test.TestOp)


def test_no_operation_is_in_two_tables() -> None:
    tables = (
        TILE_LANGUAGE.pure,
        TILE_LANGUAGE.effects,
        TILE_LANGUAGE.behaviours,
        TILE_LANGUAGE.ends,
    )
    kinds = [kind for table in tables for kind in table]
    assert len(kinds) == len(set(kinds))
    assert all(tables)


def test_the_language_on_the_right_has_the_word() -> None:
    def one(op: object, inputs: object) -> tuple[int]:
        return (1,)

    left = Language(pure={test.TestOp: one, memref.DimOp: one})
    right = Language(effects={test.TestOp: lambda agent, op, inputs: (2,)})
    both = left | right
    assert set(both.pure) == {memref.DimOp}
    assert set(both.effects) == {test.TestOp}
    assert (right | left).effects == {}


def test_what_has_no_meaning_is_refused_where_it_stands() -> None:
    module = parse('func.func @k() {\n  %x = "test.op"() : () -> i32\n  func.return\n}')
    with pytest.raises(SimulationError, match=r"'test\.op' has no meaning") as caught:
        simulate(module, [])
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert location.line == 2
