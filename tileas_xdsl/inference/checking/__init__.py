"""Verification of inferred layouts by tables, independent of the inference algorithms.

Nothing here looks at how a layout came about: each rule evaluates the maps for all threads, steps
and elements, and reports the first location where they contradict the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tileas_xdsl.inference.checking.checked_program import CheckedProgram
from tileas_xdsl.inference.checking.effects import dependent_iterations, repeated_effects
from tileas_xdsl.inference.checking.findings import Finding, Rule
from tileas_xdsl.inference.checking.gemms import wrong_products
from tileas_xdsl.inference.checking.maps import wrong_maps
from tileas_xdsl.inference.checking.memory_offsets import wrong_shared_layouts
from tileas_xdsl.inference.checking.ownership import wrong_owners
from tileas_xdsl.inference.checking.prescriptions import (
    ignored_annotations,
    split_views,
    unreplicated_floats,
)
from tileas_xdsl.inference.checking.reductions import wrong_reductions
from tileas_xdsl.inference.checking.steps import false_vectors, hidden_padding
from tileas_xdsl.inference.checking.structure import undecided, wrong_conversions
from tileas_xdsl.inference.decisions import Decisions
from tileas_xdsl.inference.program import Program
from tileas_xdsl.inference.staging import spelled_out

__all__ = ["Finding", "Rule", "check"]

Check = Callable[[CheckedProgram], Iterator[Finding]]

STAGES: tuple[tuple[Check, ...], ...] = (
    (undecided,),
    (wrong_maps, wrong_conversions),
    (ignored_annotations, unreplicated_floats, split_views, wrong_shared_layouts),
    (
        wrong_owners,
        repeated_effects,
        dependent_iterations,
        hidden_padding,
        false_vectors,
        wrong_reductions,
        wrong_products,
    ),
)
"""The rules; a stage is looked at where the ones before it found nothing."""


def check(program: Program, decisions: Decisions) -> tuple[Finding, ...]:
    """Return the violations of the decisions, one concrete location for each rule and access.

    Extents known only at run time are taken for a prime; variables of enclosing serial loops and
    CTA ids for up to 64 values each.  Conditions are ignored: guarded accesses may happen in every
    iteration, and are never taken to exclude one another or to conflict.
    """
    question = CheckedProgram(*spelled_out(program, decisions))
    for stage in STAGES:
        findings = tuple(finding for rule in stage for finding in rule(question))
        if findings:
            return findings
    return ()
