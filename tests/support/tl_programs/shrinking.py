"""Reduction of failing programs: operations are removed while the failure persists."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tests.support.ir import parse
from tileas_xdsl.diagnostics.outputs import printed_module


def shrunk(text: str, fails: Callable[[str], bool]) -> str:
    """Return a reduced text that still fails; `fails` is called on valid programs only."""
    before = ""
    while before != text:
        before = text
        for k in reversed(range(_count(text))):
            text = _without(text, k, fails)
    return text


def _count(text: str) -> int:
    return len(_removable(parse(text)))


def _removable(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if op.parent_op() not in (None, module)]


def _without(text: str, k: int, fails: Callable[[str], bool]) -> str:
    """Return the text without operation k, or unchanged if that does not fail."""
    module = parse(text)
    ops = _removable(module)
    if k >= len(ops) or any(result.uses for result in ops[k].results):
        return text
    ops[k].detach()
    ops[k].erase()
    try:
        smaller = printed_module(module)
        parse(smaller)
    except Exception:
        return text
    return smaller if fails(smaller) else text
