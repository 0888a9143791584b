"""The tables of the instruction set against ptxas: what we accept and refuse, and in which version.

Every operation of a list is judged twice: by its verifier, and by ptxas, which sees all of them in
one text and says which lines it refuses.  A location per operation tells the lines apart.
"""

import re
from bisect import bisect_right

from support.assembling import Body, module_of, refused_lines
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.backend.ptx.printer_entry import EntryWriter
from tileas_xdsl.dialects.ptx import EntryOp, RetOp, param
from tileas_xdsl.dialects.ptx.base import PtxOp
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.isa.table import TABLE

NEWEST = ".version 9.1"


def made(operation, operands, results, /, **properties):
    """An operation that need not be right, as no constructor would make it."""
    op = operation.__new__(operation)
    PtxOp.fill(op, operands, results, **properties)
    return op


def accepted(op):
    try:
        op.verify_()
    except VerifyException:
        return False
    return True


def judged(ops_of, arch, *, version=NEWEST):
    """For every operation that `ops_of(body)` yields: itself, and what ptxas says, or None.

    `version` None keeps the one that the printer found.
    """
    entry = EntryOp("k", [param("u64"), param("b8", 128, 64)], maxntid=(128, 1, 1))
    body = Body(entry.entry_block)
    ops = []
    for op in ops_of(body):
        op.location = FileLineColLoc(StringAttr("cases"), IntAttr(len(ops) + 1), IntAttr(1))
        ops.append(body(op))
    body(RetOp())
    text = ptx_text(module_of(entry), arch, locations=True)
    if version is not None:
        text = re.sub(r"\.version .*", version, text, count=1)
    said = _by_case(text, refused_lines(text, arch))
    return [(op, said.get(index + 1)) for index, op in enumerate(ops)], text


def _by_case(text, refused):
    starts, cases = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"\s*\.loc 1 (\d+) 1$", line):
            starts.append(number)
            cases.append(int(match[1]))
    found = {}
    for line, message in refused.items():
        index = bisect_right(starts, line) - 1
        assert index >= 0, f"ptxas refuses line {line} of the text: {message}"
        found.setdefault(cases[index], message)
    return found


def differences(ops_of, arch, monkeypatch):
    """Where the verifier and ptxas disagree: two sorted lists, wrongly accepted and refused."""
    wrongly_accepted, wrongly_refused = set(), set()
    with monkeypatch.context() as patch:
        patch.setattr(EntryWriter, "_require", lambda _self, _opcode: None)
        verdicts, text = judged(ops_of, arch)
    for op, said in verdicts:
        fits = accepted(op) and _has(op, arch)
        if fits and said is not None:
            wrongly_accepted.add(f"{shown(op)}: {said}")
        if not fits and said is None:
            wrongly_refused.add(shown(op))
    assert len(verdicts) > 10, "too few cases to mean anything"
    return sorted(wrongly_accepted), sorted(wrongly_refused), text


def _has(op, arch):
    target = get_target(arch)
    found = [[form.requirement for form in TABLE.find(opcode)] for opcode in op.opcodes()]
    return all(any(need.met_by(target) for need in needs) for needs in found)


def _version(op, arch):
    """The version of the newest opcode of an operation."""
    target = get_target(arch)
    return max(
        min(
            form.requirement.version
            for form in TABLE.find(opcode)
            if form.requirement.met_by(target)
        )
        for opcode in op.opcodes()
    )


def shown(op):
    """An operation with its properties."""
    return f"{op.name} " + " ".join(
        str(getattr(value, "data", getattr(getattr(value, "value", None), "data", name)))
        for name, value in op.properties.items()
    )


def check_versions(ops_of, arch):
    """Assert that operations assemble in the version they require, and not in the previous one."""
    body = Body(EntryOp("k", []).entry_block)
    valid = [op for op in ops_of(body) if accepted(op) and _has(op, arch)]
    for needed in {_version(op, arch) for op in valid}:

        def fitting(body, needed=needed):
            fits = [op for op in ops_of(body) if accepted(op) and _has(op, arch)]
            return [op for op in fits if _version(op, arch) == needed]

        verdicts, text = judged(fitting, arch, version=None)
        assert [(shown(op), said) for op, said in verdicts if said] == []
        major, minor = map(int, re.search(r"\.version (\d+)\.(\d+)", text).groups())
        floor = {"sm_90a": (8, 0), "sm_100a": (8, 6)}[arch]
        if (major, minor) > floor:
            verdicts, _ = judged(fitting, arch, version=f".version {major}.{minor - 1}")
            assert [shown(op) for op, said in verdicts if not said] == []
