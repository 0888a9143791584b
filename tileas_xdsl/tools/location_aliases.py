"""Modules as text with debug information as MLIR prints it: an alias for each location.

    %0 = constant <i32: 1> : tile<i32> loc(#loc1)
    ...
    #loc = loc("kernel.py":3:5)
    #di_file = #cuda_tile.di_file<"kernel.py" in "">
    #loc1 = #cuda_tile.di_loc<#loc in #di_subprogram>

Definitions stand after the module, those of what others contain first.  Attributes of dialects in
a location have aliases by their mnemonic, and a location with a scope is printed as its dialect
writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Protocol, cast, runtime_checkable

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    UnknownLoc,
)
from xdsl.ir import Attribute, BuiltinAttribute, Dialect, ParametrizedAttribute

from tileas_xdsl.diagnostics.parsing.located_parser import DialectLocation
from tileas_xdsl.printing import AliasPrinter

_LOCATIONS = (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)


@runtime_checkable
class LocationScope(Protocol):
    """An attribute of a dialect that locations have as their scope."""

    def located(self, place: LocationAttr) -> Attribute:
        """Return a location in this scope as the dialect writes it."""
        ...


def text_with_locations(
    module: ModuleOp,
    aliases: Mapping[str, Attribute],
    dialects: Iterable[Dialect] = (),
    *,
    generic: bool = False,
) -> str:
    """Return a module with its locations, and after it their aliases.

    Other attributes keep the `aliases` of their file.
    """
    names = _names(module)
    others = {name: found for name, found in aliases.items() if _shown(found) not in names}
    body = StringIO()
    printer = _LocationPrinter(
        {**others, **{name: found for found, name in names.items()}},
        stream=body,
        print_generic_format=generic,
        print_debuginfo=True,
    )
    printer.print_op(module)
    printer.print_metadata(dialects)
    behind = [printer.definition(name, found) for found, name in names.items()]
    before = [printer.definition(name, others[name]) for name in others if name in printer.used]
    return "\n".join([*before, body.getvalue(), *behind, ""])


class _LocationPrinter(AliasPrinter):
    """A printer that writes locations by their aliases."""

    def print_attribute(self, attribute: Attribute) -> None:
        attribute = _shown(attribute)
        name = self.alias_of(attribute)
        is_location = isinstance(attribute, (*_LOCATIONS, DialectLocation))
        if name is None or not is_location or self.printing_location or self._is_inside:
            super().print_attribute(attribute)
            return
        self.print_string(f"loc({name})")

    _is_inside = False
    """Whether the definition of an alias is printed, in which locations stand by themselves."""

    def definition(self, name: str, attribute: Attribute) -> str:
        """The line that defines an alias."""
        self._is_inside = True
        try:
            return super().definition(name, attribute)
        finally:
            self._is_inside = False


def _shown(attribute: Attribute) -> Attribute:
    """A location as it is printed: one with a scope of a dialect is an attribute of that."""
    if isinstance(attribute, FusedLoc) and isinstance(attribute.metadata, LocationScope):
        locations = _items(attribute.locations)
        if len(locations) == 1:
            return attribute.metadata.located(locations[0])
    return attribute


def _names(module: ModuleOp) -> Mapping[Attribute, str]:
    """The aliases of locations, in the order of MLIR: by depth, then as they occur."""
    depths: dict[Attribute, int] = {}
    for location in _locations(module):
        _visit(location, depths)
    counts: Counter[str] = Counter()
    found: dict[Attribute, str] = {}
    for attribute in sorted(depths, key=lambda one: (depths[one], _mnemonic(one))):
        word = _mnemonic(attribute)
        found[attribute] = f"#{word}{counts[word] or ''}"
        counts[word] += 1
    return found


def _locations(module: ModuleOp) -> Iterator[Attribute]:
    for op in module.walk():
        yield op.location
        for region in op.regions:
            for block in region.blocks:
                yield from (argument.location for argument in block.args)


def _visit(attribute: Attribute, depths: dict[Attribute, int]) -> int:
    """Note an attribute and what it contains; return its depth."""
    attribute = _shown(attribute)
    if attribute not in depths:
        depths[attribute] = 0
        inside = [_visit(one, depths) + 1 for one in _contained(attribute)]
        depths[attribute] = max(inside, default=0)
    return depths[attribute]


def _contained(attribute: Any) -> Iterator[Attribute]:
    """The locations and attributes of dialects that an attribute contains."""
    is_struct = isinstance(attribute, ParametrizedAttribute)
    for part in attribute.parameters if is_struct else _items(attribute):
        is_own = isinstance(part, ParametrizedAttribute) and not isinstance(part, BuiltinAttribute)
        if isinstance(part, _LOCATIONS) or is_own:
            yield part
        else:
            yield from _contained(part)


def _items(attribute: Attribute) -> Sequence[Any]:
    """The elements of an array; of another attribute none."""
    if not isinstance(attribute, ArrayAttr):
        return ()
    return cast("ArrayAttr[Attribute]", attribute).data


def _mnemonic(attribute: Attribute) -> str:
    if isinstance(attribute, (*_LOCATIONS, DialectLocation)):
        return "loc"
    return attribute.name.rpartition(".")[2]
