"""Data classes whose methods are not compiled mean what those of `dataclasses` do."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from tileas_xdsl import dataclass_methods

Decorate = Callable[..., Any]
DECORATORS: list[Decorate] = [dataclasses.dataclass, dataclass_methods.dataclass]


def _point(dataclass: Decorate, **options: bool) -> Any:
    class Point:
        x: int
        y: int = field(default=2, repr=False)
        tags: list[str] = field(default_factory=list[str], compare=False)
        length: float = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", (self.x**2 + self.y**2) ** 0.5)

    Point.__qualname__ = "Point"
    return dataclass(**options)(Point)


@pytest.mark.parametrize("dataclass", DECORATORS)
@pytest.mark.parametrize("slots", [False, True])
def test_objects_are_made_compared_hashed_and_shown(dataclass: Decorate, slots: bool) -> None:
    cls = _point(dataclass, frozen=True, slots=slots)
    a = cls(3, y=4, tags=["a"])
    assert (a.x, a.y, a.tags, a.length) == (3, 4, ["a"], 5.0)
    assert a == cls(3, 4)
    assert a != cls(3)
    assert a != (3, 4)
    assert hash(a) == hash((3, 4, 5.0))
    assert repr(a) == "Point(x=3, tags=['a'], length=5.0)"
    assert replace(a, x=0).length == 4.0
    assert copy.copy(a) == a
    assert cls.__match_args__ == ("x", "y", "tags")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        cls()
    for change in (lambda: setattr(a, "x", 1), lambda: delattr(a, "x")):
        with pytest.raises(FrozenInstanceError, match="field 'x'"):
            change()


@pytest.mark.parametrize("dataclass", DECORATORS)
def test_what_is_not_frozen_changes_and_has_no_hash(dataclass: Decorate) -> None:
    cls = _point(dataclass)
    a = cls(1)
    a.x = 5
    assert a.x == 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    by_identity = _point(dataclass, eq=False)
    assert len({by_identity(1), by_identity(1)}) == 2


@pytest.mark.parametrize("base", DECORATORS)
@pytest.mark.parametrize("derived", DECORATORS)
def test_each_is_derived_from_the_other(base: Decorate, derived: Decorate) -> None:
    first = _point(base, frozen=True)
    second = derived(frozen=True)(
        type("Second", (first,), {"__annotations__": {"z": int}, "z": 7, "__module__": __name__})
    )
    both = second(3, 4)
    assert (both.x, both.z, both.length) == (3, 7, 5.0)
    assert both != first(3, 4)
    with pytest.raises(FrozenInstanceError):
        both.z = 1


@dataclass_methods.dataclass(frozen=True)
class _Pair:
    """Of a module, so that it can be pickled."""

    a: int
    b: str = "b"


def test_pickles_and_methods_of_their_own() -> None:
    pair = _Pair(1)
    assert pickle.loads(pickle.dumps(pair)) == pair

    @dataclass_methods.dataclass(frozen=True)
    class Own:
        """Says how it is shown, compared and made."""

        a: int

        def __init__(self) -> None:
            object.__setattr__(self, "a", 1)

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 8

    assert (repr(Own()), hash(Own()), Own().a, Own() == Own()) == ("own", 8, 1, True)
