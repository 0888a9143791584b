"""Random agents and pipelines: ways to fill and read stages, numbers of stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.support.random_programs import buffers, tiles
from tests.support.random_programs.tile_types import TileType
from tests.support.random_programs.writer import TILES_TO_READ, Tile, Writer

PROD = "!nv_tileas.async.pipeline.producer_token"
CONS = "!nv_tileas.async.pipeline.consumer_token"
TOKEN = "!nv_tileas.token"
OP = "nv_tileas.async.pipeline"


@dataclass(frozen=True)
class Pipeline:
    """A pipeline before its agents are written."""

    producer: str
    consumer: str
    tile: TileType
    stages: int
    rounds: int
    source: str
    """The view that producers load from."""
    descriptor: str
    """The TMA descriptor; empty where TMA does not support the tile."""
    barrier: str

    @property
    def iterator(self) -> str:
        return f"!nv_tileas.async.pipeline.iterator<{self.tile}, {self.stages}, smem>"


def pipeline(w: Writer) -> None:
    """Emit a producer, and one or two consumers."""
    if len(w.scopes) > 1:
        return
    tile = w.tile_type()
    stages, rounds = w.number(1, 3), w.number(1, TILES_TO_READ)
    argument, memory = w.input(tile)
    source = w.let("v", f"nv_tileas.view {argument} : {memory} -> {tile.view('gmem')}")
    descriptor, barrier = "", ""
    if tile.can_be_boxed:
        descriptor = buffers.tma_descriptor(w, argument, memory, tile, "load")
        barrier = w.let("bar", "nv_tileas.create_none : !nv_tileas.mem_token")
    whole = buffers.in_shared_memory(stages, *tile.shape, element=tile.element)
    view = w.let(
        "v", f"nv_tileas.view {buffers.allocated(w, whole)} : {whole} -> {whole.view('smem')}"
    )
    producer, consumer = w.name("p"), w.name("cons")
    w.line(
        f"{producer}, {consumer} = {OP}.create_pipeline {view} {{numStages = {stages} : i32, "
        f"producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : {whole.view('smem')} "
        f"-> {PROD}, {CONS}"
    )
    made = Pipeline(producer, consumer, tile, stages, rounds, source, descriptor, barrier)
    consumers = w.number(1, 2)
    w.mark(f"pipeline with {consumers} consumers")
    agents(
        w,
        [
            lambda: _produce(w, made),
            *[lambda k=k: _consume(w, made, k) for k in range(consumers)],
        ],
    )


def agents(w: Writer, bodies: Sequence[Callable[[], None]]) -> None:
    """Emit concurrent agents with the given bodies."""
    registers = ", ".join("40" if k == 0 else "232" for k in range(len(bodies)))
    w.agents = max(w.agents, len(bodies))
    w.line(
        f"{OP}.agent_switch {{num_agents_per_group = {max(len(bodies) - 1, 1)} : i32, "
        f"max_regs = array<i32: {registers}>, isolated = false}} {{"
    )
    for k, body in enumerate(bodies):
        with w.region(is_agent=True):
            body()
            w.store_unused()
        w.line("}" if k == len(bodies) - 1 else "}, {")
    w.mark("agent_switch")


def split(w: Writer) -> None:
    """Emit agents without a pipeline that use earlier values."""
    if len(w.scopes) > 1:
        return

    def body() -> None:
        tile = tiles.value(w, w.registers(w.tile_type()))
        tiles.computed(w, tile)
        if tile in [t for scope in w.scopes[:-1] for t in scope.tiles]:
            w.mark("value across agent_switch")
        w.some_statements(2)

    agents(w, [body] * w.number(2, 3))


def _produce(w: Writer, made: Pipeline) -> None:
    """Emit a loop that fills stages."""
    forms = ["value", "copy", "async copy", *(["TMA", "TMA bytes"] if made.descriptor else [])]
    how = w.choose(forms)
    step = w.choose(["produce_one", "produce_one_async", "steps"])
    if step == "produce_one_async" and how not in ("TMA", "async copy"):
        step = "produce_one"
    w.mark(f"producer: {step}")
    w.mark(f"stage filled by {how}")
    start = w.let("i", f"{OP}.create_iterator {made.producer} : {PROD} -> {made.iterator}")
    p, i, k = w.name("p"), w.name("i"), w.name("k")
    w.line(
        f"{w.name('p')}, {w.name('i')} = scf.for {k} = %c0 to {w.const(made.rounds)} step %c1 "
        f"iter_args({p} = {made.producer}, {i} = {start}) -> ({PROD}, {made.iterator}) {{"
    )
    with w.region(round=k):
        if w.chance(3):
            w.some_statements(1)
            w.store_unused()
        filled = _STEPS[step](w, made, p, i, how)
        following = w.let("i", f"{OP}.inc_iter {i} : {made.iterator} -> {made.iterator}")
        w.line(f"scf.yield {filled}, {following} : {PROD}, {made.iterator}")
    w.line("}")


def _announced(made: Pipeline, how: str) -> str:
    return f"tx_count = {made.tile.bytes} : i32" if how == "TMA bytes" else ""


def _produce_one(w: Writer, made: Pipeline, p: str, i: str, how: str) -> str:
    filled, bytes_ = w.name("p"), _announced(made, how)
    w.line(
        f"{filled} = {OP}.produce_one {p}, {i} {{producer_types = [{made.tile}]"
        f"{', ' * bool(bytes_)}{bytes_}}} : ({PROD}, {made.iterator}) -> {PROD} {{"
    )
    _filling(w, made, how)
    return filled


def _produce_later(w: Writer, made: Pipeline, p: str, i: str, how: str) -> str:
    filled, token = w.name("p"), w.name("t")
    w.line(
        f"{filled}, {token} = {OP}.produce_one_async {p}, {i} {{producer_types = [{made.tile}]}} "
        f": ({PROD}, {made.iterator}) -> ({PROD}, {TOKEN}) {{"
    )
    _filling(w, made, how)
    return w.let("p", f"{OP}.producer_commit {filled} : {PROD} -> {PROD}")


def _produce_steps(w: Writer, made: Pipeline, p: str, i: str, how: str) -> str:
    bytes_ = _announced(made, how)
    more = f" {{{bytes_}}}" if bytes_ else ""
    held = w.let("p", f"{OP}.producer_acquire {p}, {i}{more} : {PROD}, {made.iterator} -> {PROD}")
    filled = w.name("p")
    w.line(f"{filled} = {OP}.producer_write {held}, {i} : {PROD}, {made.iterator} -> {PROD} {{")
    _filling(w, made, how)
    return w.let("p", f"{OP}.producer_commit {filled} : {PROD} -> {PROD}")


_STEPS = {
    "produce_one": _produce_one,
    "produce_one_async": _produce_later,
    "steps": _produce_steps,
}


def _filling(w: Writer, made: Pipeline, how: str) -> None:
    """Emit the body of an operation that fills a stage."""
    stage, tile = w.name("stage"), made.tile
    w.line(f"^bb0({stage}: {tile}):")
    with w.region():
        text = stage
        first = w.let("first", f"arith.muli %block, {w.const(TILES_TO_READ)} : index")
        place = w.let("at", f"arith.addi {first}, {w.round} : index")
        where = f"{place}{', %c0' * (len(tile.shape) - 1)}"
        if how.startswith("TMA"):
            w.let(
                "t",
                f"nv_tileas.async.tiled_tma_load {made.descriptor}, {stage}[{where}] barrier "
                f"{made.barrier} {{atom = #nv_tileas<atom tma_load_2d>}} : !nv_tileas.tma_desc, "
                f"{tile}, index, index, !nv_tileas.mem_token -> {TOKEN}",
            )
        else:
            text = _loaded(w, made, how, stage, where)
        w.line(f"{OP}.yield {text} : {tile}")
    w.line("}")


def _loaded(w: Writer, made: Pipeline, how: str, stage: str, where: str) -> str:
    """Load a tile into a stage through registers; return the yielded value."""
    tile = made.tile
    loaded = w.tile(
        w.let(
            "x",
            f"nv_tileas.tiled_load {made.source}[{where}] {{atom = #ldg}} "
            f": {tile.view('gmem')} -> {tile}",
        ),
        tile,
    )
    if w.chance():
        inner = w.registers(tile)
        loaded = tiles.computed(w, tiles.converted(w, loaded, inner))
        loaded = tiles.converted(w, loaded, tile)
        w.mark("producer computes")
    if how == "value":
        return w.use(loaded)
    ends = f"{w.use(loaded)}, {stage} {{atom = #any}} : {tile}, {tile}"
    if how == "copy":
        w.line(f"nv_tileas.copy {ends}")
    else:
        w.let("t", f"nv_tileas.async.copy {ends} -> {TOKEN}")
    return stage


def _consume(w: Writer, made: Pipeline, index: int) -> None:
    """Emit a loop that reads stages and accumulates or stores the tiles."""
    tile = made.tile
    start = w.let("j", f"{OP}.create_iterator {made.consumer} : {CONS} -> {made.iterator}")
    type_ = w.registers(tile)
    begin = w.use(tiles.value(w, type_))
    c, j, k, acc = w.name("cons"), w.name("j"), w.name("k"), w.name("acc")
    result = w.name("x")
    types = f"{CONS}, {made.iterator}, {type_}"
    w.line(
        f"{w.name('cons')}, {w.name('j')}, {result} = scf.for {k} = %c0 to {w.const(made.rounds)} "
        f"step %c1 iter_args({c} = {made.consumer}, {j} = {start}, {acc} = {begin}) "
        f"-> ({types}) {{"
    )
    with w.region(round=k):
        sum_ = w.tile(acc, type_)
        step = w.choose(["consume_one", "steps"])
        w.mark(f"consumer: {step}")
        after, found = _READS[step](w, made, c, j, index)
        op = "addf" if tile.is_float else "addi"
        mine = w.use(tiles.converted(w, found, type_))
        total = w.let("x", f"arith.{op} {w.use(sum_)}, {mine} : {type_}")
        w.store_unused()
        following = w.let("j", f"{OP}.inc_iter {j} : {made.iterator} -> {made.iterator}")
        w.line(f"scf.yield {after}, {following}, {total} : {types}")
    w.line("}")
    w.tile(result, type_)


def _consume_one(w: Writer, made: Pipeline, c: str, j: str, index: int) -> tuple[str, Tile]:
    after, found, type_ = w.name("cons"), w.name("x"), w.registers(made.tile)
    w.line(
        f"{after}, {found} = {OP}.consume_one {c}, {j} {{consumer_idx = {index} : i32, "
        f"consumer_types = [{made.tile}]}} : ({CONS}, {made.iterator}) -> ({CONS}, {type_}) {{"
    )
    _reading(w, made, type_)
    return after, w.tile(found, type_)


def _consume_steps(w: Writer, made: Pipeline, c: str, j: str, index: int) -> tuple[str, Tile]:
    who, types = f"{{consumer_idx = {index} : i32}}", f"{CONS}, {made.iterator}"
    held = w.let("cons", f"{OP}.consumer_wait {c}, {j} {who} : {types} -> {CONS}")
    read, found, type_ = w.name("cons"), w.name("x"), w.registers(made.tile)
    w.line(
        f"{read}, {found} = {OP}.consumer_read {held}, {j} {who} : {types} -> {CONS}, {type_} {{"
    )
    _reading(w, made, type_)
    return w.let("cons", f"{OP}.consumer_release {read} : {CONS} -> {CONS}"), w.tile(found, type_)


_READS = {"consume_one": _consume_one, "steps": _consume_steps}


def _reading(w: Writer, made: Pipeline, type_: TileType) -> None:
    """Emit the body of an operation that reads a stage and yields it in a register layout."""
    stage, tile = w.name("stage"), made.tile
    w.line(f"^bb0({stage}: {tile}):")
    with w.region():
        if type_ == tile:
            found = w.let(
                "x", f"arith.{'addf' if tile.is_float else 'addi'} {stage}, {stage} : {tile}"
            )
        else:
            w.mark("conversion of a stage")
            found = w.let("x", f"nv_tileas.convert_layout {stage} : {tile} -> {type_}")
        if w.chance(3):
            w.mark("store of a stage")
            w.store_named(stage, tile)
        w.line(f"{OP}.yield {found} : {type_}")
    w.line("}")


STATEMENTS: Sequence[Callable[[Writer], None]] = (pipeline, split)
