"""Buffers of a kernel by the names that inference knows them by."""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.base import element_of, scope_of, shape_of
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.fragments import layout_of
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import DYNAMIC, Buffer


@dataclass
class BufferNames:
    """Each buffer under one name: that of its value, made unique by a number."""

    names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    values: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def of(self, value: SSAValue) -> str:
        """The name of a buffer."""
        if value not in self.names:
            self.names[value] = name = self._unused(value.name_hint or "buffer")
            self.values[name] = value
        return self.names[value]

    def all(self) -> dict[str, Buffer]:
        """All buffers that were named, as inference sees them."""
        return {name: self._buffer(name, value) for name, value in list(self.values.items())}

    def annotations(self, threads: int) -> dict[str, FragmentMap]:
        """The layouts that the program prescribes."""
        found: dict[str, FragmentMap] = {}
        for name, value in self.values.items():
            layout = getattr(value.owner, "layout", None)
            if isinstance(layout, FragmentAttr):
                found[name] = layout_of(layout, shape_of(value.type), threads)
        return found

    def _unused(self, hint: str) -> str:
        name, number = hint, 2
        while name in self.values:
            name, number = f"{hint}_{number}", number + 1
        return name

    def _buffer(self, name: str, value: SSAValue) -> Buffer:
        scope = scope_of(value.type)
        assert scope is not None
        element = element_of(value.type)
        shape = tuple(DYNAMIC if n == DYNAMIC_INDEX else n for n in shape_of(value.type))
        storage = self.of(storage_of(value))
        return Buffer(
            name,
            shape,
            bits_of(element),
            scope,
            str(element),
            storage,
            source_location(value.owner),
        )


def source_location(owner: object) -> str:
    """Return the location of an operation as `file:line:column`; empty if it is unknown."""
    location = location_of(owner) if isinstance(owner, Operation) else None
    return "" if location is None else str(location)
