"""`dataclass` as in the standard library, whose methods are not compiled with the class.

`dataclasses` writes the text of up to six methods of a class and compiles it, half a millisecond
for a frozen one; a process that compiles a first kernel defines hundreds.  Here classes are
compared, hashed and shown by getters of their fields, and the text of `__init__` is compiled when
many objects are made.

    from tileas_xdsl.dataclass_methods import dataclass
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from itertools import count
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

Get = Callable[[Any], Any]

COMPILED_FROM = 100
"""So many objects take as long to make without a compiled method as it takes to compile."""


def _dataclass(
    cls: Any = None,
    /,
    *,
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
    **options: Any,
) -> Any:
    """As `dataclasses.dataclass`; it is that one for other options, or with an own `__init__`."""
    if cls is None:
        return partial(_dataclass, eq=eq, frozen=frozen, slots=slots, **options)
    if options or "__init__" in vars(cls):
        return dataclasses.dataclass(cls, eq=eq, frozen=frozen, slots=slots, **options)
    # What is frozen by the standard library stays so, in classes derived from it too.
    by_us = frozen and not slots and not _has_frozen_base(cls)
    made: Any = dataclasses.dataclass(
        cls, init=False, repr=False, eq=False, frozen=frozen and not by_us, slots=slots
    )
    if by_us:
        _freeze(made)
    return _add_methods(made, eq, frozen, slots)


if not TYPE_CHECKING:
    dataclass = _dataclass


def _add_methods(cls: Any, eq: bool, frozen: bool, slots: bool) -> Any:
    fields = dataclasses.fields(cls)
    own = cls.__dict__
    methods: dict[str, Any] = {
        "__init__": _init_without_text(cls, frozen, slots),
        "__repr__": _repr([field.name for field in fields if field.repr]),
    }
    if eq:
        methods["__eq__"] = _eq(_values([field.name for field in fields if field.compare]))
        in_hash = [f.name for f in fields if (f.compare if f.hash is None else f.hash)]
        if own.get("__hash__") is None:
            methods["__hash__"] = _hash(_values(in_hash)) if frozen else None
    for name, method in methods.items():
        if name not in own or name == "__hash__":
            setattr(cls, name, method)
    return cls


def _has_frozen_base(cls: Any) -> bool:
    parameters = [getattr(base, "__dataclass_params__", None) for base in cls.__bases__]
    return any(each is not None and each.frozen for each in parameters)


def _freeze(cls: Any) -> None:
    names = frozenset(field.name for field in dataclasses.fields(cls))

    def assign(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    cls.__setattr__, cls.__delattr__ = assign, delete
    cls.__dataclass_params__.frozen = True


def _values(names: list[str]) -> Get:
    """What reads some attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    getters = [attrgetter(name) for name in names]
    return lambda value: tuple([get(value) for get in getters])


def _eq(values: Get) -> Callable[[Any, Any], Any]:
    def equal(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return equal


def _hash(values: Get) -> Get:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


def _repr(names: list[str]) -> Get:
    @recursive_repr()
    def shown(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    return shown


def _init_without_text(cls: Any, frozen: bool, slots: bool) -> Callable[..., None]:
    """An `__init__` that goes through the fields; from `COMPILED_FROM` objects on it is compiled.

    It stays until the compiled one is there: other threads may make objects meanwhile.
    """
    fields = [field for field in dataclasses.fields(cls) if field.init]
    names = [field.name for field in fields if not field.kw_only]
    defaults = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    factories = [
        (field.name, field.default_factory)
        for field in dataclasses.fields(cls)
        if field.default_factory is not dataclasses.MISSING
    ]
    known = frozenset(field.name for field in fields)
    has_post_init, made = hasattr(cls, "__post_init__"), count(1)

    def first_init(self: Any, *given: Any, **named: Any) -> None:
        values = dict(zip(names, given, strict=False))
        twice = not values.keys().isdisjoint(named)
        values = {**defaults, **values, **named}
        for name, factory in factories:
            if name not in values:
                values[name] = factory()
        is_known = len(given) <= len(names) and values.keys() >= known and named.keys() <= known
        if twice or not is_known or next(made) >= COMPILED_FROM:
            cls.__init__ = _compiled_init(cls, frozen, slots)
            cls.__init__(self, *given, **named)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if has_post_init:
            self.__post_init__()

    return first_init


def _compiled_init(cls: Any, frozen: bool, slots: bool) -> Any:
    specs = [(field.name, object, _same(field)) for field in dataclasses.fields(cls)]
    namespace = {"__post_init__": None} if hasattr(cls, "__post_init__") else {}
    model: Any = dataclasses.make_dataclass(
        cls.__name__, specs, namespace=namespace, repr=False, eq=False, frozen=frozen, slots=slots
    )
    return model.__init__


def _same(field: Any) -> Any:
    return dataclasses.field(
        default=field.default,
        default_factory=field.default_factory,
        init=field.init,
        kw_only=field.kw_only,
    )
