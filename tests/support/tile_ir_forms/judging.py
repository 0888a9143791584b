"""What becomes of forms on every level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.support.random_tile_ir.judge import Kind, Verdict, judge_text
from tests.support.tile_ir_forms.form import Form, kernel_of
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context

GROUP = 8
"""Forms of one kernel; those of a kernel that is not right are judged one by one."""


def is_form(form: Form) -> bool:
    """Whether the verifier takes it."""
    try:
        verify_module(parse_module(registered_context(), kernel_of([form]).text))
    except DiagnosticError:
        return False
    return True


def judged(forms: Sequence[Form], target: str) -> Iterator[tuple[Form, Verdict]]:
    """What becomes of forms on a target."""
    for first in range(0, len(forms), GROUP):
        group = forms[first : first + GROUP]
        together = judge_text(kernel_of(group), targets=(target,))
        if together.kind is Kind.RIGHT:
            yield from ((form, together) for form in group)
            continue
        for form in group:
            yield form, judge_text(kernel_of([form]), targets=(target,))
