"""Facts about a kernel as text: a summary, and sections that are asked for by name."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.explanation.facts import (
    AccessFacts,
    KernelFacts,
    LoopFacts,
    Occupancy,
    Reason,
    Roofline,
    SharedBuffer,
)

WIDTH = 72
"""Characters of a source line that are shown."""

MEMORIES: Mapping[str, tuple[str, str]] = {
    "shared": ("wavefronts", "bank conflicts"),
    "global": ("sectors", "sectors in vain"),
}
"""By memory: what an access takes of it, and what of that is lost."""


def explanation(facts: KernelFacts, sections: Sequence[str] = ()) -> str:
    """Return the sections of these names, or else the summary, as lines of text."""
    lines = [f"@{facts.name} on {facts.target}, from {facts.level}"]
    wanted = [SECTIONS[name] for name in sections] or [_summary]
    for section in wanted:
        lines += section(facts)
    return "\n".join(lines)


def place_text(place: Location | None, *, source: bool = False) -> str:
    """Return `file.py:7`, and the text of that line."""
    if place is None:
        return "?"
    text = linecache.getline(place.file, place.line).strip() if source else ""
    where = f"{Path(place.file).name}:{place.line}"
    return f"{where}  {text[:WIDTH]}".rstrip()


def _summary(facts: KernelFacts) -> Iterator[str]:
    """What bounds, what limits, what is lost; other sections have the rest."""
    for loop in facts.loops:
        yield from loop_lines(loop)
    yield from _reasons(facts)
    yield from _occupancy(facts)
    yield from _waves(facts)
    lossy = [one for one in facts.accesses if one.excess]
    yield from access_lines(lossy, "accesses that take more than their bytes need")
    if facts.accesses and not lossy:
        yield "accesses: no bank conflicts, and no sectors are moved in vain"
    yield from _conversions(facts)


def _loops(facts: KernelFacts) -> Iterator[str]:
    for loop in facts.loops:
        yield from loop_lines(loop, operations=True)
    if facts.outside is not None:
        yield f"outside of loops, once a block: {_roofline(facts.outside)}"
    elif not facts.loops:
        yield f"no loop is known: {facts.accesses_unknown or 'the block that ran repeats nothing'}"


def loop_lines(loop: LoopFacts, *, operations: bool = False) -> Iterator[str]:
    """Yield the lines about a loop: bound, slack of units and roofline, with `operations` these."""
    yield f"loop at {place_text(loop.location, source=True)}"
    if loop.cycles is None:
        yield f"  not predicted: {loop.not_predicted}"
    else:
        least, counted = ("at least ", _counted(loop)) if loop.counted_iterations else ("", "")
        yield f"  {least}{loop.cycles:.0f} cycles an iteration, bound by {loop.bound}{counted}"
        rows = [
            (one.unit, f"{one.cycles:.0f} cycles", f"{100 * one.share:.0f} %", _slack(one.slack))
            for one in loop.units
        ]
        yield from _table(rows)
    if loop.roofline is not None:
        yield f"  {_roofline(loop.roofline)}"
        if loop.roofline.bytes:
            yield f"  {_dram(loop.roofline)}"
    if loop.stages:
        yield f"  loads fill a ring of {loop.stages} stages"
    if operations and loop.operations:
        yield from _operations(loop)


def _counted(loop: LoopFacts) -> str:
    many = (
        "an iteration" if loop.counted_iterations == 1 else f"{loop.counted_iterations} iterations"
    )
    return f": what units do in {many} of a run, without waits"


def _slack(cycles: float) -> str:
    return f"idle for {cycles:.0f}" if cycles >= 1 else "never idle"


def _operations(loop: LoopFacts) -> Iterator[str]:
    header = ("operation", "role", "unit", "stage", "start", "cycles", "result", "line")
    rows = [
        (
            one.name,
            one.role,
            one.unit,
            str(one.stage),
            str(one.start),
            str(one.cycles),
            str(one.latency),
            place_text(one.location),
        )
        for one in loop.operations
    ]
    yield from _table([header, *rows])


def _roofline(one: Roofline) -> str:
    if one.intensity is None:
        return f"{one.flops} flops, no bytes from global memory"
    moved = f"{one.flops} flops, {one.bytes_read} bytes read, {one.bytes_written} written"
    side = "below" if one.bound == "memory" else "above"
    return (
        f"{moved}: {one.intensity:.1f} flops a byte, {side} the ridge of {one.ridge:.1f} "
        f"({one.peak:.0f} flops and {one.bandwidth} bytes a cycle): bound by {one.bound}"
    )


def _dram(one: Roofline) -> str:
    """How often bytes must come from the L2 cache instead of DRAM."""
    share = f"DRAM gives {one.dram_bandwidth} bytes a cycle"
    if one.reuse <= 1:
        return f"{share}: enough if every byte comes from there"
    return f"{share}: it bounds unless a byte is used {one.reuse:.1f} times from the L2 cache"


def _reasons(facts: KernelFacts) -> Iterator[str]:
    yield from (_reason(one) for one in facts.reasons)


def _all_reasons(facts: KernelFacts) -> Iterator[str]:
    yield from _reasons(facts) if facts.reasons else iter(["no pass said why it left anything"])


def _reason(one: Reason) -> str:
    where = place_text(one.location)
    return f"no {one.what} at {where} ({one.operation}): {one.why} [{one.decided_by}]"


def _occupancy(facts: KernelFacts) -> Iterator[str]:
    if facts.occupancy is None:
        yield "occupancy: not known, the passes do not lower the kernel to PTX"
    else:
        yield from occupancy_lines(facts.occupancy)


def occupancy_lines(used: Occupancy) -> Iterator[str]:
    """Yield the lines about the blocks that share a multiprocessor, and what limits them."""
    many = "block" if used.blocks == 1 else "blocks"
    yield (
        f"occupancy: {used.blocks} {many} of {used.threads} threads on a multiprocessor, "
        f"{100 * used.share:.0f} % of its warps; {used.limited_by} limit it"
    )
    registers = "unknown without ptxas" if used.registers is None else f"{used.registers}"
    spills = f", {used.spills} bytes spilled" if used.spills else ""
    yield f"  registers of a thread: {registers}{spills}; shared memory: {used.shared_bytes} bytes"
    for role in used.roles:
        budget = f"{role.registers} registers" if role.registers else "the registers at entry"
        yield f"  {role.name}: {role.warps} warps, {budget}"
    yield from _table(
        [
            (one.what, f"{one.used} of {one.available}", f"room for {one.blocks}")
            for one in used.limits
        ]
    )


def _registers(facts: KernelFacts) -> Iterator[str]:
    yield "registers of a thread that hold tiles, where most are live"
    rows = [
        (str(one.registers), one.type, one.value, one.role, place_text(one.location, source=True))
        for one in facts.registers
    ]
    yield from _table(rows) if rows else iter(["  none"])


def _shared(facts: KernelFacts) -> Iterator[str]:
    yield "shared memory"
    rows = [
        (
            f"{one.offset} .. {one.offset + one.bytes}",
            one.name,
            one.what,
            place_text(one.location, source=True),
        )
        for one in facts.shared
    ]
    yield from _table(rows) if rows else iter(["  none"])
    for one in facts.shared:
        if one.stages > 1 and facts.occupancy is not None:
            yield from _more_stages(one, facts.occupancy)


def _more_stages(ring: SharedBuffer, used: Occupancy) -> Iterator[str]:
    """What one and two more stages of a ring take, and the blocks that then share the memory."""
    stage = ring.bytes // ring.stages
    memory = next(one for one in used.limits if one.what == "shared memory")
    for more in (1, 2):
        needed = memory.used + more * stage
        blocks = memory.available // needed
        room = f"room for {blocks} of such blocks" if blocks else "no block has so much"
        yield (
            f"  {ring.stages + more} stages of {ring.name}: {more * stage} bytes more, "
            f"{needed} of {memory.available}: {room}"
        )


def _layouts(facts: KernelFacts) -> Iterator[str]:
    yield "layouts of tiles, chosen where"
    for one in facts.layouts:
        name = ", ".join(one.tiles) or "tile"
        shape = "x".join(map(str, one.shape))
        yield f"  {name} {shape} in {one.memory}, {place_text(one.location)}: {one.layout}"
        yield f"    for {one.chosen_by or 'nothing that has a say'}, of {one.candidates}"
        for why in one.dropped:
            yield f"    not another: {why}"


def _conversions(facts: KernelFacts) -> Iterator[str]:
    for one in facts.conversions:
        shape = "x".join(map(str, one.shape))
        yield f"conversion of {shape} at {place_text(one.location, source=True)}"
        yield f"  for {one.operation}, by {one.how}, {one.cycles} cycles: {one.price}"
        yield f"  from {one.source}"
        yield f"  to   {one.target}"


def _accesses(facts: KernelFacts) -> Iterator[str]:
    if facts.accesses_unknown:
        yield f"accesses: {facts.accesses_unknown}"
        return
    yield from access_lines(facts.accesses, "accesses of the threads of the first block")


def access_lines(accesses: Sequence[AccessFacts], title: str) -> Iterator[str]:
    """Yield the lines about accesses: transactions beside those that their bytes need."""
    if not accesses:
        return
    yield title
    for one in accesses:
        taken, lost = MEMORIES[one.memory]
        yield f"  {place_text(one.location, source=True)}"
        found = f"{one.excess} {lost}" if one.excess else f"no {lost}"
        factor = one.transactions / max(one.ideal, 1)
        yield (
            f"    {one.instruction}: {one.transactions} {taken} for {one.bytes} bytes, "
            f"{factor:.2f} times the {one.ideal} needed: {found}"
        )


WELL_USED = 0.85
"""Of the places of all waves; blocks of several waves that use fewer are worth another tile."""


def _waves(facts: KernelFacts) -> Iterator[str]:
    one = facts.waves
    if one is None:
        return
    grid = "x".join(map(str, one.grid))
    yield (
        f"grid {grid}: {one.blocks} blocks, {one.waves} waves of {one.blocks_together} on each of "
        f"{one.multiprocessors} multiprocessors; {100 * one.tail:.0f} % of the last wave is idle, "
        f"{100 * one.efficiency:.0f} % of all places are used"
    )
    if one.waves > 1 and one.efficiency < WELL_USED:
        places = one.blocks_together * one.multiprocessors
        yield (
            "  tiles of another size may fill the last wave (`tileas tune` ranks them), or a loop "
            f"over tiles in {places} blocks overlaps the end of one with the start of the next"
        )
    if (least := facts.least) is not None:
        yield (
            f"  at least {least.microseconds:.1f} us: the first block keeps {least.unit} busy for "
            f"{least.cycles:.0f} cycles, and a multiprocessor has {least.blocks} of them"
        )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"    {'  '.join(cells)}".rstrip()


Section = Callable[[KernelFacts], Iterator[str]]

SECTIONS: Mapping[str, Section] = {
    "loops": _loops,
    "reasons": _all_reasons,
    "occupancy": _occupancy,
    "waves": _waves,
    "registers": _registers,
    "shared": _shared,
    "accesses": _accesses,
    "layouts": _layouts,
    "conversions": _conversions,
}
"""By name, in the order in which `--show all` prints them."""
