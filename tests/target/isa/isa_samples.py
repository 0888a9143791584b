"""Sample instructions of the table of PTX forms, and their ptxas errors."""

import re
from dataclasses import replace

from support.assembling import refused_lines

from tileas_xdsl.interpreters.ptx.arguments import bind
from tileas_xdsl.interpreters.ptx.errors import PtxError
from tileas_xdsl.interpreters.ptx.execution.program import Program
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.variable_addresses import Variables
from tileas_xdsl.interpreters.ptx.parsing.parser import parse
from tileas_xdsl.target.isa.forms import split_operands
from tileas_xdsl.target.isa.kinds import MEMORY_KINDS

VERSION = (9, 1)
"""Newer than every form."""

REGISTERS = {
    "pred": "%p",
    "b8": "%h",
    "b16": "%h",
    "b32": "%r",
    "b64": "%rd",
    "b128": "%q",
    "f32": "%f",
    "f64": "%fd",
}

WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
PACKED = {
    "e5m2": "b8",
    "e4m3": "b8",
    "e2m1x2": "b8",
    "e2m3x2": "b16",
    "e3m2x2": "b16",
    "ue8m0x2": "b16",
    "e2m1x4": "b16",
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "b32"),
}

HEAD = """.version {version}
.target {target}
.address_size 64
.func F() {{ ret; }}
.visible .entry k(.param .u64 P)
.reqntid 128
{{
    .reg .pred %p<9>; .reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<300>; .reg .b64 %rd<9>; {quads}
    .reg .f32 %f<300>; .reg .f64 %fd<300>;
    .param .align 16 .b8 Q[64];
    T: .branchtargets L;
L:
"""


def instruction(form, words):
    """The text of an instruction of a form, with sample operands."""
    return instruction_of(form, {slot.name: words[slot.name] for slot in form.slots})


def instruction_of(form, words):
    """The same of any words, also of those that the form does not allow."""
    opcode = ".".join(words[slot.name] for slot in form.slots if words[slot.name])
    if form.operands == "...":
        return f"{opcode} F"
    shown = [_operand(text, words) for text in split_operands(form.operands)]
    return f"{opcode} {', '.join(text for text in shown if text)}".strip()


def _operand(text, words):
    text, mark, condition = text.partition("?")
    if mark and not words.get(condition):
        return ""
    if "$" in text:
        return text.replace("$", "")
    if text[0] == "<":
        return _vector(text[1:-1], words)
    if text.startswith("[t "):
        return f"[%rd2, {_vector(text[4:-2], words, always=True)}]"
    if text[0] == "[":
        return "[%r7]" if text[1] in "sr" else "[%rd1]"
    if text[0].isdigit() or text[0] == "_":
        return text
    return "|".join(_register(part, words, index) for index, part in enumerate(text.split("|")))


def _register(text, words, index=1):
    _, _, kind = text.partition(":")
    if kind == "wide":
        kind = WIDE[_type_of(words)]
    kind = words.get(kind, kind) or _type_of(words)
    kind = PACKED.get(kind) or MEMORY_KINDS.get(kind, kind)
    if kind == "b8":
        return "%b1"
    return f"{REGISTERS[kind]}{1 + index}"


def _type_of(words):
    if "type" in words:
        return words["type"]
    named = [word for word in words if re.fullmatch(r"[busf]\d+|pred|f16x2", word)]
    if not named:
        raise KeyError("no slot is a type")
    return named[-1]


def _vector(text, words, *, always=False):
    part, _, count = text.partition("*")
    number = _count(count, words)
    register = _register(part, words)
    if number == 1 and not always and not count[-1:].isdigit() and count != "count":
        return register
    name = register.rstrip("0123456789")
    return f"{{{', '.join(f'{name}{1 + i % 250}' for i in range(number))}}}"


def _count(text, words):
    """`4`, `repeat*2`, `shape.n/4`: a number, or one in the word of a slot."""
    slot, letter, operator, factor = re.fullmatch(
        r"(\w+)(?:\.(\w))?(?:([*/])(\d+))?", text
    ).groups()
    if slot.isdigit():
        return int(slot)
    found = re.search(rf"{letter or '.*?'}(\d+)", words.get(slot) or "x1")
    number = int(found[1]) if found else 1
    return max(number // int(factor) if operator == "/" else number * int(factor or 1), 1)


def module(lines, target, version=VERSION, *, quads=True):
    """A kernel of these instructions, and the line of the first; `quads` are its registers of 128
    bits, which ptxas takes from PTX 8.3 on."""
    quads = ".reg .b128 %q<9>;" if quads else ""
    head = HEAD.format(version=f"{version[0]}.{version[1]}", target=target, quads=quads)
    body = "".join(f"    {line};\n" for line in lines)
    return f"{head}{body}    ret;\n}}\n", head.count("\n") + 1


def refusals(lines, target, version=VERSION):
    """Return the ptxas errors of the rejected instructions by index.

    It reports in stages: what a later stage refuses shows once earlier refusals are left out.
    """
    said, kept = {}, dict(enumerate(lines))
    while True:
        text, first = module(kept.values(), target, version, quads=version >= (8, 3))
        found = refused_lines(text, target)
        assert all(line >= first for line in found), found
        order = list(kept)
        new = {order[line - first]: why for line, why in found.items() if line - first < len(order)}
        if not new:
            return said
        said |= new
        kept = {index: line for index, line in kept.items() if index not in new}


def emulator_refusals(lines, target, version=VERSION):
    """Return the emulator decoder's errors of the rejected instructions by index."""
    text, first = module(lines, target, version)
    parsed = parse(text, "sweep.ptx")
    kernel = parsed.kernels["k"]
    memory = GlobalMemory()
    parameters = bind(kernel, [0], memory).parameters
    variables = Variables(parsed, kernel, memory, parameters, 0)
    # One program for each .cta_group: all tcgen05 instructions of a kernel have the same.
    programs = [Program(parsed, replace(kernel, code=[]), variables, target) for _ in range(2)]
    said = {}
    for at, decoded in enumerate(kernel.code):
        index = decoded.location.line - first
        try:
            if index < len(lines):  # else the `ret` behind them
                programs["cta_group::2" in lines[index]].decode(decoded, at)
        except PtxError as error:
            said[index] = str(error)
    return said
