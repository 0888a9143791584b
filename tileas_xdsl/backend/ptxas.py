"""`ptxas`: PTX text to machine code, its log as diagnostics, its facts as numbers.

What costs a kernel its speed is more here than the remark that `ptxas` makes of it: spills are
warnings, and messages with a code (C7508: `setmaxnreg` ignored, C7510 and C7514: products
serialised, C7517: a wait injected) are errors, or warnings where the caller asks for the code.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tileas_xdsl.backend.nvidia_tools import need_tool
from tileas_xdsl.backend.ptx.line_locations import LineLocations
from tileas_xdsl.backend.waiting_ptxas import WaitingPtxas
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.target.arch import get_target

_SEVERITIES = {
    "info": Severity.REMARK,
    "warning": Severity.WARNING,
    "error": Severity.ERROR,
    "fatal": Severity.ERROR,
}
_MESSAGE = re.compile(
    r"ptxas (?:.*?, line (?P<line>\d+); )?(?P<severity>info|warning|error|fatal) *: (?P<text>.*)"
)
_CODE = re.compile(r"\(C\d+\)")
_ASKED_FOR = "function call"
"""Why products wait for one another in a kernel that prints or asserts: its author wants it so."""

_LINE = re.compile(r"\bline (\d+)")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_PROPERTIES = re.compile(r"ptxas info +: Function properties for (\S+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(?:, used (\d+) barriers)?")
_SHARED = re.compile(r"(\d+) bytes smem")
_CHATTER = (
    "bytes gmem",
    "Compiling entry function",
    "Function properties",
    "Used ",
    "Compile time",
    "Ptx assembly aborted",
)
"""Lines of `ptxas -v` that are statistics or redundant, and are not reported."""


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What one kernel uses; sizes are bytes."""

    registers: int = 0
    barriers: int = 0
    shared: int = 0
    """Without what the launch adds."""
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0

    @property
    def spills(self) -> int:
        """Bytes written to and read from local memory for want of registers."""
        return self.spill_stores + self.spill_loads


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code, with the statistics and messages of `ptxas`."""

    cubin: bytes
    entries: Mapping[str, EntryFacts]
    messages: tuple[Diagnostic, ...]
    """Warnings and remarks."""
    log: str

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What makes the code slow."""
        return tuple(m for m in self.messages if m.severity is Severity.WARNING)

    @property
    def registers(self) -> int:
        """The most that an entry uses per thread."""
        return max((facts.registers for facts in self.entries.values()), default=0)

    @property
    def shared(self) -> int:
        """The most bytes of shared memory of an entry, without what the launch adds."""
        return max((facts.shared for facts in self.entries.values()), default=0)

    @property
    def stack(self) -> int:
        """The most bytes of stack of an entry."""
        return max((facts.stack for facts in self.entries.values()), default=0)

    @property
    def spills(self) -> int:
        """Bytes spilled by all entries."""
        return sum(facts.spills for facts in self.entries.values())


def assemble(
    text: str,
    target: str = "sm_90a",
    *,
    options: Sequence[str] = (),
    name: str = "kernel.ptx",
    strict: bool = True,
    waiting: WaitingPtxas | None = None,
) -> Assembled:
    """Assemble PTX for a target; `name` is what messages call the text.

    A process that is `waiting` for a text of this target is given it, if there are no options.

    `.minnctapersm` is a wish: where registers spill for it, fewer blocks share a multiprocessor.

    Raises `DiagnosticError` for what `ptxas` rejects and, if `strict`, for messages with a code
    (see above), at the source that `.loc` lines give, else in the text; `MissingToolError` without
    `ptxas`.
    """
    done = None if waiting is None or options else _by_waiting(waiting, text, target)
    found = _assembled(text, target, options, name, done, strict=strict)
    while found.spills and (fewer := _with_fewer_blocks(text)) is not None:
        text = fewer
        found = _assembled(text, target, options, name, strict=strict)
    return found


_BLOCKS = re.compile(r"^(\.minnctapersm) (\d+)$", re.MULTILINE)


def _with_fewer_blocks(text: str) -> str | None:
    """Return PTX that asks for one block less; None if it asks for one, or has budgets of agents.

    `setmaxnreg` counts on the registers that threads begin with.
    """
    asked = [int(match[2]) for match in _BLOCKS.finditer(text)]
    if max(asked, default=1) == 1 or "setmaxnreg" in text:
        return None
    return _BLOCKS.sub(lambda match: f"{match[1]} {max(int(match[2]) - 1, 1)}", text)


def _by_waiting(waiting: WaitingPtxas, text: str, target: str) -> _Done | None:
    """What a process made of the text; None where it failed, for a file has a name in messages."""
    done = waiting.assemble(text) if waiting.target == get_target(target).name else None
    return None if done is None else _Done(*done)


