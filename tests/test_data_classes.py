"""Data classes whose methods are compiled on their first use mean what those of Python mean."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from tileas_xdsl.data_classes import dataclass

Decorate = Callable[..., Any]

OPTIONS = [
    {},
    {"frozen": True},
    {"eq": False},
    {"frozen": True, "eq": False},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"repr": False},
]


def tile_class(decorate: Decorate, **options: bool) -> Any:
    """A class with every kind of field that the package has."""

    @decorate(**options)
    class Tile:
        dimensions: ClassVar[int] = 2
        rows: int
        columns: int = 1
        names: list[str] = field(default_factory=list[str])
        note: object = field(default=None, compare=False)
        unit: str = field(default="element", kw_only=True)
        size: int = field(init=False)
        log: list[str] = field(default_factory=list[str], init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", self.rows * self.columns)

    return Tile


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_are_those_of_python(options: dict[str, bool]) -> None:
    mine, theirs = (tile_class(d, **options) for d in (dataclass, dataclasses.dataclass))
    for made in (lambda c: c(2), lambda c: c(2, 3, ["m"], note=1, unit="byte")):
        one, other = made(mine), made(theirs)
        assert vars_of(one) == vars_of(other)
        assert (one == made(mine)) == (other == made(theirs))
        assert one != other
        assert (repr(one) == repr(other)) == options.get("repr", True)
        assert vars_of(dataclasses.replace(one, rows=7)) == {**vars_of(other), "rows": 7} | {
            "size": 7 * one.columns
        }
        assert vars_of(copy.copy(one)) == vars_of(one)
        assert one.log is not made(mine).log
    assert [f.name for f in dataclasses.fields(mine)] == [
        f.name for f in dataclasses.fields(theirs)
    ]
    assert mine.__match_args__ == theirs.__match_args__
    assert list(inspect.signature(mine).parameters) == list(inspect.signature(theirs).parameters)
    assert hasattr(mine(1), "__dict__") == hasattr(theirs(1), "__dict__")


def vars_of(value: Any) -> dict[str, Any]:
    """The fields by name."""
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}


@pytest.mark.parametrize("arguments", [(), (1, 2, [], None, "byte"), (1, 2, [], None, 5, 6)])
def test_wrong_arguments_are_refused_in_the_words_of_python(arguments: tuple[object, ...]) -> None:
    said: list[str] = []
    for decorate in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError) as caught:
            tile_class(decorate)(*arguments)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_hashes_are_as_in_python(options: dict[str, bool]) -> None:
    @dataclass(**options)
    class Mine:
        x: int
        y: object = field(default=0, compare=False)

    @dataclasses.dataclass(**options)
    class Theirs:
        x: int
        y: object = field(default=0, compare=False)

    if theirs_is_hashable := Theirs.__hash__ is not None:
        assert (hash(Mine(1)) == hash(Mine(1, 5))) == (hash(Theirs(1)) == hash(Theirs(1, 5)))
    assert (Mine.__hash__ is not None) == theirs_is_hashable


def test_methods_that_are_written_stay() -> None:
    @dataclass(frozen=True)
    class Name:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Name) and self.text.lower() == other.text.lower()

        def __repr__(self) -> str:
            return self.text

    @dataclass(frozen=True)
    class Hashed(Name):
        def __hash__(self) -> int:
            return 5

    assert Name("a") == Name("A")
    assert repr(Name("a")) == "a"
    assert hash(Hashed("a")) == 5
    assert hash(Name("a")) == hash(("a",))


@dataclass(frozen=True, slots=True)
class Slotted:
    x: int
    y: str = "y"


@dataclass(frozen=True)
class Plain:
    x: int


@dataclass(frozen=True)
class Below(Plain):
    z: int = 3


@pytest.mark.parametrize("value", [Slotted(1), Plain(1), Below(1, 2)], ids=str)
def test_frozen_values_stay_as_they_are(value: Any) -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        value.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del value.x
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value


def test_classes_below_frozen_ones_of_python() -> None:
    """Passes are below xDSL's `ModulePass`, which `dataclasses` froze."""

    @dataclasses.dataclass(frozen=True)
    class Base:
        x: int = 1

    @dataclass(frozen=True)
    class Derived(Base):
        y: int = 2

    assert repr(Derived(y=5)).endswith("Derived(x=1, y=5)")
    with pytest.raises(FrozenInstanceError):
        Derived().y = 3


def test_a_method_is_compiled_when_it_is_looked_up() -> None:
    @dataclass(frozen=True)
    class Fresh:
        x: int

    assert not inspect.isfunction(vars(Fresh)["__init__"])
    assert Fresh(1) == Fresh(1)
    assert inspect.isfunction(vars(Fresh)["__init__"])
    assert inspect.isfunction(vars(Fresh)["__eq__"])
    assert not inspect.isfunction(vars(Fresh)["__hash__"])


def test_values_that_hold_themselves_are_shown() -> None:
    @dataclass
    class Node:
        next: Any = None

    node = Node()
    node.next = node
    assert repr(node).endswith("Node(next=...)")
