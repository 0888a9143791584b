"""Hints for the compiler, for each architecture: `optimization_hints=<sm_90 = {latency = 2}>`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.layout.integers import is_power_of_two

DEFAULT = "default"
"""The key of hints for every architecture that has none of its own."""

ARCHITECTURES = (
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_88",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
)
"""The keys of hints beside `default`; the number is the one in bytecode."""

_SINGLE_BLOCK = frozenset(("sm_80", "sm_86", "sm_87", "sm_88", "sm_89"))
"""Architectures without clusters."""


@irdl_attr_definition
class OptimizationHintsAttr(ParametrizedAttribute):
    """`#cuda_tile.optimization_hints<sm_90 = {num_cta_in_cga = 2}, default = {occupancy = 2}>`."""

    name = "cuda_tile.optimization_hints"
    value: DictionaryAttr

    def __init__(self, value: DictionaryAttr | Mapping[str, Mapping[str, Attribute]]) -> None:
        if not isinstance(value, DictionaryAttr):
            value = DictionaryAttr({key: DictionaryAttr(inner) for key, inner in value.items()})
        super().__init__(value)

    def get(self, architecture: str, hint: str) -> Attribute | None:
        """The hint for an architecture, else the default one, else None."""
        for key in (architecture, DEFAULT):
            inner = self.value.data.get(key)
            if isinstance(inner, DictionaryAttr) and (found := inner.data.get(hint)) is not None:
                return found
        return None

    def without(self, hint: str) -> OptimizationHintsAttr:
        """The hints but for one, which no architecture has then."""
        kept = {
            key: {name: value for name, value in inner.data.items() if name != hint}
            for key, inner in self.value.data.items()
            if isinstance(inner, DictionaryAttr)
        }
        return OptimizationHintsAttr(kept)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        entries: dict[str, Attribute] = {}

        def parse_entry() -> None:
            key = parser.parse_identifier_or_str_literal()
            parser.parse_punctuation("=")
            value = parser.parse_attribute()
            if key in entries:
                parser.raise_error(message("cuda_tile.hints.duplicate_key", target=key))
            if not isinstance(value, DictionaryAttr):
                parser.raise_error(message("cuda_tile.hints.dictionary", target=key, value=value))
            entries[key] = value

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return [DictionaryAttr(entries)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.value.data.items(), lambda item: _print_entry(printer, *item))

    def verify(self) -> None:
        for key, value in self.value.data.items():
            if not isinstance(value, DictionaryAttr):
                raise VerifyException(
                    message("cuda_tile.hints.dictionary", target=key, value=value)
                )

    def problems(self, allowed: Sequence[str]) -> Iterator[str]:
        """What is wrong with the hints on an operation that takes those of `allowed`.

        The open dialect warns of them, as hints never change what a program means.
        """
        for key, inner in self.value.data.items():
            if key != DEFAULT and key not in ARCHITECTURES:
                yield message("cuda_tile.hints.unknown_key", target=key)
                continue
            assert isinstance(inner, DictionaryAttr)
            for hint, value in inner.data.items():
                if hint not in allowed:
                    yield message("cuda_tile.hints.not_for_operation", hint=hint)
                elif (problem := HINTS[hint].problem(key, value)) is not None:
                    yield problem


def _print_entry(printer: Printer, key: str, value: Attribute) -> None:
    assert isinstance(value, DictionaryAttr)
    printer.print_identifier_or_string_literal(key)
    printer.print_string(" = {")
    printer.print_list(value.data.items(), lambda item: _print_hint(printer, *item))
    printer.print_string("}")


def _print_hint(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    printer.print_string(" = ")
    number = cast("Any", value)
    if isinstance(value, IntegerAttr) and number.type == i64:
        printer.print_string(str(number.value.data))
        return
    printer.print_attribute(number)


@dataclass(frozen=True)
class Hint:
    """Which values a hint takes."""

    name: str
    takes: Callable[[int], bool]
    key: str
    """The message for a number that the hint does not take."""

    def problem(self, architecture: str, value: Attribute) -> str | None:
        """What is wrong with a value, None if nothing is."""
        key = f"{architecture}.{self.name}"
        if self.name == "allow_tma":
            is_boolean = value in (BoolAttr.from_bool(False), BoolAttr.from_bool(True))
            return None if is_boolean else message("cuda_tile.hints.boolean", hint=key)
        if not isinstance(value, IntegerAttr):
            return message("cuda_tile.hints.integer", hint=key)
        number = value.value.data
        if self.name == "num_cta_in_cga" and architecture in _SINGLE_BLOCK and number != 1:
            return message("cuda_tile.hints.single_block", hint=key)
        return None if self.takes(number) else message(self.key, hint=key)


def _power_of_two(limit: int) -> Callable[[int], bool]:
    return lambda number: number <= limit and is_power_of_two(number)


HINTS = {
    hint.name: hint
    for hint in (
        Hint("num_cta_in_cga", _power_of_two(16), "cuda_tile.hints.blocks"),
        Hint("num_worker_warps_per_cta", _power_of_two(32), "cuda_tile.hints.warps"),
        Hint("occupancy", lambda number: 1 <= number <= 32, "cuda_tile.hints.occupancy"),
        Hint("allow_tma", lambda _: True, "cuda_tile.hints.boolean"),
        Hint("latency", lambda number: 1 <= number <= 10, "cuda_tile.hints.latency"),
    )
}
"""Every hint by its name."""


class HintReports(Enum):
    """What becomes of hints that an operation does not take."""

    SILENT = "silent"
    WARNING = "warning"
    ERROR = "error"
    """A warning, and the operation is refused."""


_REPORTS = ContextVar("hint reports", default=HintReports.WARNING)


def hint_reports() -> HintReports:
    """What is asked for here; by default a warning."""
    return _REPORTS.get()


@contextmanager
def reporting_hints(reports: HintReports) -> Generator[None]:
    """Ask for something else, as the flags of the public tools do."""
    token = _REPORTS.set(reports)
    try:
        yield
    finally:
        _REPORTS.reset(token)


OF_ENTRY = ("num_cta_in_cga", "num_worker_warps_per_cta", "occupancy")
OF_VIEW_ACCESS = ("latency", "allow_tma")
OF_POINTER_ACCESS = ("latency",)
