"""What the tests of this folder share: a context that knows every installed dialect."""

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context


@pytest.fixture
def ctx() -> Context:
    return registered_context()


@pytest.fixture
def parse(ctx: Context) -> Callable[..., ModuleOp]:
    """Parse a text as the file `k.mlir`."""
    return lambda text, **options: parse_module(ctx, text, "k.mlir", **options)
