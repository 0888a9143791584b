"""Dialects collected from their packages."""

import dataclasses
from types import ModuleType

import pytest
from xdsl.ir import Dialect, ParametrizedAttribute, TypeAttribute

from tileas_xdsl.dialects import cute_nvgpu, ptx
from tileas_xdsl.dialects.cute import Cute
from tileas_xdsl.dialects.cute_nvgpu import CuteNvgpu
from tileas_xdsl.dialects.cutlass import Cutlass
from tileas_xdsl.dialects.ptx import Ptx
from tileas_xdsl.dialects.registry import dialect_of
from tileas_xdsl.universe import TILEAS_UNIVERSE

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


@pytest.mark.parametrize("name", TILEAS_UNIVERSE.all_dialects)
def test_attributes_are_compared_by_all_their_parameters(name: str) -> None:
    """A base class that is no dataclass hides its parameters from `==`."""
    for attribute in TILEAS_UNIVERSE.all_dialects[name]().attributes:
        if not issubclass(attribute, ParametrizedAttribute):
            continue
        compared = {field.name for field in dataclasses.fields(attribute) if field.compare}
        classes = [vars(base).get("__annotations__", {}) for base in attribute.__mro__]
        declared = {
            parameter
            for annotations in classes
            for parameter, type_ in annotations.items()
            if "ClassVar" not in str(type_)
        }
        assert declared <= compared, attribute.name


@pytest.mark.parametrize("package", [cute_nvgpu, ptx])
def test_names_of_a_package_are_those_of_its_modules(package: ModuleType) -> None:
    """Whoever adds an operation adds its name, which the table of the package gives."""
    for operation in dialect_of(package.__name__, package.__name__.rpartition(".")[2]).operations:
        if "atoms" not in operation.__module__:
            assert getattr(package, operation.__name__) is operation
    assert not hasattr(package, "NoOp")
