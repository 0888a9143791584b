"""The levels of TileLang's inference, in order, and its result."""

from __future__ import annotations

from dataclasses import replace

from tileas_xdsl.inference.decisions import Decisions, InferenceError, LoopDecision, Reason
from tileas_xdsl.inference.fragment_map import FragmentMap, fully_replicated
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.parity.copy_dimensions import with_unit_extents
from tileas_xdsl.inference.parity.costs import MODELS
from tileas_xdsl.inference.parity.cumsum_expansion import Expanded, expanded
from tileas_xdsl.inference.parity.fixed_point import Engine
from tileas_xdsl.inference.parity.free_mode import decide
from tileas_xdsl.inference.parity.loops.loop_layouts import vector_of
from tileas_xdsl.inference.parity.state import Level, State, Uses, Visit
from tileas_xdsl.inference.parity.storage_views import viewed
from tileas_xdsl.inference.program import Loop, LoopKind, Program


def infer(program: Program, model: str = "register-count") -> Decisions:
    """TileLang's layouts by a cost model, `register-count` or `io-aware`.

    Raises InferenceError where TileLang finds none.
    """
    engine, state = _run(expanded(program), model)
    loops: dict[int, LoopDecision] = {}
    for number, origin in enumerate(engine.origins):
        written = program.operations[origin]
        if isinstance(written, Loop):
            decision = _loop_decision(engine, state, number)
            owners = with_unit_extents(decision.owners, written.extents)
            loops[origin] = replace(decision, owners=owners)
    fragments = {n: l for n, l in state.layouts.items() if isinstance(l, FragmentMap)}
    shared = {n: l for n, l in state.layouts.items() if not isinstance(l, FragmentMap)}
    return Decisions(fragments, loops, shared, reasons=_reasons(engine, state))


def timeline(program: Program, model: str = "register-count") -> tuple[Visit, ...]:
    """The visits that lead to the answer of `infer`, without those of roots not taken."""
    engine, state = _run(expanded(program), model)
    return tuple(replace(v, operation=engine.origins[v.operation]) for v in state.visits)


def _run(whole: Expanded, model: str) -> tuple[Engine, State]:
    if model not in MODELS:
        raise ValueError(f"unknown cost model '{model}'; known: {', '.join(MODELS)}")
    program = whole.program
    engine = Engine(program, Uses(program), whole.origins)
    state = _initial(program, engine.uses)
    operations = range(len(program.operations))
    for number in operations:
        engine.step(state, number, Level.STRICT, enqueue=False)
    engine.pin(state)
    state.queue.extend(operations)
    engine.drain(state, Level.COMMON)
    state = decide(engine, state, MODELS[model](engine))
    _complete_views(program, engine.uses, state)
    for name in engine.uses.users:
        if name not in state.layouts:
            raise InferenceError(
                f"no operation says how '{name}' is laid out", program.buffers[name].location
            )
    return engine, state


def _initial(program: Program, uses: Uses) -> State:
    """Annotations, and every element everywhere for what is read outside of all operations."""
    state = State(dict(program.annotations))
    state.rules.update(dict.fromkeys(program.annotations, "annotation"))
    for name in sorted(program.floating, key=list(program.buffers).index):
        if name not in state.layouts:
            shape = program.buffers[name].shape
            state.layouts[name] = fully_replicated(shape, program.threads)
            state.rules[name] = "read outside of all operations"
    _complete_views(program, uses, state)
    return state


def _complete_views(program: Program, uses: Uses, state: State) -> None:
    for name, layout in list(state.layouts.items()):
        if not isinstance(layout, FragmentMap):
            continue
        for sibling in uses.siblings[name]:
            if sibling not in state.layouts:
                buffer, view = program.buffers[name], program.buffers[sibling]
                state.layouts[sibling] = viewed(layout, buffer, view)
                state.rules[sibling] = f"view of {name}"


def _loop_decision(engine: Engine, state: State, number: int) -> LoopDecision:
    operation = engine.program.operations[number]
    assert isinstance(operation, Loop)
    is_final = operation.kind is LoopKind.PARALLEL
    decision = state.loops[number] if is_final else _lowered(engine, state, operation, number)
    owners = decision.owners
    width = vector_of(engine.program, engine.loops[number], owners, state.layouts)
    return replace(decision, vector=width)


def _lowered(engine: Engine, state: State, operation: Loop, number: int) -> LoopDecision:
    """Copies and fills look again when they are lowered, with all layouts known."""
    program = replace(engine.program, operations=(replace(operation, kind=LoopKind.COPY),))
    alone = Engine(program, Uses(program), (number,))
    last = State(dict(state.layouts))
    try:
        for level in (Level.COMMON, Level.FREE):
            alone.step(last, 0, level, enqueue=False)
    except LayoutConflict:
        if number not in state.loops:
            raise
        return state.loops[number]
    state.rules.setdefault(f"loop {number}", last.rules["loop 0"])
    return last.loops[0]


def _reasons(engine: Engine, state: State) -> tuple[Reason, ...]:
    """By buffer, then by loop of the program."""
    found: list[Reason] = []
    for name in state.layouts:
        number = state.origins.get(name)
        considered = () if number is None else state.considered.get(number, ())
        origin = None if number is None else engine.origins[number]
        found.append(Reason(name, state.rules.get(name, ""), origin, considered))
    for number in engine.loops:
        if engine.origins.count(engine.origins[number]) == 1:
            rule = state.rules.get(f"loop {number}", "")
            considered = state.considered.get(number, ())
            origin = engine.origins[number]
            found.append(Reason(f"loop {origin}", rule, origin, considered))
    return tuple(found)
