"""The programs of the filecheck tests: ptxas takes them, and their text is read back."""

import re
from io import StringIO
from pathlib import Path

import pytest
from support.assembling import needs_ptxas
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.printer import Printer

from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.diagnostics.parsing.located_parser import LocatedParser
from tileas_xdsl.dialects.ptx import Ptx

FILECHECK = Path(__file__).parents[3] / "filecheck"
PROGRAMS = [
    *sorted((FILECHECK / "dialects" / "ptx" / "ops").glob("*.mlir")),
    FILECHECK / "backend" / "registers.mlir",
]


def parsed(text, name="program.mlir"):
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Ptx)
    module = LocatedParser(context, text.encode(), name, 0).parse_module()
    module.verify()
    return module


def printed(module):
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


def target_of(text):
    found = re.search(r"arch=(\w+)", text)
    return found[1] if found else "sm_90a"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_round_trip(program):
    text = printed(parsed(program.read_text()))
    assert printed(parsed(text)) == text


@needs_ptxas
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_ptxas_takes_it_silently(program):
    text = program.read_text()
    target = target_of(text)
    is_linked = "ptx.function" in text
    options = ["--compile-only"] if is_linked else []
    done = assemble(ptx_text(parsed(text), target), target, options=options)
    assert done.messages == ()
    assert done.spills == 0
    assert done.cubin[:4] == b"\x7fELF"


def test_every_operation_is_in_a_program():
    """No family is without an example that was assembled."""
    written = set(re.findall(r"\bptx\.[\w.]+", "".join(p.read_text() for p in PROGRAMS)))
    left = {op.name for op in Ptx.operations} - written
    assert left <= {"ptx.exit", "ptx.bra", "ptx.cond_bra", "ptx.ret"} - written | {"ptx.exit"}
