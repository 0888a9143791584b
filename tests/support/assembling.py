"""What the tests of PTX share: entries to fill, and what ptxas says of them."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.dialects.ptx import ConstOp, EntryOp, RetOp, SharedOp, UndefOp, param

needs_ptxas = pytest.mark.skipif(
    find_tool("ptxas") is None, reason="ptxas is not installed: pip install 'tileas-xdsl[ptxas]'"
)
needs_nvdisasm = pytest.mark.skipif(
    find_tool("nvdisasm") is None,
    reason="nvdisasm is not installed: pip install 'tileas-xdsl[ptxas]'",
)


class Body:
    """A block that is being filled: call it with an operation."""

    def __init__(self, block):
        self.block = block

    def __call__(self, op):
        self.block.add_op(op)
        return op

    def const(self, value, kind="b32"):
        return self(ConstOp(value, kind))

    def undef(self, kind="b32", count=1):
        return self(UndefOp(kind, count))


def module_of(*entries):
    """A module of entries, with a variable `smem` in shared memory."""
    return ModuleOp([SharedOp("smem", align=1024, extern=True), *entries])


def filled(fill, *, name="k"):
    """An entry whose only block `fill` fills with operations, through a `Body`."""
    entry = EntryOp(name, [param("u64"), param("b8", 128, 64)], maxntid=(128, 1, 1))
    body = Body(entry.entry_block)
    fill(body)
    body(RetOp())
    return entry


def refused_lines(text, arch):
    """The lines of `text` that ptxas has an error for, by number from 1: what it says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.ptx")
        path.write_text(text)
        command = [find_tool("ptxas"), f"-arch={arch}", path, "-o", Path(folder, "k.cubin")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r", line (\d+); (?:error|fatal) *: (.*)", run.stderr + run.stdout)
    return {int(line): message for line, message in found}
