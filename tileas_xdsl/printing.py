"""Modules as text, with the aliases that their file defined."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from math import isfinite
from typing import Any

from xdsl.dialects.builtin import (
    AnyFloat,
    LocationAttr,
    ModuleOp,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.float_bits import (
    FloatElements,
    bits_of_float,
    element_bits,
    float_of_bits,
    has_nan,
)
from tileas_xdsl.diagnostics.printed_operations import NotesOperations

MAX_ELEMENTS = 100
"""Of a dense attribute; of longer ones the bytes are printed, as xDSL does."""


class AliasPrinter(Printer):
    """A printer that writes an attribute by its alias and remembers which aliases it used."""

    _names: dict[Attribute, str]
    used: dict[str, Attribute]
    """The aliases written so far and what they stand for."""

    def __init__(self, aliases: Mapping[str, Attribute], **options: Any) -> None:
        super().__init__(**options)
        self._names = {aliases[name]: name for name in reversed(list(aliases))}
        self.used = {}

    def print_ssa_value(self, value: SSAValue) -> str:
        """Print a value under a name that no other value has.

        xDSL numbers values of one hint, so that the second `%size` is `%size_1`, also where a hint
        is `size_1`.
        """
        hint = value.name_hint
        if hint is None or value in self._ssa_values:
            return super().print_ssa_value(value)
        count = self.ssa_names.get(hint, 0)
        while (name := f"{hint}_{count}" if count else hint) in self.ssa_names and count:
            count += 1
        self._ssa_values[value] = name
        self.ssa_names[hint] = count + 1
        self.ssa_names.setdefault(name, 1)
        self.print_string(f"%{name}")
        return name

    def alias_of(self, attribute: Attribute) -> str | None:
        """The alias that an attribute is printed by."""
        return self._names.get(attribute)

    def print_attribute(self, attribute: Attribute) -> None:
        name = self._names.get(attribute)
        if name is not None:
            self.used[name] = attribute
            self.print_string(name)
        elif has_nan(attribute):
            self._print_bits(attribute)
            self.print_string(" : ")
            self.print_attribute(attribute.get_type())
        else:
            super().print_attribute(attribute)

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Print a float as MLIR does: what is no number by its bits, in capitals."""
        if isfinite(value):
            super().print_float(value, type)
        else:
            self.print_string(f"0x{bits_of_float(value, type):X}")

    def _print_bits(self, dense: FloatElements) -> None:
        """Print elements of which some are NaN, that xDSL would read as numbers."""
        type_, bits = dense.get_element_type(), element_bits(dense)
        values = [float_of_bits(one, type_) for one in bits]
        self.print_string("dense<")
        if len(set(bits)) == 1:
            self.print_float(values[0], type_)
        elif len(bits) > MAX_ELEMENTS:
            self.print_string(f'"0x{dense.data.data.hex().upper()}"')
        else:
            self._print_elements(values, dense.get_shape() or (len(bits),), type_)
        self.print_string(">")

    def _print_elements(self, values: Sequence[float], shape: Sequence[int], t: AnyFloat) -> None:
        self.print_string("[")
        if len(shape) > 1:
            size = len(values) // shape[0]
            rows = [values[at : at + size] for at in range(0, len(values), size)]
            self.print_list(rows, lambda row: self._print_elements(row, shape[1:], t))
        else:
            self.print_list(values, lambda value: self.print_float(value, t))
        self.print_string("]")

    @contextmanager
    def _spelling_out(self, attribute: Attribute) -> Generator[None]:
        name = self._names.pop(attribute)
        try:
            yield
        finally:
            self._names[attribute] = name

    def definition(self, name: str, attribute: Attribute) -> str:
        """The line that defines an alias; aliases inside it are used."""
        stream, self.stream = self.stream, StringIO()
        try:
            with self._spelling_out(attribute):
                self.print_string(f"{name} = ")
                self.print_attribute(attribute)
            return self.stream.getvalue()
        finally:
            self.stream = stream


class LocatedPrinter(AliasPrinter, NotesOperations):
    """A printer that remembers on which line each operation begins."""

    locations: dict[int, LocationAttr]
    """By line, counted from 0: where the first operation on it comes from."""

    def __init__(self, **options: Any) -> None:
        super().__init__({}, **options)
        self.locations = {}

    def note_operation(self, op: Operation) -> None:
        self.locations.setdefault(self._current_line, op.location)

    def print_op(self, op: Operation) -> None:
        self.note_operation(op)
        super().print_op(op)


def located_text(
    module: ModuleOp, dialects: Iterable[Dialect]
) -> tuple[str, Mapping[int, LocationAttr]]:
    """The module as `module_text` prints it without aliases, and its locations by line from 0."""
    body = StringIO()
    printer = LocatedPrinter(stream=body)
    printer.print_op(module)
    printer.print_metadata(dialects)
    return f"{body.getvalue()}\n", printer.locations


def module_text(
    module: ModuleOp,
    aliases: Mapping[str, Attribute],
    dialects: Iterable[Dialect] = (),
    *,
    generic: bool = False,
) -> str:
    """The module, after the definitions of the aliases it uses, in the order of `aliases`.

    `dialects` are asked for the resources that the module refers to.
    """
    body = StringIO()
    printer = AliasPrinter(aliases, stream=body, print_generic_format=generic)
    printer.print_op(module)
    printer.print_metadata(dialects)
    lines: dict[str, str] = {}
    while missing := [name for name in printer.used if name not in lines]:
        for name in missing:
            lines[name] = printer.definition(name, printer.used[name])
    definitions = "".join(f"{lines[name]}\n" for name in aliases if name in lines)
    return f"{definitions}{body.getvalue()}\n"
