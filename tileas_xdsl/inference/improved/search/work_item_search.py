"""Choose the cheapest candidate layout of one work item.

A candidate maps the iterations to threads.  Likely ones come first: the annotation, the owners of
a known fragment (`pulled`), mappings that suit memory.  Each is assessed for every fragment of the
item: legal as it is, legal with a layout that follows (`pushed`, `extended`), or converted.
The first candidate that needs no conversion ends the search; else conversions compete by cost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Considered
from tileas_xdsl.inference.fragment_map import FragmentMap, fully_replicated
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.candidates.layout_candidates import (
    LayoutCandidate,
    local_plans,
    plans,
)
from tileas_xdsl.inference.improved.candidates.layout_extension import extended
from tileas_xdsl.inference.improved.candidates.layout_transfer import pulled, pushed
from tileas_xdsl.inference.improved.costs.conversion_costs import expected_cost
from tileas_xdsl.inference.improved.costs.cost_model import (
    NOTHING,
    Estimate,
    estimate,
    registers_of,
    warps_of,
)
from tileas_xdsl.inference.improved.costs.register_pressure import NO_PRESSURE, limit_of
from tileas_xdsl.inference.improved.legality import Violation, selections, violation
from tileas_xdsl.inference.program import Loop
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS
from tileas_xdsl.layout.integers import ceil_div

Layouts = Mapping[str, FragmentMap]

NO_LAYOUTS: Layouts = {}

SELECT = DEFAULT_WEIGHTS.alu
"""Cycles of a warp to select a register."""

BULKY = 32
"""Registers of a thread beyond which what a loop needs more than once is put into shared memory."""

PLANS = 3
"""How many plans are tried where fragments have to be converted for them."""


@dataclass(frozen=True)
class Choice:
    """The thread mapping of a work item (None for a product), and the layouts of its fragments.

    `fresh` are layouts for fragments that had none, `open` those of them that it cannot give one;
    `converted` are fragments that the work item sees in another layout, at `moved` cycles.
    """

    description: str
    runs: FragmentMap | None
    fresh: Layouts = field(default_factory=dict[str, FragmentMap])
    converted: Layouts = field(default_factory=dict[str, FragmentMap])
    open: tuple[str, ...] = ()
    estimate: Estimate = NOTHING
    moved: float = 0
    registers: int = 0
    problems: tuple[Violation, ...] = ()
    conversion_registers: int = 0
    """Registers of a thread for what is converted, while the work item runs."""
    staged: tuple[str, ...] = ()
    """Fragments that the work item sees in shared memory."""
    held: int = 0
    """Registers of a thread for fragments of the work item that had layouts before."""

    @property
    def cycles(self) -> float:
        """What the work item costs, conversions included."""
        return self.estimate.cycles + self.moved


@dataclass
class _Assessment:
    """What a mapping of iterations means for the fragments of a work item, one after the other."""

    item: WorkItem
    runs: FragmentMap
    fresh: dict[str, FragmentMap] = field(default_factory=dict[str, FragmentMap])
    converted: dict[str, FragmentMap] = field(default_factory=dict[str, FragmentMap])
    missing: list[str] = field(default_factory=list[str])
    """Fragments without a layout that the mapping cannot give one."""
    problems: list[Violation] = field(default_factory=list[Violation])
    moved: float = 0.0
    registers: int = 0
    conversion_registers: int = 0
    selects: int = 0
    """Selects of each thread in an iteration, where a register depends on the thread."""

    def give(self, name: str, target: FragmentMap | None) -> None:
        """Let a fragment that has no layout have one."""
        if target is None:
            self.missing.append(name)
            return
        uses = self.item.uses_of(name)
        self.fresh[name] = target
        self.selects += _selected(self.runs, uses, target)
        self.registers += registers_of(target, uses[0].buffer.bits)

    def convert(self, name: str, layout: FragmentMap, target: FragmentMap) -> None:
        """Let the work item see a fragment in another layout than it has."""
        uses = self.item.uses_of(name)
        self.converted[name] = target
        self.selects += _selected(self.runs, uses, target)
        self.moved += self.item.trip_count * _moved(layout, target, uses)
        self.conversion_registers += registers_of(target, uses[0].buffer.bits)

    def choice(self, description: str, layouts: Layouts, cost: Estimate) -> Choice:
        """Return the choice that this amounts to."""
        item, runs = self.item, self.runs
        known = [name for name in item.fragments if name in layouts]
        return Choice(
            description,
            runs,
            self.fresh,
            self.converted,
            tuple(self.missing),
            cost,
            self.moved + SELECT * item.trip_count * self.selects * warps_of(runs),
            self.registers,
            tuple(self.problems),
            self.conversion_registers,
            held=sum(
                registers_of(layouts[name], item.uses_of(name)[0].buffer.bits) for name in known
            ),
        )


@dataclass(frozen=True)
class SearchResult:
    """The choice for a work item, and all that was considered."""

    choice: Choice
    considered: tuple[Considered, ...] = ()


class CandidateSearch:
    """Chooses layouts of work items; results are memoised."""

    def __init__(self, block: int, live: Mapping[int, int] = NO_PRESSURE) -> None:
        """`live` has, by number of a work item, registers of other fragments alive at it."""
        self.block = block
        self._live = live
        self._maps: dict[FragmentMap, FragmentMap] = {}
        self._verdicts: dict[tuple[object, ...], SearchResult | None] = {}
        self._estimates: dict[tuple[object, ...], Estimate] = {}
        self._faults: dict[tuple[object, ...], Violation | None] = {}
        self._targets: dict[tuple[object, ...], FragmentMap | None] = {}
        self._staged_items: dict[tuple[WorkItem, str], WorkItem] = {}
        self._extends = False

    def kept(self, layout: FragmentMap) -> FragmentMap:
        """The one object for all equal layouts, whose tables are then made once."""
        return self._maps.setdefault(layout, layout)

    def choose(
        self, item: WorkItem, layouts: Layouts, *, extend: bool = False
    ) -> SearchResult | None:
        """The best choice for `item` among fragments of which some have layouts; None if none.

        With `extend` it may also give layouts to fragments that it touches only in part.
        """
        key = (item.number, extend, *(id(layouts.get(name)) for name in item.fragments))
        if key not in self._verdicts:
            self._extends = extend
            self._verdicts[key] = self._chosen(item, layouts)
        return self._verdicts[key]

    def forced(self, item: WorkItem, layouts: Layouts, plan: LayoutCandidate) -> Choice | None:
        """The choice where `plan` runs the work item; None if that is impossible."""
        return self._assessed(item, layouts, plan.description, self.kept(plan.runs))

    def _chosen(self, item: WorkItem, layouts: Layouts) -> SearchResult | None:
        if item.required:
            return SearchResult(self._product(item, layouts))
        found: list[Choice] = []
        for description, runs in self._candidates(item, layouts):
            choice = self._assessed(item, layouts, description, self.kept(runs))
            if choice is None:
                continue
            found.append(choice)
            if self._is_good(item, choice):
                break
        is_good = any(self._is_good(item, choice) for choice in found)
        if not found or (not is_good and item.follows is None):
            found += self._more(item, layouts)
        if not found:
            return None
        best = min(found, key=lambda choice: self._order(item, choice))
        return SearchResult(best, tuple(_considered(c, best) for c in found))

    def _order(self, item: WorkItem, choice: Choice) -> tuple[float, ...]:
        """What fits into registers first, then by cycles and registers."""
        excess = self._excess(item, choice)
        return float(len(choice.open)), float(excess), choice.cycles, float(choice.registers)

    def _excess(self, item: WorkItem, choice: Choice) -> int:
        """Registers that a thread does not have, for fragments or for the values of its steps."""
        steps = 0 if choice.runs is None else choice.runs.slots
        limit = limit_of(self.block)
        alive = choice.held + self._live.get(item.number, 0)
        needed = alive + choice.conversion_registers + choice.registers
        return max(0, needed - limit) + max(0, steps - limit)

    def _is_good(self, item: WorkItem, choice: Choice) -> bool:
        """Whether nothing better is to be expected."""
        is_costly = choice.open or choice.moved or choice.estimate.is_wasteful
        return not (is_costly or self._excess(item, choice))

    def _product(self, item: WorkItem, layouts: Layouts) -> Choice:
        fresh: dict[str, FragmentMap] = {}
        converted: dict[str, FragmentMap] = {}
        for name, wanted in item.required.items():
            if name not in layouts:
                fresh[name] = self.kept(wanted)
            elif not layouts[name].same_function(wanted):
                converted[name] = self.kept(wanted)
        moved = sum(_moved(layouts[n], to, item.uses_of(n)) for n, to in converted.items())
        return Choice(
            "the product's own layout", None, fresh, converted, moved=moved * item.trip_count
        )

    def _candidates(self, item: WorkItem, layouts: Layouts) -> Iterator[tuple[str, FragmentMap]]:
        """Yield candidate thread mappings of the work item, the likely ones first."""
        annotation = _annotation(item)
        if annotation is not None:
            yield "annotation of the loop", annotation
            return
        if item.follows is not None and item.follows in layouts:
            yield from _following(item, layouts[item.follows])
            return
        known = [(use, layouts[use.name]) for use in _sources(item) if use.name in layouts]
        if not any(not layout.is_fully_replicated for _, layout in known):
            yield from ((plan.description, plan.runs) for plan in self.plans(item))
        seen: set[FragmentMap] = set()
        for use, layout in known:
            own = [(u, m) for u, m in known if u.name == use.name]
            for others in [known, own] if len(own) < len(known) else [known]:
                for description, runs in _pulled(use, layout, others, item):
                    if runs not in seen:
                        seen.add(runs)
                        yield description, runs

    def plans(self, item: WorkItem, *, reduced: Collection[int] = ()) -> list[LayoutCandidate]:
        """Layouts of a work item that no fragment prescribes."""
        annotation = _annotation(item)
        if annotation is not None:
            return [LayoutCandidate("annotation of the loop", annotation)]
        return plans(item.extents, item.memory, self.block, reduced=reduced)

    def _more(self, item: WorkItem, layouts: Layouts) -> list[Choice]:
        """Choices by conversion: as memory likes it, or everything everywhere."""
        if _annotation(item) is not None:
            return []
        every = LayoutCandidate("all threads run it", fully_replicated(item.extents, self.block))
        ways = [] if item.follows in layouts else self.plans(item)
        found = [self.forced(item, layouts, plan) for plan in ways[:PLANS]]
        found += [self._localised(item, layouts, name) for name in item.fragments]
        if not any(c is not None and not c.open for c in found):
            found.append(self.forced(item, layouts, every))
        return [choice for choice in found if choice is not None]

    def _localised(self, item: WorkItem, layouts: Layouts, name: str) -> Choice | None:
        """A choice where the accesses to one fragment, that disagree, are local."""
        uses = item.uses_of(name)
        for plan in local_plans(uses, self.block):
            target = self.kept(plan.runs)
            runs = pulled(uses[0], target, [(use, target) for use in uses])
            if runs is not None:
                description = f"{name}: {plan.description}"
                return self._assessed(item, layouts, description, self.kept(runs), {name: target})
        return None

    def _assessed(
        self,
        item: WorkItem,
        layouts: Layouts,
        description: str,
        runs: FragmentMap,
        hints: Layouts = NO_LAYOUTS,
    ) -> Choice | None:
        """Return the choice where `runs` runs the work item; None if that is impossible.

        A fragment whose layout suits is read as it is, one that has none gets one that follows from
        `runs`; any other is converted, or staged in shared memory.
        """
        if not runs.is_injective or is_overtaken(item, runs):
            return None
        found = _Assessment(item, runs)
        for name in item.fragments:
            uses, layout = item.uses_of(name), layouts.get(name)
            fault = None if layout is None else self._fault(item, runs, name, layout)
            if layout is not None and fault is None:
                found.selects += _selected(runs, uses, layout)
                continue
            target = self._target(item, runs, name, fault is not None, hints.get(name))
            if layout is None or fault is None:
                found.give(name, target)
                continue
            found.problems.append(fault)
            if (target is None or _is_bulky(layout, target, uses)) and item.can_stage(name):
                return self._staged(item, layouts, description, runs, name)
            if target is None:
                return None
            found.convert(name, layout, target)
        return found.choice(description, layouts, self._estimate(item, runs))

    def _staged(
        self, item: WorkItem, layouts: Layouts, description: str, runs: FragmentMap, name: str
    ) -> Choice | None:
        """The choice where the work item sees a fragment in shared memory."""
        key = item, name
        if key not in self._staged_items:
            self._staged_items[key] = item.staged(name)
        choice = self._assessed(self._staged_items[key], layouts, description, runs)
        if choice is None:
            return None
        cost = item.trip_count * staging_cost(layouts[name], item.uses_of(name))
        return replace(choice, moved=choice.moved + cost, staged=(name, *choice.staged))

    def _fault(
        self, item: WorkItem, runs: FragmentMap, name: str, layout: FragmentMap
    ) -> Violation | None:
        """Why `runs` is wrong for a layout of a buffer (cached)."""
        key = item.number, name, self.kept(runs), self.kept(layout)
        if key not in self._faults:
            self._faults[key] = _fault(runs, item.uses_of(name), layout)
        return self._faults[key]

    def _target(
        self,
        item: WorkItem,
        runs: FragmentMap,
        name: str,
        convert: bool,
        hint: FragmentMap | None,
    ) -> FragmentMap | None:
        """A layout of a buffer with which `runs` is right; everywhere only to convert to."""
        if hint is not None and self._fault(item, runs, name, hint) is None:
            return hint
        key = item.number, name, runs, convert, self._extends
        if key not in self._targets:
            self._targets[key] = self._made_target(item, runs, name, convert)
        return self._targets[key]

    def _made_target(
        self, item: WorkItem, runs: FragmentMap, name: str, convert: bool
    ) -> FragmentMap | None:
        uses = item.uses_of(name)
        makers = [pushed, extended] if convert or self._extends else [pushed]
        for make in makers:
            for use in uses:
                found = make(runs, use)
                if found is not None and self._fault(item, runs, name, found) is None:
                    return self.kept(found)
        if not convert:
            return None
        every = self.kept(fully_replicated(uses[0].buffer.shape, self.block))
        return every if self._fault(item, runs, name, every) is None else None

    def _estimate(self, item: WorkItem, runs: FragmentMap) -> Estimate:
        key = item.number, id(runs), *(use.buffer.name for use in item.memory)
        if key not in self._estimates:
            self._estimates[key] = estimate(item, runs)
        return self._estimates[key]


def _annotation(item: WorkItem) -> FragmentMap | None:
    return item.operation.annotation if isinstance(item.operation, Loop) else None


def _sources(item: WorkItem) -> list[FragmentUse]:
    """The accesses that may fix a loop: writes, then those with most elements, each index once."""
    seen: dict[tuple[object, ...], FragmentUse] = {}
    for use in item.uses:
        seen.setdefault((use.name, use.access.indices), use)
    return sorted(
        seen.values(),
        key=lambda use: (
            not use.access.writes,
            len(use.free),
            not use.is_identity,
            -use.buffer_size,
        ),
    )


def _following(item: WorkItem, layout: FragmentMap) -> Iterator[tuple[str, FragmentMap]]:
    """Yield the mapping of each iteration to the owner of its source element."""
    source = item.uses[0]
    runs = pulled(source, layout, [(source, layout)])
    if runs is not None:
        yield f"as {source.name} lies", runs


def _pulled(
    use: FragmentUse,
    layout: FragmentMap,
    known: list[tuple[FragmentUse, FragmentMap]],
    item: WorkItem,
) -> Iterator[tuple[str, FragmentMap]]:
    description = f"as {use.name} lies"
    ways: list[tuple[str, int, bool]] = [(description, 0, True)]
    if layout.replicas > 1 and not use.access.writes:
        if use.free:
            widest = max((m.alignment for m in item.memory), default=1)
            ways += [
                (f"{description}, its copies sharing the work {n} at a time", n, True)
                for n in dict.fromkeys((widest, 1))
            ]
        ways.append((f"{description}, its first copy", 0, False))
    for text, spread, every_copy in ways:
        runs = pulled(use, layout, known, spread, every_copy)
        if runs is not None:
            yield text, runs


def _fault(runs: FragmentMap, uses: list[FragmentUse], layout: FragmentMap) -> Violation | None:
    for use in uses:
        found = violation(runs, use, layout)
        if found is not None:
            return found
    return None


def _moved(layout: FragmentMap, target: FragmentMap, uses: list[FragmentUse]) -> float:
    bits = uses[0].buffer.bits
    return sum(expected_cost(a, b, bits) for a, b in crossings(layout, target, uses))


def staging_cost(layout: FragmentMap, uses: list[FragmentUse]) -> float:
    """Cycles to store a fragment to shared memory, and to load it back where it is written."""
    ways = 1 + any(use.access.writes for use in uses)
    description = ceil_div(layout.slots * uses[0].buffer.bits, 32)
    weights = DEFAULT_WEIGHTS
    cycles = warps_of(layout) * description * (weights.wavefront + weights.access)
    return ways * (cycles + 2 * weights.barrier + weights.shared_latency)


def _is_bulky(layout: FragmentMap, target: FragmentMap, uses: list[FragmentUse]) -> bool:
    """Whether a target needs far more registers than a fragment has: shared memory needs none.

    Copies in many threads do, as do elements that few threads hold all of.
    """
    bits = uses[0].buffer.bits
    return registers_of(target, bits) > max(BULKY, 2 * registers_of(layout, bits))


def crossings(
    layout: FragmentMap, target: FragmentMap, uses: list[FragmentUse]
) -> list[tuple[FragmentMap, FragmentMap]]:
    """The conversions of a fragment: to what the work item sees, where it reads or keeps elements,
    and back, where it writes.
    """
    found: list[tuple[FragmentMap, FragmentMap]] = []
    if any(
        not use.access.writes or not use.is_identity or not use.access.is_certain for use in uses
    ):
        found.append((layout, target))
    if any(use.access.writes for use in uses):
        found.append((target, layout))
    return found


def is_overtaken(item: WorkItem, runs: FragmentMap) -> bool:
    """Whether a copy of an iteration may read memory after another copy has changed it."""
    if runs.replicas == 1 or not any(use.access.writes for use in item.uses):
        return False
    written = {use.buffer.name for use in item.memory if use.access.writes}
    return any(not use.access.writes and use.buffer.name in written for use in item.memory)


def _selected(runs: FragmentMap, uses: list[FragmentUse], layout: FragmentMap) -> int:
    """Selects of each thread for accesses to one buffer."""
    return sum(selections(runs, use, layout) for use in uses)


def _considered(choice: Choice, best: Choice) -> Considered:
    if choice is best:
        verdict = "chosen"
    elif choice.open:
        verdict = f"leaves {', '.join(choice.open)} without a layout"
    elif choice.moved and not best.moved:
        verdict = f"converts {', '.join(choice.converted)}"
    else:
        verdict = "costs more" if choice.cycles > best.cycles else "costs as much, more registers"
    return Considered(choice.description, verdict, f"{choice.cycles:.0f} cycles")
