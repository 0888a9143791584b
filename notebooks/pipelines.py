# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl"]
# ///
"""A two-stage pipeline and its mbarriers, step by step: `marimo edit notebooks/pipelines.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Pipelines and mbarriers")


@app.cell
def _():
    import marimo as mo
    import numpy as np
    from xdsl.context import Context
    from xdsl.universe import Universe

    from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
    from tileas_xdsl.diagnostics.verification.verify import verify_module
    from tileas_xdsl.interpreters.tile.faults import SimulationError
    from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
    from tileas_xdsl.interpreters.tile.synchronization.mbarrier import MBarrier
    from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline

    return (
        Context,
        MBarrier,
        Schedule,
        SimulationError,
        Universe,
        draw_timeline,
        mo,
        np,
        parse_module,
        simulate,
        verify_module,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # Pipelines and mbarriers

    A tensor core multiplies faster than memory delivers. So one **agent** (a group of warps), the
    *producer*, fetches tiles ahead of time, and another, the *consumer*, uses them. Between them
    lie a few slots of shared memory, the **stages**; here there are two.

    Two questions have to be answered for each stage, again and again. *Is it full?* The consumer
    must not read before the bytes are there. *Is it empty?* The producer must not overwrite what is
    still being read. Each question has a **barrier** in shared memory: `full[0]`, `full[1]`,
    `empty[0]`, `empty[1]`.
    """)
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## One barrier

    An mbarrier counts two things. **Pending** arrivals: who still has to say "done". The
    **tx-count**: bytes that were announced and have not come yet. When both are zero the **phase**
    is complete: the phase number goes up by one, and counting begins again.

    Below, `full[0]` expects one arrival. The producer arrives and announces 16384 bytes in one
    step. The copy engine, TMA, then delivers them in two halves.
    """)
    return


@app.cell
def _(MBarrier, mo):
    def state_of(barrier):
        """The state of a barrier as words for a table."""
        return f"phase {barrier.phase}, {barrier.pending} pending, {barrier.tx_count} B"

    def table_of(names, rows):
        """A Markdown table."""
        lines = [names, ["---"] * len(names), *rows]
        return mo.md("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))

    _one = MBarrier("full[0]", expected=1)
    _rows = [("it is made for one arrival", state_of(_one))]
    _one.arrive_expect_tx(16384, "producer")
    _rows.append(("the producer arrives and announces 16384 bytes", state_of(_one)))
    _one.complete_tx(8192, "TMA")
    _rows.append(("TMA delivers 8192 bytes", state_of(_one)))
    _one.complete_tx(8192, "TMA")
    _rows.append(("TMA delivers 8192 bytes: the phase is complete", state_of(_one)))
    table_of(["what happens", "full[0]"], _rows)
    return state_of, table_of


@app.cell
def _(mo):
    mo.md(r"""
    ## Waiting for a parity

    A thread that waits names the **parity** of the phase that it wants to see completed, 0 or 1,
    for the hardware keeps one bit only. `wait(p)` lets it pass when the phase *in progress* has the
    other parity: then the last phase of parity `p` is over.

    Look at the first row. On a barrier nobody has touched, `wait(1)` passes at once, as if a phase
    before the first were over. A producer uses that: all stages are empty when it starts.
    """)
    return


@app.cell
def _(MBarrier, table_of):
    _barrier, _rows = MBarrier("full[0]", expected=1), []
    for _ in range(4):
        _passes = ["passes" if _barrier.test_parity(p) else "waits" for p in (0, 1)]
        _rows.append((_barrier.phase, _barrier.parity, *_passes))
        _barrier.arrive()
    table_of(["phase in progress", "its parity", "wait(0)", "wait(1)"], _rows)
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Which stage, which parity?

    Both agents count their rounds `i`. With `D` stages, round `i` uses stage `i mod D`, and the
    stage is in its lap `i div D`. The consumer waits for `full` with the parity of the lap. The
    producer waits for `empty` with the *other* parity: it asks whether the lap *before* is over.
    How many rounds shall we watch?
    """)
    return


@app.cell
def _(mo):
    rounds = mo.ui.slider(2, 8, value=4, label="rounds", show_value=True)
    rounds
    return (rounds,)


@app.cell
def _(rounds, table_of):
    depth = 2

    def stage_and_parity(i):
        """The stage of round `i` and the parity of its lap."""
        return i % depth, i // depth & 1

    _rows = []
    for _i in range(rounds.value):
        _stage, _parity = stage_and_parity(_i)
        _rows.append((_i, f"empty[{_stage}], {_parity ^ 1}", f"full[{_stage}], {_parity}"))
    table_of(["round", "the producer waits for", "the consumer waits for"], _rows)
    return depth, stage_and_parity


