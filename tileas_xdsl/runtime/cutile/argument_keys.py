"""What of a launch's arguments decides which plan it takes, read with the fewest steps.

A launch finds its plan by the types of the arguments, then by a key: of tensors element type,
shape, strides, address modulo 16 and device; of constants the value.  For each combination of types
a function is written and compiled once that reads exactly that, and looks the plan up:

    def find(args):                          # (tensor, tensor, int, constant int)
        (a0, a1, a2, a3) = args
        if type(a0) is not t0 or ...:        # other types: another function
            raise KeyError
        p0 = a0.data_ptr()
        p1 = a1.data_ptr()
        return plans[(a0.dtype, a0.shape, a0.stride(), p0 & 15, a0.get_device(), a1.dtype, ...,
                a3)], (p0, p1, a2)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.frontend.array_arguments import ArrayFacts

Key: TypeAlias = tuple[Any, ...]
ReadArray: TypeAlias = Callable[[Any], tuple[ArrayFacts, int | None]]
"""Describes an array, with the number of its GPU; raises `TypeError` for anything else."""

Read: TypeAlias = Callable[[tuple[Any, ...]], tuple[Key, tuple[Any, ...]]]
"""Returns the key of arguments, and the addresses and numbers that a launch passes."""

Find: TypeAlias = Callable[[tuple[Any, ...]], tuple[Any, tuple[Any, ...]]]
"""Returns the plan for arguments of some types, and the values; `KeyError` if there is none."""

_FLOAT_BITS = struct.Struct("<d").pack
_ALIGNMENT_MASK = 15


def type_tree(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the types of arguments, and of the items of tuples among them."""
    return tuple(
        [
            type_tree(cast("tuple[Any, ...]", value)) if type(value) is tuple else type(value)
            for value in args
        ]
    )


def reader(args: tuple[Any, ...], annotations: Sequence[Any], read_array: ReadArray) -> Read:
    """Return the function that reads arguments of these types, for a kernel's annotations."""
    writer = _Writer()
    pattern = writer.pattern(args, annotations)
    result = f"return {writer.key_text()}, {writer.value_text()}"
    return _compiled([f"{pattern} = args", *writer.lines, result], _names(read_array))


def finder(
    args: tuple[Any, ...],
    annotations: Sequence[Any],
    read_array: ReadArray,
    plans: dict[Key, Any],
) -> Find:
    """Return the function that finds the plan of arguments of these types, none a tuple."""
    writer = _Writer()
    pattern = writer.pattern(args, annotations)
    types: dict[str, Any] = {f"t{i}": type(value) for i, value in enumerate(args)}
    names = _names(read_array) | types
    others = " or ".join(f"type(a{i}) is not t{i}" for i in range(len(args)))
    guard = [f"if {others}: raise KeyError"] if others else []
    result = f"return plans[{writer.key_text()}], {writer.value_text()}"
    return _compiled([f"{pattern} = args", *guard, *writer.lines, result], names | {"plans": plans})


def _names(read_array: ReadArray) -> dict[str, Any]:
    return {
        "array_key": partial(_array_key, read_array=read_array),
        "list_key": partial(_list_key, read_array=read_array),
        "float_bits": _FLOAT_BITS,
    }


def _compiled(body: Sequence[str], names: dict[str, Any]) -> Any:
    exec("def read(args):\n" + "".join(f"    {line}\n" for line in body), names)
    return names["read"]


@dataclass
class _Writer:
    """The parts of the function: statements, expressions of the key and of the values."""

    lines: list[str] = field(default_factory=list[str])
    key: list[str] = field(default_factory=list[str])
    values: list[str] = field(default_factory=list[str])
    count: int = 0

    def key_text(self) -> str:
        return f"({''.join(f'{part}, ' for part in self.key)})"

    def value_text(self) -> str:
        return f"({''.join(f'{part}, ' for part in self.values)})"

    def pattern(self, args: tuple[Any, ...], annotations: Sequence[Any]) -> str:
        """Return the pattern that binds the arguments to names, after writing what is read."""
        pairs = zip(args, annotations, strict=True)
        return f"({''.join(f'{self._argument(value, note)}, ' for value, note in pairs)})"

    def _argument(self, value: Any, annotation: Any) -> str:
        if type(value) is tuple:
            items = cast("tuple[Any, ...]", value)
            return self.pattern(items, item_annotations(annotation, len(items)))
        name, at = f"a{self.count}", f"p{self.count}"
        self.count += 1
        if getattr(annotation, "constant", False):
            self.key.append(f"float_bits({name})" if isinstance(value, float) else name)
        elif isinstance(value, bool | int | float | np.generic):
            self.values.append(_packed(name, value))
        elif isinstance(value, list):
            self._call("list_key", name, at)
        elif is_tensor_type(cast("type[Any]", type(value))):
            self._tensor(name, at)
        else:
            self._call("array_key", name, at)
        return name

    def _tensor(self, name: str, at: str) -> None:
        self.lines.append(f"{at} = {name}.data_ptr()")
        facts = ("dtype", "shape", "stride()")
        self.key += [f"{name}.{fact}" for fact in facts]
        self.key += [f"{at} & {_ALIGNMENT_MASK}", f"{name}.get_device()"]
        self.values.append(at)

    def _call(self, function: str, name: str, at: str) -> None:
        key = f"k{name[1:]}"
        self.lines.append(f"{key}, {at} = {function}({name})")
        self.key.append(key)
        self.values.append(at)


def _packed(name: str, value: Any) -> str:
    """Return the expression of a number as `struct` packs it: integers of numpy signed, by bits."""
    if isinstance(value, np.bool_):
        return f"int({name})"
    if isinstance(value, np.unsignedinteger):
        return f"{name}.view('i{cast('np.generic', value).itemsize}')"
    return name


def item_annotations(annotation: Any, count: int) -> Sequence[Any]:
    """Return the annotations of a tuple's items: its own, or the one that all of them have."""
    items = getattr(annotation, "items", None)
    if items is None:
        return [getattr(annotation, "each", annotation)] * count
    if len(items) != count:
        text = f"Received a tuple of length {count} but the annotation implies length {len(items)}."
        raise TypeError(text)
    return items


def is_tensor_type(type_: type[Any]) -> bool:
    """Whether values of a type are tensors of torch, which is not imported for it."""
    return hasattr(type_, "data_ptr") and hasattr(type_, "get_device")


def _array_key(value: Any, read_array: ReadArray) -> tuple[Key, int]:
    """Return the key and the address of an array of any library."""
    facts, device = read_array(value)
    return (*_key_of(facts), device), facts.address


def _list_key(values: list[Any], read_array: ReadArray) -> tuple[Key, tuple[tuple[int, ...], ...]]:
    """Return the key of a list of arrays, and a row for each: address, extents, strides."""
    found = [read_array(value) for value in values]
    rows = tuple((facts.address, *facts.shape, *facts.strides) for facts, _ in found)
    return tuple((*_key_of(facts), device) for facts, device in found), rows


def _key_of(facts: ArrayFacts) -> Key:
    return facts.element, facts.shape, facts.strides, facts.address & _ALIGNMENT_MASK
