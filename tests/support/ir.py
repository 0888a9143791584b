"""Small modules for tests of constructors and builders: initial values and the printed text."""

from textwrap import dedent

from xdsl.builder import Builder
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context


def program(*types: Attribute) -> tuple[ModuleOp, Builder, tuple[SSAValue, ...]]:
    """Return a module whose first operation defines values of these types, and a builder."""
    module = ModuleOp([])
    builder = Builder(InsertPoint.at_end(module.body.block))
    values = builder.insert(test.TestOp(result_types=types)).results if types else ()
    return module, builder, tuple(values)


def assert_prints(module: ModuleOp, text: str) -> None:
    """Assert that the module is valid and prints as `text` after its first operation.

    Line breaks in the text are ignored.
    """
    verify_module(module)
    lines = str(module).splitlines()[1:-1]
    printed = "\n".join(line for line in lines if "test.op" not in line)
    assert printed.split() == text.split(), printed


def parse(text: str, *, verify: bool = True) -> ModuleOp:
    """Parse a module with every dialect registered; verify it unless disabled."""
    ctx = registered_context()
    module = parse_module(ctx, dedent(text))
    if verify:
        verify_module(module)
    return module
