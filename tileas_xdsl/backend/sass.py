"""Machine code as `nvdisasm` shows it: what a kernel executes, and how often in each loop.

Loops are found as natural loops of the control flow graph: a branch to a block that dominates it
(Aho et al., "Compilers", 9.6). Sets of dominators are bit masks.

>>> kernel = parse_sass('''
... 	.section	.text.k,"ax",@progbits
...         /*0000*/                   MOV R1, c[0x0][0x28] ;
... .L_x_0:
...         /*0010*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR4], R24 ;
...         /*0020*/               @P0 BRA `(.L_x_0) ;
...         /*0030*/                   EXIT ;
... ''')["k"]
>>> kernel.loops[0].start, kernel.loops[0].count("HGMMA.64x256x16")
(16, 1)
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from tileas_xdsl.backend.nvidia_tools import need_tool
from tileas_xdsl.data_classes import dataclass

_SECTION = re.compile(r"\s*\.section\s+\.text\.([\w$.]+)\s*,")
_LABEL = re.compile(r"(\.L_\w+):")
_INSTRUCTION = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]+)\*/\s+(?P<guard>@!?U?P\w+\s+)?(?P<opcode>[A-Z][\w.]*)(?P<rest>.*?);"
)
_SOURCE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_TARGET = re.compile(r"`\((\.L_\w+)\)")
_LEAVES = frozenset(("EXIT", "RET", "BRX", "JMX"))
_JUMPS = frozenset(("BRA", "JMP"))


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction."""

    address: int
    opcode: str
    """With modifiers, as `HGMMA.64x256x16.F32.BF16`."""
    operands: str
    guarded: bool
    target: str | None
    """The label that it branches to."""

    @property
    def mnemonic(self) -> str:
        """The opcode without modifiers."""
        return self.opcode.partition(".")[0]


@dataclass(frozen=True)
class Loop:
    """A loop: its instructions in the order of their addresses, inner loops included."""

    start: int
    instructions: tuple[Instruction, ...]
    inner: bool
    """Whether it holds no other loop."""

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of instructions by mnemonic."""
        return Counter(instruction.mnemonic for instruction in self.instructions)

    def count(self, opcode: str) -> int:
        """Return how many instructions have `opcode`: a mnemonic, perhaps with modifiers."""
        return sum(
            f"{instruction.opcode}.".startswith(f"{opcode}.") for instruction in self.instructions
        )


@dataclass(frozen=True)
class Kernel:
    """The machine code of one entry."""

    name: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    """Addresses."""

    @cached_property
    def counts(self) -> Counter[str]:
        """The number of instructions by mnemonic."""
        return Counter(instruction.mnemonic for instruction in self.instructions)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops, those with the fewest instructions first."""
        return _loops(self)

    def loops_with(self, opcode: str) -> tuple[Loop, ...]:
        """Return the innermost loops that have such an instruction."""
        found = [loop for loop in self.loops if loop.count(opcode)]
        return tuple(
            loop
            for index, loop in enumerate(found)
            if not any(_contains(loop, smaller) for smaller in found[:index])
        )


def _contains(loop: Loop, other: Loop) -> bool:
    return set(other.instructions) <= set(loop.instructions)


def disassemble(cubin: bytes) -> Mapping[str, Kernel]:
    """Return the kernels of a cubin by name; raise `MissingToolError` without `nvdisasm`."""
    return parse_sass(listing(cubin))


def listing(cubin: bytes, *, source_lines: bool = False) -> str:
    """Return what `nvdisasm -c` prints, with the source lines of instructions if asked for.

    Raises `MissingToolError` without `nvdisasm`.
    """
    program = need_tool("nvdisasm")
    options = ["-c", *["--print-line-info"] * source_lines]
    with tempfile.TemporaryDirectory(prefix="tileas-") as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        run = subprocess.run([program, *options, path], capture_output=True, text=True, check=True)
    return run.stdout


def located_lines(text: str) -> Iterator[tuple[str, tuple[str, int] | None]]:
    """Yield labels and instructions of a listing with source lines, each with its file and line."""
    location: tuple[str, int] | None = None
    for line in text.splitlines():
        if match := _SOURCE.match(line):
            location = match[1], int(match[2])
        elif match := _SECTION.match(line):
            location = None
            yield f"{match[1]}:", None
        elif match := _LABEL.match(line):
            yield line.strip(), None
        elif _INSTRUCTION.match(line):
            yield line.strip(), location


