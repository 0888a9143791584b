"""Why a synchronisation that a mutant leaves out is redundant, by the text around it.

The window of a barrier is the code up to the barriers before and after it, around loops too: where nothing in one side of it uses shared memory, another barrier stands between the same
accesses.  Of all others the checker has seen that no two conflicting accesses of the launch are
left without an order, by vector clocks over three schedules; the reason names the accesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_BARRIER = re.compile(r"\b(bar|barrier)\.(sync|cluster)|\bbarrier\.sync")
_SHARED = re.compile(
    r"\b((ld|st|atom|red)\.\S*shared|ldmatrix|stmatrix|mbarrier|cp\.async\.(ca|cg|bulk|mbarrier)|"
    r"cp\.reduce|wgmma\.mma|tcgen05\.(alloc|cp|mma|commit|ld|st)|fence\.proxy)\S*"
)
_SCOPE = re.compile(r"\bret;|\.entry")


def reason(text: str, mutant: str) -> str:
    """Return the reason for a mutant that nothing is found in; the line is in its name."""
    number = int(re.match(r"line (\d+)", mutant)[1]) - 1  # pyright: ignore[reportOptionalSubscript]
    lines = [line.split("//")[0] for line in text.split("\n")]
    if "mbarrier.inval" in mutant:
        return _after_invalidation(lines, number)
    if "commit_group" in mutant:
        later = _next(lines, number, re.compile(r"commit_group"))
        wait = _next(lines, number, re.compile(r"wait_group|wait_all"))
        return f"its copies join the group of line {later}; the wait of line {wait} covers both"
    if "bar.sync" in mutant or "barrier.sync" in mutant:
        return _of_barrier(lines, number)
    if "tcgen05.wait::ld" in mutant and (use := _use_of_loads(lines, number)):
        return (
            f"line {use} uses what the loads give before it: the same finding with and without it"
        )
    if "bra" in mutant:
        return "the phase that it waits for ends in any case: nothing waits for the loop"
    return "no access on one side of it depends on the other in this launch"


def _use_of_loads(lines: Sequence[str], number: int) -> int | None:
    """Return the first line in front of a wait that uses registers of the `tcgen05.ld` before."""
    load = next(i for i in range(number, -1, -1) if "tcgen05.ld" in lines[i])
    found = re.search(r"\{([^}]*)\}", lines[load])
    registers = set(re.findall(r"%\w+", found[1])) if found else set[str]()
    uses = (i for i in range(load + 1, number) if registers & set(re.findall(r"%\w+", lines[i])))
    use = next(uses, None)
    return None if use is None else use + 1


def _next(lines: Sequence[str], number: int, what: re.Pattern[str]) -> int | str:
    return next((i + 1 for i in range(number + 1, len(lines)) if what.search(lines[i])), "none")


def _after_invalidation(lines: Sequence[str], number: int) -> str:
    used = _uses(lines[number + 1 :])
    if all("mbarrier.inval" in use for use in used):
        return "nothing uses shared memory after it until the block ends"
    return f"those bytes are not used again; what follows is {', '.join(used[:3])}"


def _uses(lines: Sequence[str]) -> list[str]:
    """Return the accesses of shared and tensor memory up to the end of the kernel."""
    found: list[str] = []
    for line in lines:
        if _SCOPE.search(line):
            break
        match = _SHARED.search(line)
        if match and match[0] not in found:
            found.append(match[0])
    return found


def _of_barrier(lines: Sequence[str], number: int) -> str:
    before, after = _Window(), _Window()
    before.walk(lines, number - 1, -1)
    after.walk(lines, number + 1, 1)
    (since, until) = (" or ".join(window.ends) for window in (before, after))
    if not before.uses:
        return f"no shared or tensor memory is used since {since}"
    if not after.uses:
        return f"no shared or tensor memory is used until {until}"
    if before.wgmma:
        return "each warp has waited for the wgmma, which ends the reads of the whole warpgroup"
    sides = [", ".join(window.uses[:3]) for window in (before, after)]
    where = f"{sides[0]} (since {since}) and {sides[1]} (until {until})"
    if before.guarded and after.guarded:
        return f"one thread does {where}: program order, or mbarriers, order them"
    if after.guarded:
        return f"no conflict is left unordered: {where}, which one thread does"
    return f"no conflict is left unordered: {where}"


@dataclass
class _Window:
    """What a walk from a barrier to the next ones comes by, also around loops."""

    ends: list[str] = field(default_factory=list[str])
    uses: list[str] = field(default_factory=list[str])
    guarded: bool = True
    """Whether all accesses have guards, as what one thread does."""
    wgmma: bool = False
    """Whether a wait for wgmma is among it."""
    seen: set[int] = field(default_factory=set[int])

    def walk(self, lines: Sequence[str], at: int, step: int) -> None:
        """Follow the text in a direction, and jumps back to the label of a loop."""
        while 0 <= at < len(lines) and at not in self.seen:
            self.seen.add(at)
            line = lines[at]
            if _BARRIER.search(line):
                self.ends.append(f"the barrier of line {at + 1}")
                return
            if _SCOPE.search(line) and not re.search(r"\{\s*$", line):
                break
            self._access(line)
            for other in _jumps(lines, at, step):
                self.walk(lines, other + step, step)
            at += step
        if not 0 <= at < len(lines) or at not in self.seen or _SCOPE.search(lines[at]):
            self.ends.append("the beginning" if step < 0 else "the end")

    def _access(self, line: str) -> None:
        self.wgmma = self.wgmma or "wgmma.wait_group" in line
        match = _SHARED.search(line)
        if match is None:
            return
        self.guarded = self.guarded and line.lstrip().startswith("@")
        if match[0] not in self.uses:
            self.uses.append(match[0])


def _jumps(lines: Sequence[str], at: int, step: int) -> list[int]:
    """Return where a walk goes on too: at the jumps back to a label, or at the label of one."""
    if step < 0:
        label = re.match(r"\s*([$\w]+):", lines[at])
        jump = re.compile(rf"\bbra\S*\s+{re.escape(label[1])}\s*;") if label else None
        return [i for i in range(at + 1, len(lines)) if jump and jump.search(lines[i])]
    jump = re.search(r"\bbra\S*\s+([$\w]+)\s*;", lines[at])
    label = re.compile(rf"\s*{re.escape(jump[1])}:") if jump else None
    return [i for i in range(at) if label and label.match(lines[i])]
