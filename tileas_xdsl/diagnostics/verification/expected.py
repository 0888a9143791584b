"""`--verify-diagnostics`: the input says in comments which diagnostics it must produce.

The language is that of MLIR's `SourceMgrDiagnosticVerifierHandler`:

    // expected-error@+1 {{text}}            the next line; also -1, below, above, unknown
    // expected-note-re {{operand {{#[0-9]}} is}}   regular expressions between inner braces

A designator ends its line.  Its text must be part of a message of that severity on that line; empty
text fits any message.  Every diagnostic, notes too, must be expected, and every expectation met.
One expectation may meet several equal diagnostics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic

_DESIGNATOR = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)?"
    r" *(?P<place>@(?:[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)
_ATTEMPT = re.compile(r"//.*?(?P<start>\bexpected-[\w-]+)\s*(?:@\s*[\w+-]*\s*)?\{")
_INNER_REGEX = re.compile(r"\{\{(.*?)(\}\}|$)")

_MALFORMED = (
    "malformed expected diagnostic; write "
    "expected-(error|warning|remark|note)[-re][@+N|@-N|@above|@below|@unknown] {{text}} "
    "at the end of the line"
)


@dataclass(frozen=True)
class Expectation:
    """One `expected-...` comment; `line` is None for `@unknown`."""

    severity: Severity
    line: int | None
    pattern: re.Pattern[str]
    text: str
    written_at: Location

    def fits(self, report: Diagnostic) -> bool:
        """Is this the line of `report`, and its text part of the message?"""
        line = None if report.location is None else report.location.line
        return line == self.line and self.pattern.search(report.text) is not None


def check_expected(
    text: str, name: str, reports: Iterable[Diagnostic], line_offset: int
) -> list[Diagnostic]:
    """What is wrong with the diagnostics that `text` produced; nothing if all is as expected.

    `name` is the file name of `text`, `line_offset` the number of lines of the file before it.
    """
    expectations, errors = read_expectations(text, name, line_offset)
    met: set[int] = set()
    for report in _with_notes(reports):
        errors += _check_report(report, name, expectations, met)
    errors += [
        diagnostic(
            Severity.ERROR,
            f'expected {expectation.severity} "{expectation.text}" was not produced',
            expectation.written_at,
        )
        for index, expectation in enumerate(expectations)
        if index not in met
    ]
    return errors


def _with_notes(reports: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for report in reports:
        yield report
        yield from _with_notes(report.notes)


def _check_report(
    report: Diagnostic, name: str, expectations: list[Expectation], met: set[int]
) -> list[Diagnostic]:
    in_this_file = report.location is None or report.location.file == name
    fitting = [
        index
        for index, expectation in enumerate(expectations)
        if in_this_file and expectation.fits(report)
    ]
    same = [index for index in fitting if expectations[index].severity is report.severity]
    if same:
        met.add(next((index for index in same if index not in met), same[0]))
        return []
    if fitting:
        wanted = expectations[fitting[0]]
        message = f"'{report.severity}' diagnostic emitted when expecting a '{wanted.severity}'"
        return [diagnostic(Severity.ERROR, message, wanted.written_at)]
    message = f"unexpected {report.severity}: {report.text}"
    return [replace(report, severity=Severity.ERROR, message=message, op_name=None, notes=())]


def read_expectations(
    text: str, name: str, line_offset: int = 0
) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations in `text`, and an error for each comment that tries to be one and is not."""
    reader = _Reader(name, last_plain_line=line_offset + 1)
    lines = text.split("\n")
    for number, line in enumerate(lines, start=line_offset + 1):
        match = _DESIGNATOR.search(line.rstrip())
        if match is None:
            reader.plain_line(number, line)
        else:
            reader.designator(number, match, last_line=line_offset + len(lines))
    return reader.expectations, reader.errors


@dataclass
class _Reader:
    name: str
    last_plain_line: int
    expectations: list[Expectation] = field(default_factory=list[Expectation])
    errors: list[Diagnostic] = field(default_factory=list[Diagnostic])
    _waiting_for_next_line: list[int] = field(default_factory=list[int])

    def plain_line(self, number: int, line: str) -> None:
        for index in self._waiting_for_next_line:
            self.expectations[index] = replace(self.expectations[index], line=number)
        self._waiting_for_next_line.clear()
        self.last_plain_line = number
        if attempt := _ATTEMPT.search(line):
            location = Location(self.name, number, attempt.start("start") + 1)
            self.errors.append(diagnostic(Severity.ERROR, _MALFORMED, location))

    def designator(self, number: int, match: re.Match[str], last_line: int) -> None:
        written_at = Location(self.name, number, match.start() + 1)
        try:
            pattern = _pattern(match["text"], is_regex=match["regex"] is not None)
        except ValueError as error:
            self.errors.append(diagnostic(Severity.ERROR, str(error), written_at))
            return
        if match["place"] == "@below":
            self._waiting_for_next_line.append(len(self.expectations))
        line = _line(match["place"], number, self.last_plain_line, last_line)
        severity = Severity(match["severity"])
        self.expectations.append(Expectation(severity, line, pattern, match["text"], written_at))


def _line(designator: str | None, here: int, above: int, last: int) -> int | None:
    """`@below` starts as the last line: that is where it stays if no line follows."""
    match designator:
        case None:
            return here
        case "@unknown":
            return None
        case "@above":
            return above
        case "@below":
            return last
        case _:
            return here + int(designator[1:])


def _pattern(text: str, *, is_regex: bool) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    parts: list[str] = []
    end = 0
    for match in _INNER_REGEX.finditer(text):
        if not match[2]:
            raise ValueError("found start of regex with no end '}}'")
        parts += [re.escape(text[end : match.start()]), "(", match[1], ")"]
        _compile(match[1])
        end = match.end()
    return _compile("".join([*parts, re.escape(text[end:])]))


def _compile(regex: str) -> re.Pattern[str]:
    try:
        return re.compile(regex)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"invalid regex: {error}") from error