@app.cell
def _(mo):
    mo.md(r"""
    ## Both agents, written down

    Here is the whole protocol. A `yield` is a wait: it names a barrier and a parity. What is
    missing in this picture is only the data.
    """)
    return


@app.cell
def _(stage_and_parity):
    tile_bytes = 16384

    def producer(n, full, empty, copies, note):
        """Fill a stage in each of `n` rounds."""
        for i in range(n):
            stage, parity = stage_and_parity(i)
            yield empty[stage], parity ^ 1
            full[stage].arrive_expect_tx(tile_bytes, "the producer")
            copies.append(stage)
            note(
                "producer",
                f"round {i}: announces {tile_bytes} B and starts a copy into stage {stage}",
            )

    def consumer(n, full, empty, note, forgets):
        """Use a stage in each of `n` rounds; in round `forgets` the release is forgotten."""
        for i in range(n):
            stage, parity = stage_and_parity(i)
            yield full[stage], parity
            note("consumer", f"round {i}: reads stage {stage}")
            if i == forgets:
                note("consumer", f"round {i}: **forgets** to release stage {stage}")
            else:
                empty[stage].arrive(1, "the consumer")
                note("consumer", f"round {i}: releases stage {stage}")

    return tile_bytes, consumer, producer


@app.cell
def _(mo):
    mo.md(r"""
    To run them we take turns: the producer goes as far as it can, then one copy lands, then the
    consumer goes as far as it can. When nobody can go on, the program has ended, or it is stuck.
    Watch how the producer fills stage 1 before the consumer has seen stage 0.
    """)
    return


@app.cell
def _(tile_bytes, depth, MBarrier, consumer, producer, state_of):
    def run_by_hand(n, forgets=None):
        """The rows of a table of what happened, and the waits that never end."""
        full = [MBarrier(f"full[{s}]", 1) for s in range(depth)]
        empty = [MBarrier(f"empty[{s}]", 1) for s in range(depth)]
        copies, rows = [], []

        def note(who, what):
            rows.append((len(rows) + 1, who, what, *map(state_of, [*full, *empty])))

        agents = {
            "producer": producer(n, full, empty, copies, note),
            "consumer": consumer(n, full, empty, note, forgets),
        }
        waits = {who: next(steps, None) for who, steps in agents.items()}

        def go_on(who):
            """Let an agent run until it has to wait; whether it could do anything."""
            before = len(rows)
            while waits[who] is not None and waits[who][0].test_parity(waits[who][1]):
                waits[who] = next(agents[who], None)
            return len(rows) > before

        def land():
            """One copy lands, if one is in flight."""
            if not copies:
                return False
            stage = copies.pop(0)
            full[stage].complete_tx(tile_bytes, "TMA")
            note("TMA", f"delivers {tile_bytes} B into stage {stage}")
            return True

        while any([go_on("producer"), land(), go_on("consumer")]):
            pass
        return rows, {who: wait for who, wait in waits.items() if wait is not None}

    return (run_by_hand,)


@app.cell
def _(rounds, run_by_hand, table_of):
    header = ["", "who", "what", "full[0]", "full[1]", "empty[0]", "empty[1]"]
    _rows, _stuck = run_by_hand(rounds.value)
    assert not _stuck
    table_of(header, _rows)
    return (header,)


@app.cell
def _(mo):
    mo.md(r"""
    ## One arrive is missing

    Let the consumer forget to release stage 0 in its first round. Nothing happens at first: the
    producer still has stage 1. Two rounds later it wants stage 0 again, and waits for ever. Then
    the consumer runs out of full stages, and waits for ever too. A GPU would hang without a word.
    """)
    return


