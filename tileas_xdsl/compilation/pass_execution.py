"""Run one pass on a module: the one way in which every tool does it."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.compilation.levels import mark_done, unmarked_level
from tileas_xdsl.diagnostics.environment import VERIFY_EACH, is_set
from tileas_xdsl.diagnostics.locations import locate_new
from tileas_xdsl.diagnostics.pass_errors import located_failures
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import installed_universe


def run_pass(module_pass: ModulePass, ctx: Context, module: ModuleOp) -> None:
    """Run a pass, and mark the module with it; raises `DiagnosticError` located in the module."""
    level = unmarked_level(module)
    with located_failures(f"pass '{module_pass.name}'", module):
        module_pass.apply(ctx, module)
    locate_new(module)
    mark_done(module, module_pass.name, level)


def apply_pass(spec: ArgSpec, ctx: Context, module: ModuleOp) -> None:
    """Run a pass by its name and options; raises `DiagnosticError` located in the module.

    If `TILEAS_VERIFY_EACH` is set, that is also raised for a pass that leaves IR which does not
    verify.
    """
    run_pass(make_pass(spec), ctx, module)
    if is_set(VERIFY_EACH):
        verify_module(module, after=spec.name)


_made: dict[tuple[type[ModulePass], str], ModulePass] = {}
"""Passes, which do not change, by class and text: reading options asks for their type hints."""

MAX_PASSES = 1024
"""Passes with other options that are kept."""


def make_pass(spec: ArgSpec) -> ModulePass:
    """Return an installed pass with its options."""
    text = str(spec) if spec.parameters else spec.name
    key = installed_universe().all_passes[spec.name](), text
    if key not in _made:
        if len(_made) >= MAX_PASSES:
            _made.clear()
        _made[key] = key[0].from_spec(spec)
    return _made[key]
