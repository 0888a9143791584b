"""`--verify-diagnostics`: expectations in comments, as MLIR reads them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.diagnostics.verification.expected import check_expected, read_expectations


def error(line: int, message: str, severity: Severity = Severity.ERROR, **options):
    return diagnostic(severity, message, Location("k.mlir", line, 1), **options)


def wrong(text: str, *reports, line_offset: int = 0) -> list[str]:
    return [report.headline for report in check_expected(text, "k.mlir", reports, line_offset)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("op // expected-error {{bad}}", 1),
        ("// expected-error@+1 {{bad}}\nop", 2),
        ("// expected-error @+1 {{bad}}\nop", 2),
        ("// expected-error  @+02{{bad}}\n\nop", 3),
        ("op\n// expected-error@-1 {{bad}}", 1),
        ("op\n// expected-error@above {{bad}}", 1),
        ("// expected-error@below {{bad}}\nop", 2),
        ("// expected-error@below {{bad}}\n// expected-note@below {{x}}\nop", 3),
        ("op\n// expected-note@above {{x}}\n// expected-error@above {{bad}}", 1),
        ("op // expected-error {{}}", 1),
        ("op // expected-error {{bad}}   \r", 1),
        ("op // expected-error-re {{b{{[aeiou]}}d}}", 1),
        ("op // expected-error-re {{a (b{{a|e}}d) {{.*}}}}", 1),
    ],
)
def test_where_a_diagnostic_is_expected(text, line):
    reports = [error(line, "a (bad) thing")]
    if "note" in text:
        reports.append(error(line, "x", Severity.NOTE))
    assert wrong(text, *reports) == []


def test_expected_but_not_produced():
    assert wrong("\n  op // expected-warning {{deep}}") == [
        'k.mlir:2:9: error: expected warning "deep" was not produced'
    ]


def test_unexpected():
    assert wrong("op", error(1, "is bad", op_name="a.b")) == [
        "k.mlir:1:1: error: unexpected error: 'a.b' op is bad"
    ]


def test_another_line_is_another_diagnostic():
    assert wrong("// expected-error {{bad}}\nop", error(2, "bad")) == [
        "k.mlir:2:1: error: unexpected error: bad",
        'k.mlir:1:4: error: expected error "bad" was not produced',
    ]


def test_another_severity_is_a_near_miss():
    assert wrong("op // expected-warning {{bad}}", error(1, "bad"))[0] == (
        "k.mlir:1:7: error: 'error' diagnostic emitted when expecting a 'warning'"
    )


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.REMARK, Severity.ERROR])
def test_every_severity_must_be_expected(severity):
    assert len(wrong("op", error(1, "x", severity))) == 1
    assert wrong(f"op // expected-{severity} {{{{x}}}}", error(1, "x", severity)) == []


def test_notes_must_be_expected_too():
    noted = error(2, "bad", notes=[error(1, "defined here", Severity.NOTE)])
    text = "a // expected-note {{defined}}\nb // expected-error {{bad}}"
    assert wrong(text, noted) == []
    assert wrong("a\nb // expected-error {{bad}}", noted) == [
        "k.mlir:1:1: error: unexpected note: defined here"
    ]


def test_unknown_places():
    lost = diagnostic(Severity.ERROR, "lost")
    assert wrong("// expected-error@unknown {{lost}}", lost) == []
    assert (
        wrong("// expected-error {{lost}}", lost)[0] == "<unknown>:0: error: unexpected error: lost"
    )


def test_the_text_is_not_a_regular_expression():
    assert wrong("op // expected-error {{a.c}}", error(1, "abc")) != []
    assert wrong("op // expected-error {{f(x) [1]}}", error(1, "in f(x) [1] here")) == []


def test_the_prefix_of_the_operation_is_part_of_the_message():
    assert wrong("op // expected-error {{'a.b' op bad}}", error(1, "bad", op_name="a.b")) == []


def test_leading_blanks_and_newlines_are_part_of_the_message():
    report = error(1, " can not find\n", op_name="a.b")
    assert wrong("op // expected-error {{op  can not find}}", report) == []


def test_two_equal_expectations_need_two_diagnostics():
    text = "// expected-error@+2 {{x}}\n// expected-error@+1 {{x}}\nop"
    assert wrong(text, error(3, "x"), error(3, "x")) == []
    assert len(wrong(text, error(3, "x"))) == 1


def test_one_expectation_meets_equal_diagnostics():
    assert wrong("op // expected-error {{x}}", error(1, "x"), error(1, "x")) == []


def test_line_numbers_are_those_of_the_file():
    assert wrong("op\n// expected-error@above {{x}}", error(11, "x"), line_offset=10) == []


def test_a_diagnostic_of_another_file_is_unexpected():
    foreign = diagnostic(Severity.ERROR, "x", Location("a.py", 1, 1))
    assert wrong("op // expected-error {{x}}", foreign)[0] == "a.py:1:1: error: unexpected error: x"


@pytest.mark.parametrize(
    "line",
    [
        "// expected-error {{never closed",
        "// expected-error {bad}",
        "// expected-eror@+1 {{bad}}",
        "// expected-error@next {{bad}}",
        "// expected-error@+x {{bad}}",
        "// expected-error {{bad}} and more",
    ],
)
def test_malformed_expectations_are_reported(line):
    (report,) = wrong(line)
    assert report.startswith("k.mlir:1:4: error: malformed expected diagnostic; write expected-")


@pytest.mark.parametrize(
    "line", ["// no expected-error here", "// see expected-error@+1", "op {a}"]
)
def test_prose_is_not_an_expectation(line):
    assert wrong(line) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("// expected-error-re {{a{{[}}}}", "invalid regex: "),
        ("// expected-error-re {{a{{b}}", "found start of regex with no end '}}'"),
        ("// expected-error-re {{{{(?P<n>a)}}{{(?P<n>a)}}}}", "invalid regex: "),
    ],
)
def test_bad_regular_expressions_are_reported(line, reason):
    (report,) = wrong(line)
    assert report.startswith(f"k.mlir:1:4: error: {reason}")


@settings(deadline=None)
@given(st.text(alphabet="{}[]()*+?\\|^$.@ -abexpctdrno:/\n", max_size=60))
def test_no_text_breaks_the_reader(text: str):
    read_expectations(f"// expected-error-re {{{{{text}}}}}\n{text}", "k.mlir")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_one_line_text_can_be_expected(message: str):
    message = " ".join(message.split())
    assert wrong(f"op // expected-error {{{{{message}}}}}", error(1, f"<{message}>")) == []