class _Done(NamedTuple):
    """What `ptxas` leaves: nothing but a log, where it fails."""

    code: bytes
    log: str
    status: int = 0


def _assembled(
    text: str,
    target: str,
    options: Sequence[str],
    name: str,
    done: _Done | None = None,
    *,
    strict: bool,
) -> Assembled:
    code, log, status = done or _run(text, target, options)
    entries = entry_facts(log)
    reports = (
        *log_messages(log, text, name, strict=strict),
        *_spills(entries, _PtxSource(text, name)),
    )
    errors = [report for report in reports if report.severity is Severity.ERROR]
    if status and not errors:
        last = log.strip().splitlines()[-1:] or [f"exit code {status}"]
        errors = [diagnostic(Severity.ERROR, f"ptxas failed: {last[0]}")]
    if errors:
        raise DiagnosticError(*errors)
    return Assembled(code, entries, reports, log)


def _run(text: str, target: str, options: Sequence[str]) -> _Done:
    program = need_tool("ptxas")
    arch = get_target(target).name
    with tempfile.TemporaryDirectory(prefix="tileas-") as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(text, encoding="utf-8")
        command = [program, "-v", f"-arch={arch}", *options, source, "-o", cubin]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        log = run.stdout + run.stderr
        code = cubin.read_bytes() if cubin.exists() else b""
    return _Done(code, log, run.returncode)


def log_messages(log: str, text: str, name: str, *, strict: bool) -> tuple[Diagnostic, ...]:
    """Return the messages in a log of `ptxas` about `text`, in order, without statistics.

    Those with a code are errors if `strict`, else warnings.
    """
    source_lines = _PtxSource(text, name)
    found = (_MESSAGE.match(line) for line in log.splitlines())
    kept = [m for m in found if m and not any(chatter in m["text"] for chatter in _CHATTER)]
    slow = Severity.ERROR if strict else Severity.WARNING
    return tuple(_report(match, source_lines, slow) for match in kept)


def _report(match: re.Match[str], source_lines: _PtxSource, slow: Severity) -> Diagnostic:
    severity, text = _SEVERITIES[match["severity"]], match["text"].strip()
    if _CODE.match(text) and _ASKED_FOR not in text:
        severity = slow
    mentioned = _LINE.search(text)
    number = match["line"] or (mentioned and mentioned[1])
    line = int(number) if number else None
    return source_lines.report(severity, f"ptxas: {text}", line)


class _PtxSource:
    """From lines of PTX text to where they come from."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._locations = LineLocations(text)
        self._lines = self._locations.lines

    def report(self, severity: Severity, message: str, line: int | None) -> Diagnostic:
        """A diagnostic about a line of the text, counted from 1."""
        if line is None or not 1 <= line <= len(self._lines):
            return diagnostic(severity, message)
        shown, here = self._lines[line - 1], Location(self._name, line, 1)
        if (origin := self._locations.at(line)) is None:
            return replace(diagnostic(severity, message, here), source_line=shown)
        note = replace(diagnostic(Severity.NOTE, "in the PTX text", here), source_line=shown)
        return diagnostic(severity, message, origin, notes=[note])

    def line_of_entry(self, entry: str) -> int | None:
        """The line where an entry begins."""
        for index, line in enumerate(self._lines, 1):
            if (match := _ENTRY.search(line)) and match[1] == entry:
                return index
        return None


def _spills(entries: Mapping[str, EntryFacts], source_lines: _PtxSource) -> Iterator[Diagnostic]:
    for entry, facts in entries.items():
        if not facts.spills:
            continue
        message = (
            f"entry '{entry}' spills registers: {facts.spill_stores} bytes of stores, "
            f"{facts.spill_loads} of loads"
        )
        yield source_lines.report(Severity.WARNING, message, source_lines.line_of_entry(entry))


def entry_facts(log: str) -> Mapping[str, EntryFacts]:
    """What the entries use, from a log of `ptxas -v`."""
    entries: dict[str, EntryFacts] = {}
    current = ""
    for line in log.splitlines():
        if match := _PROPERTIES.match(line):
            current = match[1]
        elif match := _FRAME.search(line):
            stack, stores, loads = map(int, match.groups())
            entries[current] = EntryFacts(stack=stack, spill_stores=stores, spill_loads=loads)
        elif (match := _USED.search(line)) and current in entries:
            shared = _SHARED.search(line)
            entries[current] = replace(
                entries[current],
                registers=int(match[1]),
                barriers=int(match[2] or 0),
                shared=int(shared[1]) if shared else 0,
            )
    return entries
