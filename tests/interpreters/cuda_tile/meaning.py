"""Tile IR kernels, run by their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import Evaluation, evaluate


def meaning(text: str, *arguments: Any, grid: int | Sequence[int] = 1) -> Evaluation:
    """Parse, verify and run a kernel."""
    module = parse_module(registered_context(), text)
    verify_module(module)
    return evaluate(module, arguments, grid=grid)
