"""Free mode of TileLang's inference: try each operation of a component as the root.

TileLang infers at three levels: strict (what an instruction prescribes), common (what follows from
known layouts), free (an operation may plan).  Where common leaves operations undecided, their order
matters: the first one in free mode plans, and the others follow it or plan themselves.

    x: copy global -> f      root x: f as global memory likes it, y follows
    y: g[i] = f[i] + 1       root y: f as y plans it, x follows

Every member of a component is tried as root on a copy of the state, then the others in the order of
the program; conflicts discard the trial, the cheapest outcome is taken, the earliest of equal ones.
Source: TileLang 0.1.15, `src/transform/layout_inference.cc`, `InferInFreeMode`.
"""

from __future__ import annotations

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Considered, InferenceError
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.parity.costs import Cost, CostModel
from tileas_xdsl.inference.parity.fixed_point import Engine
from tileas_xdsl.inference.parity.state import Level, State


@dataclass(frozen=True)
class _Outcome:
    root: int
    state: State | None
    cost: Cost
    conflict: LayoutConflict | None


def decide(engine: Engine, state: State, model: CostModel) -> State:
    """The state after each component took its cheapest root.

    Raises InferenceError, that of the last conflict, where no root of a component works out.
    """
    for members in engine.uses.components:
        outcomes = [_attempt(engine, state, root, members, model) for root in members]
        possible = [outcome for outcome in outcomes if outcome.state is not None]
        if not possible:
            raise _impossible(outcomes)
        best = min(possible, key=lambda outcome: (outcome.cost, outcome.root))
        assert best.state is not None
        considered = tuple(_considered(engine, outcome, best) for outcome in outcomes)
        best.state.considered.update(dict.fromkeys(members, considered))
        state = best.state
    return state


def _attempt(
    engine: Engine, state: State, root: int, members: tuple[int, ...], model: CostModel
) -> _Outcome:
    trial = state.copy()
    try:
        for member in (root, *(other for other in members if other != root)):
            engine.step(trial, member, Level.FREE, enqueue=True)
            engine.drain(trial, Level.FREE)
    except LayoutConflict as conflict:
        return _Outcome(root, None, Cost(0, 0), conflict)
    return _Outcome(root, trial, model.cost(trial, members), None)


def _considered(engine: Engine, outcome: _Outcome, best: _Outcome) -> Considered:
    candidate = f"operation {engine.origins[outcome.root]} first"
    if outcome.conflict is not None:
        return Considered(candidate, f"conflict: {outcome.conflict.text}")
    if outcome is best:
        return Considered(candidate, "chosen", str(outcome.cost))
    verdict = "costs more" if outcome.cost > best.cost else "costs the same, and comes later"
    return Considered(candidate, verdict, str(outcome.cost))


def _impossible(outcomes: list[_Outcome]) -> InferenceError:
    """Return the error of the first conflict: every order of decisions has one."""
    first = next(outcome.conflict for outcome in outcomes if outcome.conflict is not None)
    return InferenceError(
        f"no order of decisions works out: {first.text}", first.location, first.notes
    )
