"""Choose the cheapest candidate layout of one work item.

A candidate maps the iterations to threads.  Likely ones come first: the annotation, the owners of
a known fragment (`pulled`), mappings that suit memory.  Each is assessed for every fragment of the
item: legal as it is, legal with a layout that follows (`pushed`, `extended`), or converted.
The first candidate that needs no conversion ends the search; else conversions compete by cost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

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
from tileas_xdsl.inference.improved.candidates.pulled_mappings import (
    annotated_mapping,
    deciding_uses,
    following_mappings,
    pulled_mappings,
)
from tileas_xdsl.inference.improved.costs.cost_model import (
    Estimate,
    estimate,
)
from tileas_xdsl.inference.improved.costs.register_pressure import NO_PRESSURE, limit_of
from tileas_xdsl.inference.improved.costs.use_conversions import is_bulky, moving_cost, staging_cost
from tileas_xdsl.inference.improved.legality import Violation, is_overtaken, violation
from tileas_xdsl.inference.improved.search.choices import (
    Assessment,
    Choice,
    Layouts,
    SearchResult,
)

NO_LAYOUTS: Layouts = {}


PLANS = 3
"""How many plans are tried where fragments have to be converted for them."""


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
        return SearchResult(best, tuple(c.considered_beside(best) for c in found))

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
        moved = sum(moving_cost(layouts[n], to, item.uses_of(n)) for n, to in converted.items())
        return Choice(
            "the product's own layout", None, fresh, converted, moved=moved * item.trip_count
        )

    def _candidates(self, item: WorkItem, layouts: Layouts) -> Iterator[tuple[str, FragmentMap]]:
        """Yield candidate thread mappings of the work item, the likely ones first."""
        annotation = annotated_mapping(item)
        if annotation is not None:
            yield "annotation of the loop", annotation
            return
        if item.follows is not None and item.follows in layouts:
            yield from following_mappings(item, layouts[item.follows])
            return
        known = [(use, layouts[use.name]) for use in deciding_uses(item) if use.name in layouts]
        if not any(not layout.is_fully_replicated for _, layout in known):
            yield from ((plan.description, plan.runs) for plan in self.plans(item))
        seen: set[FragmentMap] = set()
        for use, layout in known:
            own = [(u, m) for u, m in known if u.name == use.name]
            for others in [known, own] if len(own) < len(known) else [known]:
                for description, runs in pulled_mappings(use, layout, others, item):
                    if runs not in seen:
                        seen.add(runs)
                        yield description, runs

    def plans(self, item: WorkItem, *, reduced: Collection[int] = ()) -> list[LayoutCandidate]:
        """Layouts of a work item that no fragment prescribes."""
        annotation = annotated_mapping(item)
        if annotation is not None:
            return [LayoutCandidate("annotation of the loop", annotation)]
        return plans(item.extents, item.memory, self.block, reduced=reduced)

    def _more(self, item: WorkItem, layouts: Layouts) -> list[Choice]:
        """Choices by conversion: as memory likes it, or everything everywhere."""
        if annotated_mapping(item) is not None:
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
        found = Assessment(item, runs)
        for name in item.fragments:
            uses, layout = item.uses_of(name), layouts.get(name)
            fault = None if layout is None else self._fault(item, runs, name, layout)
            if layout is not None and fault is None:
                found.keep(name, layout)
                continue
            target = self._target(item, runs, name, fault is not None, hints.get(name))
            if layout is None or fault is None:
                found.give(name, target)
                continue
            found.problems.append(fault)
            if (target is None or is_bulky(layout, target, uses)) and item.can_stage(name):
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


def _fault(runs: FragmentMap, uses: list[FragmentUse], layout: FragmentMap) -> Violation | None:
    for use in uses:
        found = violation(runs, use, layout)
        if found is not None:
            return found
    return None