@app.cell
def _(header, mo, rounds, run_by_hand, table_of):
    _rows, _stuck = run_by_hand(max(3, rounds.value), forgets=0)
    assert set(_stuck) == {"producer", "consumer"}
    _ends = [
        f"* the {_who} waits for parity {_parity} of `{_barrier.name}`, which misses "
        f"**{_barrier.missing()}** in phase {_barrier.phase}"
        for _who, (_barrier, _parity) in _stuck.items()
    ]
    mo.vstack([table_of(header, _rows), mo.md("\n".join(["Stuck:", "", *_ends]))])
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## A real kernel

    The same in `nv_tileas`: agent 0 loads the tiles of a matrix through a pipeline, agent 1 doubles
    them and stores them. `producer_acquire` waits for *empty*, the TMA load announces and delivers
    the bytes of *full*, `consumer_wait` waits for *full*, `consumer_release` arrives at *empty*.
    The iterator counts the rounds.
    """)
    return


@app.cell
def _(mo):
    def kernel_text(stages=2, release="after the use"):
        """The kernel; `release` may also be "never" or "before the use", both wrong."""
        released = "%t3 = nv_tileas.async.pipeline.consumer_release %t2 : !cons -> !cons"
        used = "%twice = arith.addf %tile, %tile : !tile"
        use, token = {
            "after the use": (f"{used}\n      {released}", "%t3"),
            "before the use": (f"{released}\n      {used}", "%t3"),
            "never": (used, "%t2"),
        }[release]
        buffer = f"tensor<{stages}x64x64xf32, #nv_tileas<space smem>>"
        return f"""\
!matrix = memref<?x64xf32>
!tile = tensor<64x64xf32>
!slots = !nv_tileas.tiled_view<{stages}x64x64xf32, smem>
!window = !nv_tileas.tiled_view<64x64xf32, gmem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, {stages}, smem>
#load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#stg = #nv_tileas<atom stg>

