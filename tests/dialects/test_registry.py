"""Dialects collected from their packages."""

import pytest
from xdsl.ir import Dialect, TypeAttribute

from tileas_xdsl.dialects.cute import Cute
from tileas_xdsl.dialects.cute_nvgpu import CuteNvgpu
from tileas_xdsl.dialects.cutlass import Cutlass
from tileas_xdsl.dialects.ptx import Ptx
from tileas_xdsl.dialects.registry import dialect_of

COUNTS = {"cute": (137, 28), "cute_nvgpu": (86, 32), "cutlass": (65, 7), "ptx": (134, 2)}


@pytest.mark.parametrize("dialect", [Cute, CuteNvgpu, Cutlass, Ptx], ids=lambda d: d.name)
def test_every_definition_is_registered_once(dialect: Dialect) -> None:
    operations, attributes = list(dialect.operations), list(dialect.attributes)
    names = [definition.name for definition in (*operations, *attributes)]
    kinds = [(a.name, issubclass(a, TypeAttribute)) for a in attributes]
    least = COUNTS[dialect.name]
    assert len(operations) >= least[0]
    assert len(attributes) >= least[1]
    assert len({operation.name for operation in operations}) == len(operations)
    assert len(set(kinds)) == len(kinds)
    assert all(name.startswith(f"{dialect.name}.") for name in names)


def test_what_is_imported_from_another_dialect_is_not_collected() -> None:
    assert not list(dialect_of("tileas_xdsl.dialects.cutlass", "cute").operations)
