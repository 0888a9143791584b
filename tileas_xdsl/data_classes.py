"""Data classes whose methods are compiled when they are first called.

    @dataclass(frozen=True)
    class Tile:
        rows: int
        columns: int = 1

means what it does with `dataclasses`, whose `field`, `fields` and `replace` go with it.  But
`dataclasses` writes and compiles up to six methods of a class when the class is defined.  A
compiler defines hundreds of classes, and one kernel needs few of them: here a method is compiled
when it is first looked up.  Classes that are ordered take `dataclasses.dataclass`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeAlias

Writer: TypeAlias = Callable[[type, dict[str, Any]], str]
"""The text of a method of a class, and into the dictionary what its names mean."""

_State: TypeAlias = "dict[str, Any] | None"


class _Method:
    """A method that is compiled, and takes this place, when it is first looked up."""

    def __init__(self, cls: type, name: str, write: Writer) -> None:
        self.cls, self.name, self.write = cls, name, write

    def __get__(self, instance: object, owner: type) -> Any:
        scope: dict[str, Any] = {"set_field": object.__setattr__}
        exec(self.write(self.cls, scope), scope)
        made = scope[self.name]
        made.__module__ = self.cls.__module__
        made.__qualname__ = f"{self.cls.__qualname__}.{self.name}"
        setattr(self.cls, self.name, made)
        return made.__get__(instance, owner)


def _init(cls: type, scope: dict[str, Any], frozen: bool) -> str:
    assign = "set_field(self, {0!r}, {1})" if frozen else "self.{0} = {1}"
    body = [assign.format(f.name, _value(f, scope)) for f in _fields(cls) if _is_assigned(f)]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    taken = ", ".join(("self", *_parameters(cls)))
    return f"def __init__({taken}):\n " + "\n ".join(body or ("pass",))


def _parameters(cls: type) -> Iterator[str]:
    """As a signature has them, the defaults by the names that `_value` gives them."""
    given = [f for f in _fields(cls) if f.init]
    yield from (_parameter(f) for f in given if not f.kw_only)
    if any(f.kw_only for f in given):
        yield "*"
    yield from (_parameter(f) for f in given if f.kw_only)


def _parameter(field: Field[Any]) -> str:
    return f"{field.name}=default_{field.name}" if _has_default(field) else field.name


def _value(field: Field[Any], scope: dict[str, Any]) -> str:
    """What a field is set to; a default is found in the scope."""
    name = field.name
    if not _has_default(field):
        return name
    scope[f"default_{name}"] = MISSING if field.default is MISSING else field.default
    if field.default is not MISSING:
        return name if field.init else f"default_{name}"
    scope[f"make_{name}"], scope["MISSING"] = field.default_factory, MISSING
    return f"make_{name}() if {name} is MISSING else {name}" if field.init else f"make_{name}()"


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _is_assigned(field: Field[Any]) -> bool:
    return field.init or _has_default(field)


def _eq(cls: type, _scope: dict[str, Any]) -> str:
    return (
        "def __eq__(self, other):\n"
        " if other.__class__ is not self.__class__:\n"
        "  return NotImplemented\n"
        f" return {_compared(cls, 'self')} == {_compared(cls, 'other')}"
    )


def _hash(cls: type, _scope: dict[str, Any]) -> str:
    return f"def __hash__(self):\n return hash({_compared(cls, 'self')})"


def _compared(cls: type, value: str) -> str:
    """The tuple of the fields that tell values apart."""
    names = [f.name for f in _fields(cls) if f.compare]
    return f"({' '.join(f'{value}.{name},' for name in names)})"


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in _fields(type(self)) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _set_state(self: object, state: _State | tuple[_State, ...]) -> None:
    """Take over what another value holds, in its slots too: `copy` and `pickle` would assign."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)


_FROZEN = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__setstate__": _set_state,
}


def _fields(cls: Any) -> Sequence[Field[Any]]:
    return dataclasses.fields(cls)


def _inherits_frozen(cls: type) -> bool:
    """Whether `dataclasses` froze a base: it takes only frozen classes below."""
    bases = (vars(base).get("__dataclass_params__") for base in cls.__mro__[1:])
    return any(parameters is not None and parameters.frozen for parameters in bases)


def _made(cls: type, init: bool, repr: bool, eq: bool, frozen: bool, slots: bool) -> type:
    cls.__doc__ = cls.__doc__ or cls.__name__  # else `dataclasses` asks for the signature
    own = _written(cls)
    below_frozen = frozen and _inherits_frozen(cls)
    collect: Any = dataclasses.dataclass(
        init=False, repr=False, eq=False, frozen=below_frozen, slots=slots
    )
    cls = collect(cls)
    methods: dict[str, Any] = {}
    if init:
        methods["__init__"] = _Method(cls, "__init__", partial(_init, frozen=frozen))
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _Method(cls, "__eq__", _eq)
        methods["__hash__"] = _Method(cls, "__hash__", _hash) if frozen else None
    if frozen and not below_frozen:
        methods |= _FROZEN
    for name in methods.keys() - own:
        setattr(cls, name, methods[name])
    return cls


def _written(cls: type) -> set[str]:
    """What the class itself defines: beside `__eq__`, a `__hash__` of None is Python's."""
    own = set(vars(cls))
    return own - {"__hash__"} if "__eq__" in own and vars(cls)["__hash__"] is None else own


def _dataclass(
    cls: Any = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
) -> Any:
    make = partial(_made, init=init, repr=repr, eq=eq, frozen=frozen, slots=slots)
    return make if cls is None else make(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass

__all__ = ["dataclass"]