def parse_sass(text: str) -> Mapping[str, Kernel]:
    """Parse the kernels in a listing of `nvdisasm -c`."""
    kernels: dict[str, tuple[list[Instruction], dict[str, int]]] = {}
    name: str | None = None
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    waiting: list[str] = []
    for line in text.splitlines():
        if match := _SECTION.match(line):
            name, instructions, labels = match[1], [], {}
        elif match := _LABEL.match(line):
            waiting.append(match[1])
        elif name and (match := _INSTRUCTION.match(line)):
            instruction = _instruction(match)
            instructions.append(instruction)
            labels.update(dict.fromkeys(waiting, instruction.address))
            waiting.clear()
            kernels.setdefault(name, (instructions, labels))
    return {name: Kernel(name, tuple(code), at) for name, (code, at) in kernels.items()}


def _instruction(match: re.Match[str]) -> Instruction:
    target = _TARGET.search(match["rest"])
    return Instruction(
        int(match["address"], 16),
        match["opcode"],
        match["rest"].strip(),
        bool(match["guard"]),
        target[1] if target else None,
    )


# Loops: blocks of instructions, who dominates whom, and what reaches a branch back.


def _loops(kernel: Kernel) -> tuple[Loop, ...]:
    blocks, successors = _graph(kernel)
    dominators = _dominators(successors)
    bodies: dict[int, set[int]] = {}
    for index in sorted(_reached(successors)):
        for target in successors[index]:
            if dominators[index] >> target & 1:
                bodies.setdefault(target, {target}).update(_body(index, target, successors))
    found = [
        Loop(
            blocks[head][0].address,
            tuple(i for index in sorted(body) for i in blocks[index]),
            not any(other != head and other in body for other in bodies),
        )
        for head, body in bodies.items()
    ]
    return tuple(sorted(found, key=lambda loop: len(loop.instructions)))


def _graph(kernel: Kernel) -> tuple[list[list[Instruction]], list[list[int]]]:
    """Return the basic blocks, and for each the indices of its successors."""
    starts = set(kernel.labels.values())
    blocks: list[list[Instruction]] = []
    ended = True
    for instruction in kernel.instructions:
        if ended or instruction.address in starts:
            blocks.append([])
        blocks[-1].append(instruction)
        ended = instruction.mnemonic in _JUMPS | _LEAVES
    index_of = {block[0].address: index for index, block in enumerate(blocks)}
    successors: list[list[int]] = []
    for index, block in enumerate(blocks):
        last = block[-1]
        following: list[int] = []
        if last.mnemonic in _JUMPS and last.target is not None:
            following.append(index_of[kernel.labels[last.target]])
        if _falls_through(last) and index + 1 < len(blocks):
            following.append(index + 1)
        successors.append(following)
    return blocks, successors


def _falls_through(last: Instruction) -> bool:
    if last.mnemonic in _LEAVES | _JUMPS:
        # A branch may have its predicate among its operands: `BRA P0, ...` or `BRA.U UP0, ...`.
        return last.guarded or bool(re.match(r"!?U?P\d", last.operands))
    return True


def _reached(successors: Sequence[Sequence[int]]) -> set[int]:
    """Return the blocks that jumps from the entry reach: all but those of subroutines.

    What is called, as the slow path of a division, is in the same section behind the kernel, and
    the jump to itself that pads it; of what no path reaches, all blocks would be dominators.
    """
    found, pending = set[int](), [0] if successors else []
    while pending:
        index = pending.pop()
        if index not in found:
            found.add(index)
            pending += successors[index]
    return found


def _dominators(successors: Sequence[Sequence[int]]) -> list[int]:
    """Return for each block its dominators, as a bit mask (iterative data-flow analysis)."""
    count = len(successors)
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for index, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(index)
    everything = (1 << count) - 1
    found = [1] + [everything] * (count - 1) if count else []
    changed = True
    while changed:
        changed = False
        for index in range(1, count):
            common = everything
            for predecessor in predecessors[index]:
                common &= found[predecessor]
            common |= 1 << index
            changed |= common != found[index]
            found[index] = common
    return found


def _body(tail: int, head: int, successors: Sequence[Sequence[int]]) -> set[int]:
    """Return the body of the natural loop of a back edge: what reaches `tail` without `head`."""
    body, pending = {head}, [tail]
    while pending:
        index = pending.pop()
        if index in body:
            continue
        body.add(index)
        pending += [i for i, targets in enumerate(successors) if index in targets]
    return body
