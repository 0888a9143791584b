"""Helpers of the PTX backend tests: functions to fill, and the errors of ptxas."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.dialects.ptx import ConstOp, SharedOp, UndefOp

needs_ptxas = pytest.mark.skipif(
    find_tool("ptxas") is None, reason="ptxas is not installed: pip install 'tileas-xdsl[ptxas]'"
)
needs_nvdisasm = pytest.mark.skipif(
    find_tool("nvdisasm") is None,
    reason="nvdisasm is not installed: pip install 'tileas-xdsl[ptxas]'",
)


class Body:
    """A block under construction: call it with an operation to append it."""

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
    """Return a module of the given functions with a shared-memory variable `smem`."""
    return ModuleOp([SharedOp("smem", align=1024, extern=True), *entries])


def refused_lines(text, arch):
    """Return the ptxas errors of `text` by line number, counted from 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.ptx")
        path.write_text(text)
        command = [find_tool("ptxas"), f"-arch={arch}", path, "-o", Path(folder, "k.cubin")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r", line (\d+); (?:error|fatal) *: (.*)", run.stderr + run.stdout)
    return {int(line): message for line, message in found}
