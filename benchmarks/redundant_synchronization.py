"""Why a synchronisation that a mutant leaves out is redundant, by the text around it.

The window of a barrier is the code up to the barriers before and after it, in the order of the
text: where nothing in one side of it uses shared memory, another barrier stands between the same
accesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_BARRIER = re.compile(r"\b(bar|barrier)\.(sync|cluster)|\bbarrier\.sync")
_SHARED = re.compile(
    r"\b((ld|st|atom|red)\.\S*shared|ldmatrix|stmatrix|mbarrier|cp\.async\.(ca|cg|bulk|mbarrier)|"
    r"cp\.reduce|wgmma\.mma|tcgen05\.(alloc|cp|mma|commit|ld|st)|fence\.proxy)\S*"
)
_SCOPE = re.compile(r"\bret;|\.entry|^\s*}")


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
    if "bar.sync" in mutant:
        return _of_barrier(lines, number)
    if "bra" in mutant:
        return "the phase that it waits for ends in any case: nothing waits for the loop"
    return "no access on one side of it depends on the other in this launch"


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
    before, after = _window(lines, number, -1), _window(lines, number, 1)
    if not before[1]:
        return f"no shared memory is used since {before[0]}"
    if not after[1]:
        return f"no shared memory is used until {after[0]}"
    if any("wgmma" in line for line in lines[max(number - 12, 0) : number]):
        return "each warp has waited for the wgmma, which ends the reads of the whole warpgroup"
    sides = [", ".join(uses[:3]) for _, uses in (before, after)]
    return f"ordered otherwise in this launch: {sides[0]} (since {before[0]}) and {sides[1]}"


def _window(lines: Sequence[str], number: int, step: int) -> tuple[str, list[str]]:
    """Return what ends the window on one side, and the accesses in it."""
    at, uses = number + step, list[str]()
    while 0 <= at < len(lines):
        if _BARRIER.search(lines[at]):
            return f"the barrier of line {at + 1}", uses
        if re.search(r"\.entry", lines[at]) or re.search(r"^\s*ret;", lines[at]):
            break
        match = _SHARED.search(lines[at])
        if match and match[0] not in uses:
            uses.append(match[0])
        at += step
    return ("the beginning" if step < 0 else "the end"), uses