func.func @double(%a: !matrix, %b: !matrix)
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = arith.constant 64 : index
  %rows = memref.dim %a, %zero : !matrix
  %tiles = arith.ceildivui %rows, %size : index
  %desc = nv_tileas.make_tiled_tma_desc %a box[%size, %size] {{atom = #load}} : !matrix -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : {buffer}
  %slots = nv_tileas.view %buffer : {buffer} -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = {stages} : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !slots -> !prod, !cons

  nv_tileas.async.pipeline.agent_switch {{num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false}} agent 0 {{
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {{
      %p1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
      %p2 = nv_tileas.async.pipeline.producer_write %p1, %i : !prod, !iter -> !prod {{
      ^bb0(%stage: !tile):
        %copy = nv_tileas.async.tiled_tma_load %desc, %stage[%k, %zero] barrier %none {{atom = #load, tx_count = 16384 : i32}} : !nv_tileas.tma_desc, !tile, index, index, !nv_tileas.mem_token -> !nv_tileas.token
        nv_tileas.async.pipeline.yield %stage : !tile
      }}
      %p3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p3, %i1 : !prod, !iter
    }}
  }}, agent 1 {{
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn = scf.for %k = %zero to %tiles step %one iter_args(%t = %c0, %j = %j0) -> (!cons, !iter) {{
      %t1 = nv_tileas.async.pipeline.consumer_wait %t, %j {{consumer_idx = 0 : i32}} : !cons, !iter -> !cons
      %t2, %tile = nv_tileas.async.pipeline.consumer_read %t1, %j {{consumer_idx = 0 : i32}} : !cons, !iter -> !cons, !tile {{
      ^bb0(%stage: !tile):
        nv_tileas.async.pipeline.yield %stage : !tile
      }}
      {use}
      %row = arith.muli %k, %size : index
      %window = nv_tileas.view %b[%row, %zero] : !matrix -> !window
      nv_tileas.tiled_store %twice, %window[%zero, %zero] {{atom = #stg}} : !tile, !window
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield {token}, %j1 : !cons, !iter
    }}
  }}
  func.return
}}
"""

    mo.accordion({"the kernel": mo.md(f"```\n{kernel_text()}```")})
    return (kernel_text,)


@app.cell
def _(Context, Schedule, Universe, np, parse_module, simulate, verify_module):
    def run_kernel(text, tiles, schedule=None):
        """The simulation of the kernel on a random matrix of `tiles` tiles, and its error."""
        context = Context()
        for name, factory in Universe.get_multiverse().all_dialects.items():
            context.register_dialect(name, factory)
        module = parse_module(context, text, "kernel.mlir")
        verify_module(module)
        matrix = np.random.default_rng(tiles).standard_normal((64 * tiles, 64), dtype=np.float32)
        arguments = [matrix, np.full_like(matrix, np.nan)]
        result = simulate(module, arguments, schedule=schedule or Schedule(), trace=True)
        return result, float(np.abs(result.arrays[1] - 2 * matrix).max())

    return (run_kernel,)


@app.cell
def _(mo):
    mo.md(r"""
    The interpreter runs it with a lane for each agent and engine. Hover over the boxes. A hatched
    box is a wait, a colour is a stage: while TMA fills one stage, the consumer uses the other.
    """)
    return


@app.cell
def _(draw_timeline, kernel_text, mo, rounds, run_kernel):
    simulation, _error = run_kernel(kernel_text(), rounds.value)
    assert _error == 0
    mo.vstack(
        [
            mo.Html(draw_timeline(simulation.trace, width=1000)),
            mo.md(f"{simulation.cycles} cycles; the result equals numpy's."),
        ]
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## What does a stage buy?

    With one stage, producer and consumer take turns. With two, a copy is in flight while a tile is
    used. More stages help as long as the copies are what takes the time.
    """)
    return


@app.cell
def _(kernel_text, run_kernel, table_of):
    cycles_by_stages = {s: run_kernel(kernel_text(stages=s), 8)[0].cycles for s in (1, 2, 3, 4)}
    table_of(["stages", "cycles for 8 tiles"], cycles_by_stages.items())
    return (cycles_by_stages,)


@app.cell
def _(mo):
    mo.md(r"""
    ## The interpreter tells the story

    Now take the `consumer_release` out. The run ends with an error that names the operation, who
    waits for which stage, what its barrier misses, and what happened to that barrier last.
    """)
    return


@app.cell
def _(SimulationError, run_kernel):
    def story_of(text, tiles, schedule=None):
        """What the interpreter says about a wrong kernel; nothing if it finds nothing."""
        try:
            run_kernel(text, tiles, schedule)
        except SimulationError as error:
            (report,) = error.diagnostics
            return "\n".join([report.headline, *(f"  {note.message}" for note in report.notes)])
        return ""

    return (story_of,)


@app.cell
def _(kernel_text, mo, rounds, story_of):
    never_released = story_of(kernel_text(release="never"), max(3, rounds.value))
    assert "empty[0] of %p0 misses 1 of 1 arrivals" in never_released
    mo.md(f"```\n{never_released}\n```")
    return


@app.cell
def _(mo):
    mo.md(r"""
    It is the story of the table made by hand, now with lines of the program and with times.

    ## Too early is worse than never

    Move the release one line up, before the tile is used. On a GPU nothing hangs: most of the time
    the right numbers come out, and now and then the producer is fast and overwrites a tile that is
    being read. The interpreter does not need bad luck to see it.
    """)
    return


@app.cell
def _(kernel_text, mo, rounds, story_of):
    released_early = story_of(kernel_text(release="before the use"), rounds.value)
    assert "after agent 1 released it" in released_early
    mo.md(f"```\n{released_early}\n```")
    return


@app.cell
def test_by_hand_every_barrier_ends_where_it_should(depth, run_by_hand):
    for _n in range(2, 9):
        _rows, _stuck = run_by_hand(_n)
        assert not _stuck
        _laps = [len(range(s, _n, depth)) for s in range(depth)]
        assert list(_rows[-1][3:]) == [f"phase {lap}, 1 pending, 0 B" for lap in _laps * 2]
    return


@app.cell
def test_a_forgotten_release_hurts_only_when_the_stage_comes_round(depth, run_by_hand):
    for _n in range(2, 9):
        for _forgets in range(_n):
            _, _stuck = run_by_hand(_n, _forgets)
            assert bool(_stuck) == (_forgets + depth < _n)
    return


@app.cell
def test_more_stages_are_never_slower(cycles_by_stages):
    _cycles = list(cycles_by_stages.values())
    assert _cycles == sorted(_cycles, reverse=True)
    assert _cycles[1] < _cycles[0]
    return


@app.cell
def test_every_schedule_gives_the_same_result(Schedule, kernel_text, run_kernel):
    for _schedule in (Schedule("adversarial"), *(Schedule("random", k) for k in range(5))):
        assert run_kernel(kernel_text(), 5, _schedule)[1] == 0
    return


@app.cell
def test_every_schedule_finds_what_is_wrong(Schedule, kernel_text, story_of):
    for _schedule in (Schedule("adversarial"), *(Schedule("random", k) for k in range(5))):
        assert "deadlock" in story_of(kernel_text(release="never"), 5, _schedule)
        assert "released it" in story_of(kernel_text(release="before the use"), 5, _schedule)
    return


@app.cell
def _(mo):
    mo.md(r"""
    Exercises. Announce 16000 bytes in `producer` and find out which barrier gets stuck. Start the
    producer with `empty[stage], parity` and explain why nothing happens at all. Give the consumer a
    second agent that reads the same stages: how many arrivals must `empty` expect?
    """)
    return


if __name__ == "__main__":
    app.run()
