"""From whatever a parser raises to located diagnostics."""

from __future__ import annotations

from xdsl.utils.exceptions import (
    MultipleSpansParseError,
    ParseError,
    UnregisteredConstructException,
    VerifyException,
)
from xdsl.utils.lexer import Input, Span

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic


class LocatedParseError(DiagnosticError, ParseError):
    """A parse error whose file, line and column are right, also in a split input."""

    def __init__(self, span: Span[str] | Span[bytes], *diagnostics: Diagnostic) -> None:
        DiagnosticError.__init__(self, *diagnostics)
        self.span = span
        self.msg = diagnostics[0].message


def one_line(message: str) -> str:
    """xDSL breaks `... does not verify:` from its reason; here they share a line."""
    return message.replace(":\n", ": ")


def explain_exception(error: Exception) -> str:
    """What an exception that escaped from a parser tells the user."""
    match error:
        case ParseError():
            return error.msg
        case DiagnosticError():
            return "; ".join(report.text for report in error.diagnostics)
        case VerifyException():
            return one_line(str(error))
        case RecursionError():
            return "the input is nested too deeply"
        case MemoryError():
            return "cannot parse this: it needs more memory than there is"
        case ValueError() | NotImplementedError() | UnregisteredConstructException():
            return f"cannot parse this: {error}"
        case _:
            return f"cannot parse this: {type(error).__name__}: {error}"


def located_parse_error(
    error: Exception, fallback: Span[str], source: SourceText
) -> LocatedParseError:
    """Locate `error` in `source`: at its own span if it has one there, else at `fallback`."""
    span = _own_span(error, fallback)
    notes = tuple(_reference_notes(error, fallback.input, source))
    report = diagnostic(
        Severity.ERROR, explain_exception(error), _location_of(span, source), notes=notes
    )
    return LocatedParseError(span, report)


def _own_span(error: Exception, fallback: Span[str]) -> Span[str] | Span[bytes]:
    if isinstance(error, ParseError) and error.span.input is fallback.input:
        return error.span
    return fallback


def _reference_notes(error: Exception, text: Input[str], source: SourceText) -> list[Diagnostic]:
    if not isinstance(error, MultipleSpansParseError):
        return []
    heading = (error.ref_text or "see also").removesuffix(":")
    return [
        diagnostic(Severity.NOTE, message or heading, _location_of(span, source))
        for span, message in error.refs
        if span.input is text
    ]


def _location_of(span: Span[str] | Span[bytes], source: SourceText) -> Location:
    """Return the source location where a span begins."""
    return Location(source.name, *source.line_and_column(span.start))


def error_at(source: SourceText, span: Span[str], *messages: str) -> LocatedParseError:
    """A parse error at one place, made from messages that are already meant for the user."""
    location = _location_of(span, source)
    return LocatedParseError(
        span, *(diagnostic(Severity.ERROR, message, location) for message in messages)
    )


def decode_source(source: str | bytes, name: str, line_offset: int) -> str:
    """The text of an input; raises `LocatedParseError` at the first byte that is not UTF-8."""
    if isinstance(source, str):
        return source
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        text = SourceText(name, source.decode("utf-8", "replace"), line_offset)
        remember_source(text)
        position = len(source[: error.start].decode("utf-8"))
        span = Span(position, position + 1, Input(text.text, name))
        message = f"the input is not UTF-8: cannot decode byte 0x{source[error.start]:02x}"
        raise error_at(text, span, message) from error
