# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl[ptxas]"]
# ///
"""One GEMM from tiles to PTX, level by level: `marimo edit notebooks/gemm_to_ptx.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="From GEMM to PTX")


@app.cell
def _():
    import re
    from itertools import pairwise
    from textwrap import dedent

    import marimo as mo
    import numpy as np

    import tileas_xdsl as tileas
    from tileas_xdsl.backend.nvidia_tools import MissingToolError
    from tileas_xdsl.backend.sass import disassemble
    from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
    from tileas_xdsl.layout import BYTE_SWIZZLES, Layout, MemoryLayout
    from tileas_xdsl.layout.output.draw import draw_layout
    from tileas_xdsl.runtime.emulation import emulate

    def code(text):
        """Text as it is, in the page."""
        lines = dedent(text).strip("\n")
        return mo.md(f"```\n{lines}\n```")

    def table_of(names, rows):
        """A Markdown table."""
        lines = [names, ["---"] * len(names), *rows]
        return mo.md("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))

    return (
        BYTE_SWIZZLES,
        Layout,
        MemoryLayout,
        MissingToolError,
        code,
        dedent,
        disassemble,
        draw_layout,
        draw_timeline,
        emulate,
        mo,
        np,
        pairwise,
        re,
        table_of,
        tileas,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # From GEMM to PTX

    `C = A * B` with f16 matrices, f32 accumulators, on Hopper. We follow one kernel down: tiles and
    agents, the threads of a block, PTX, machine code. At every level we look at the same loop.

    A block computes 128x64 elements of C. It has three **agents**, of four warps each:

    * agent 0, the **producer**, tells TMA to copy a 128x64 tile of A and a 64x64 tile of B into
      shared memory, again and again along K;
    * agents 1 and 2, the **consumers**, multiply 64 rows each, on the tensor cores.

    Shared memory has room for a few pairs of tiles, the **stages**, so that the producer can be
    ahead. `notebooks/pipelines.py` explains stages. How many shall there be?
    """)
    return


@app.cell
def _(mo):
    stages = mo.ui.slider(2, 4, value=3, label="stages", show_value=True)
    stages
    return (stages,)


@app.cell
def _(mo):
    mo.md(r"""
    ## Tiles and agents

    First what all agents share: descriptors, which describe the matrices to TMA, and the
    pipeline. `%m` and `%n` say which tile of C the block computes, `%tiles` how many steps K has.
    """)
    return


@app.cell
def _(code, stages):
    def setup_text(count):
        """The beginning of the kernel, with `count` stages."""
        buffer = f"tensor<{count}x12288xf16, #nv_tileas<space smem>>"
        return f"""
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %half = arith.constant 32 : index
  %side = arith.constant 64 : index
  %height = arith.constant 128 : index
  %nothing = arith.constant dense<0.0> : !sum
  %n = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %m = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  %depth = memref.dim %a, %one : !matrix
  %tiles = arith.ceildivui %depth, %side : index
  %of_a = nv_tileas.make_tiled_tma_desc %a box[%side, %height] {{atom = #load_a}} : !matrix -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc %b box[%side, %side] {{atom = #load_b}} : !matrix -> !desc
  %of_c = nv_tileas.make_tiled_tma_desc %c box[%half, %side] {{atom = #store_c}} : !result -> !desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : {buffer}
  %slots = nv_tileas.view %buffer : {buffer} -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = {count} : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !slots -> !prod, !cons
"""

    code(setup_text(stages.value))
    return (setup_text,)


@app.cell
def _(mo):
    mo.md(r"""
    **The producer.** `produce_one_async` waits until the stage is empty and gives the body its two
    tiles. The loads announce their bytes and complete the stage when they land. The iterator `%i`
    says which stage it is.
    """)
    return


@app.cell
def _(code):
    producer_text = """
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
      %p1, %loading = nv_tileas.async.pipeline.produce_one_async %p, %i {producer_types = [!a, !b]} : (!prod, !iter) -> (!prod, !nv_tileas.token) {
      ^bb0(%sa: !a, %sb: !b):
        %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k] barrier %none {atom = #load_a, tx_count = 16384 : i32} : !desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
        %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%k, %n] barrier %none {atom = #load_b, tx_count = 8192 : i32} : !desc, !b, index, index, !nv_tileas.mem_token -> !nv_tileas.token
        nv_tileas.async.pipeline.yield %sa, %sb : !a, !b
      }
      %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p2, %i1 : !prod, !iter
    }
"""
    code(producer_text)
    return (producer_text,)


@app.cell
def _(mo):
    mo.md(r"""
    **A consumer.** `consume_one` waits until the stage is full, runs its body, and releases the
    stage. The sum `%before` stays in registers all along the loop. After it, the sum goes to C in
    two pieces: into shared memory, and from there TMA stores it. This is the **epilogue**.
    """)
    return


@app.cell
def _(code):
    def consumer_text(k):
        """Consumer `k`, 0 or 1."""
        memory = "tensor<64x32xf32, #nv_tileas<space smem>>"
        return f"""
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn, %all = scf.for %k = %zero to %tiles step %one iter_args(%t = %c0, %j = %j0, %before = %nothing) -> (!cons, !iter, !sum) {{
      %t1, %after = nv_tileas.async.pipeline.consume_one %t, %j {{consumer_idx = {k} : i32, consumer_types = [!a, !b]}} : (!cons, !iter) -> (!cons, !sum) {{
      ^bb0(%sa: !a, %sb: !b):
        %mine = nv_tileas.extract_slice %sa[{64 * k}, 0][64, 64][1, 1] : !a -> !b
        %dot = nv_tileas.async.dot %mine, %sb, %before {{atom = #mma}} : !b, !b, !sum -> !nv_tileas.token<!sum>
        %done = nv_tileas.async.wait %dot : !nv_tileas.token<!sum> -> !sum
        nv_tileas.async.pipeline.yield %done : !sum
      }}
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield %t1, %j1, %after : !cons, !iter, !sum
    }}
    %memory = nv_tileas.alloc_tensor : {memory}
    %staging = nv_tileas.view %memory : {memory} -> !staging
    %number = arith.constant {k} : index
    %doubled = arith.muli %m, %two : index
    %row = arith.addi %doubled, %number : index
    %first = arith.muli %n, %two : index
    scf.for %q = %zero to %two step %one {{
      %column = arith.muli %q, %half : index
      %piece = nv_tileas.extract_slice %all[0, %column][64, 32][1, 1] : !sum -> !piece
      nv_tileas.tiled_store %piece, %staging[%zero, %zero] {{atom = #sts}} : !piece, !staging
      %at = arith.addi %first, %q : index
      %storing = nv_tileas.async.tiled_tma_store %of_c, %staging[%row, %at] {{atom = #store_c}} : !desc, !staging, index, index -> !nv_tileas.token
      nv_tileas.async.wait %storing : !nv_tileas.token
    }}
"""

    code(consumer_text(0))
    return (consumer_text,)


@app.cell
def _(mo):
    mo.md(r"""
    Put together, with the type and atom aliases in front. `max_regs` says how many registers the
    threads of each agent want: the producer gives some away, the consumers take more.
    """)
    return


@app.cell
def _(code, consumer_text, mo, producer_text, setup_text, stages):
    def kernel_text(count):
        """The kernel with `count` stages."""
        return f"""\
!matrix = memref<?x?xf16>
!result = memref<?x?xf32>
!a = tensor<128x64xf16>
!b = tensor<64x64xf16>
!sum = tensor<64x64xf32>
!piece = tensor<64x32xf32>
!slots = !nv_tileas.tiled_view<{count}x12288xf16, smem>
!staging = !nv_tileas.tiled_view<64x32xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, {count}, smem>
!desc = !nv_tileas.tma_desc
#load_a = #nv_tileas<atom tma_load_2d<box = [64, 128]>>
#load_b = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#store_c = #nv_tileas<atom tma_store_2d<box = [32, 64]>>
#sts = #nv_tileas<atom unknown_copy>
#mma = #nv_tileas<atom wgmma_f16_f16_f32>

func.func @gemm(%a: !matrix, %b: !matrix, %c: !result)
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>}} {{
{setup_text(count)}
  nv_tileas.async.pipeline.agent_switch {{num_agents_per_group = 2 : i32, max_regs = array<i32: 40, 232, 232>, isolated = false}} agent 0 {{
{producer_text}
  }}, agent 1 {{
{consumer_text(0)}
  }}, agent 2 {{
{consumer_text(1)}
  }}
  func.return
}}
"""

    mo.accordion({"the kernel": code(kernel_text(stages.value))})
    return (kernel_text,)


@app.cell
def _(mo):
    mo.md(r"""
    ## It runs as it is

    The tile interpreter runs this text. Our matrices are small: C is 256x128, four blocks, and K is
    320, five steps. Rounding is the only difference from numpy that we allow. The picture shows a
    run of one block alone.
    """)
    return


@app.cell
def _(kernel_text, np, stages, tileas):
    rows, columns, depth = 256, 128, 320
    grid = (columns // 64, rows // 128)
    _rng = np.random.default_rng(1)
    left = _rng.standard_normal((rows, depth)).astype(np.float16)
    right = _rng.standard_normal((depth, columns)).astype(np.float16)
    matrices = (left, right, np.full((rows, columns), np.nan, np.float32))
    one_tile = (left[:128], right[:, :64], matrices[2][:128, :64])
    exact = left.astype(np.float64) @ right.astype(np.float64)
    bound = depth * 2.0**-23 * (np.abs(left.astype(np.float64)) @ np.abs(right.astype(np.float64)))

    def share_of_bound(found):
        """The largest part of the bound on rounding that an error takes; right is at most 1."""
        m, n = found.shape
        return float(np.max(np.abs(found - exact[:m, :n]) / bound[:m, :n]))

    kernel = tileas.compile(kernel_text(stages.value))
    return exact, grid, kernel, matrices, one_tile, share_of_bound


@app.cell
def _(draw_timeline, exact, grid, kernel, matrices, mo, np, one_tile, share_of_bound):
    simulation = kernel.simulate(*matrices, grid=grid)
    assert share_of_bound(simulation.arrays[2]) <= 1
    _error = np.abs(simulation.arrays[2] - exact).max()
    _block = kernel.simulate(*one_tile, trace=True)
    mo.vstack(
        [
            mo.md(f"The largest difference from numpy is {_error:.1e}."),
            mo.Html(draw_timeline(_block.trace, width=1000)),
        ]
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    Each agent and each engine has a lane, each stage a colour. TMA fills all stages at the
    beginning, for all are empty. From then on the producer waits for releases (hatched), and the
    consumers for copies: the copies are what takes the time. At the end each consumer stores its
    half of the tile.

    ## The threads of a block

    `tileas.compile` has lowered the kernel already; `kernel.ir(name)` is what a pass left. The
    first pass, `convert-tileas-to-cute-nvgpu`, turns agents into ranges of warps, tiles into
    addresses and registers, and the pipeline into **mbarriers**. Here is the producer's loop (the
    types are left out):
    """)
    return


@app.cell
def _(dedent):
    def loop_around(text, what):
        """The loop that has the first operation called `what`, without types."""
        lines = text.splitlines()
        depths = [len(line) - len(line.lstrip()) for line in lines]
        inside = next(k for k, line in enumerate(lines) if what in line)
        heads = [k for k in range(inside) if "scf.for" in lines[k] and depths[k] < depths[inside]]
        begin = heads[-1]
        end = next(k for k in range(inside, len(lines)) if depths[k] == depths[begin])
        whole = [line.split(" : ")[0].split(" -> ")[0] for line in lines[begin : end + 1]]
        return dedent("\n".join(whole))

    return (loop_around,)


@app.cell
def _(code, kernel, loop_around):
    threads = kernel.ir("convert-tileas-to-cute-nvgpu")
    code(loop_around(threads, "tma_load"))
    return (threads,)


@app.cell
def _(mo):
    mo.md(r"""
    The iterator has become two numbers that the loop carries, the **stage** and the **parity** of
    its phase. `mbarrier_wait` waits for *empty*, with the other parity. `mbarrier_arrive_expect_tx`
    announces the bytes of both tiles, 24576, and two `tma_load` copy them. The lines after
    them go to the next stage; after the last one comes stage 0 again, and the parity flips.

    One thread can do all that, so only one is here: the loop stands below an `elect_one`. And the
    consumer's loop:
    """)
    return


@app.cell
def _(code, loop_around, threads):
    code(loop_around(threads, "mma.SM90"))
    return


@app.cell
def _(mo, table_of):
    mo.vstack(
        [
            mo.md("What has become of what, from top to bottom:"),
            table_of(
                ["the tile operation", "the thread operations"],
                [
                    ("`consume_one` begins", "`mbarrier_wait` for *full*"),
                    ("`extract_slice` of rows", "a descriptor that begins some rows further down"),
                    ("`async.dot` of 64x64x64", "`wgmma_fence`, four `mma.SM90` of K 16, a commit"),
                    ("`async.wait`", "`wgmma_wait_group`: the sum may be used"),
                    ("`consume_one` ends", "one thread of each warp arrives at *empty*"),
                    ("`inc_iter`", "the next stage, and perhaps the other parity"),
                    ("the sum, `tensor<64x64xf32>`", "`vector<32xf32>`, 32 registers a thread"),
                ],
            ),
        ]
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    Two passes clean up: `hoist-loop-invariants` moves out of the loop what does not change in it, as
    far as registers are left, and `tileas-cse` merges what is computed twice. Lines of each loop:
    """)
    return


@app.cell
def _(kernel, loop_around, table_of):
    def lines_of(name):
        """How many operations the two loops have after a pass."""
        text = kernel.ir(name)
        return [loop_around(text, what).count("\n") - 1 for what in ("tma_load", "mma.SM90")]

    passes = ("convert-tileas-to-cute-nvgpu", "hoist-loop-invariants", "tileas-cse")
    lines_by_pass = {name: lines_of(name) for name in passes}
    table_of(
        ["after", "the producer's loop", "a consumer's loop"],
        [(f"`{name}`", *counts) for name, counts in lines_by_pass.items()],
    )
    return (lines_by_pass,)


@app.cell
def _(mo):
    mo.md(r"""
    ## Shared memory

    The pass has assigned the offsets. `kernel.abi` is what a launch has to know of the kernel;
    its `shared_map` says it in words, and below it is drawn. The stages come first, A before B in
    each. The barriers are so small that they need a bar of their own. The two buffers at the end
    are those of the epilogue, one for each consumer.
    """)
    return


@app.cell
def _(re):
    a_bytes = 128 * 64 * 2

    def parts_of(text):
        """Beginning, end, name and colour of each part of a map of shared memory."""
        found = []
        for begin, end, name, what in re.findall(r"(\d+) \.\. (\d+)\s+(.*?)  +(.*)", text):
            begin, end = int(begin), int(end)
            if "stages" in what:
                size = int(re.search(r"stages of (\d+)", what)[1])
                for k, at in enumerate(range(begin, end, size)):
                    found.append((at, at + a_bytes, f"A {k}", f"hsl({90 * k + 200}, 60%, 75%)"))
                    found.append(
                        (at + a_bytes, at + size, f"B {k}", f"hsl({90 * k + 200}, 60%, 85%)")
                    )
            elif "mbarriers" in what:
                for k, at in enumerate(range(begin, end, 8)):
                    hue = 90 * k + 200
                    found.append((at, at + 8, f"{name.split()[0]}[{k}]", f"hsl({hue}, 60%, 75%)"))
            else:
                found.append((begin, end, "epilogue", "hsl(0, 0%, 82%)"))
        return found

    return (parts_of,)


@app.cell
def _():
    def bar(parts, width=1000):
        """Parts of memory as boxes in a row, to scale."""
        begin, end = parts[0][0], parts[-1][1]
        scale = width / (end - begin)
        drawn = []
        for first, last, name, colour in parts:
            x, size = (first - begin) * scale, (last - first) * scale
            drawn.append(
                f"<g><title>{name}: bytes {first} to {last}</title>"
                f'<rect x="{x:.1f}" y="1" width="{size:.1f}" height="38" fill="{colour}" stroke="#555"/>'
                f'<text x="{x + size / 2:.1f}" y="25" text-anchor="middle">{name}</text>'
                f'<text x="{x + 2:.1f}" y="54" font-size="10">{first}</text></g>'
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} 60" width="100%" '
            f'font-family="sans-serif" font-size="13">{"".join(drawn)}</svg>'
        )

    return (bar,)


@app.cell
def _(bar, code, kernel, mo, parts_of):
    shared_parts = parts_of(kernel.abi.shared_map)
    _barriers = [part for part in shared_parts if part[1] - part[0] == 8]
    _others = [part for part in shared_parts if part not in _barriers]
    mo.vstack(
        [
            code(kernel.abi.shared_map),
            mo.Html(bar(_others)),
            mo.md("The gap between stages and epilogue holds the barriers:"),
            mo.Html(bar(_barriers)),
        ]
    )
    return (shared_parts,)


@app.cell
def _(mo):
    mo.md(r"""
    Inside a tile, rows of 128 bytes lie one below the other, and TMA **swizzles** them: it moves
    pieces of 16 bytes within a row, in another way in each row, so that a column of pieces visits
    all banks. See `notebooks/layouts.py`. The swizzle repeats after 8 rows, 1024 bytes:
    that is why tiles begin at multiples of 1024, and it is the `stride` of the descriptors. The
    first 8 rows of a tile of A; a number is the position of a piece in its row:
    """)
    return


@app.cell
def _(BYTE_SWIZZLES, Layout, MemoryLayout, draw_layout, kernel, mo):
    _swizzle = BYTE_SWIZZLES[kernel.abi.tensor_maps[0].swizzle]
    mo.Html(
        draw_layout(
            MemoryLayout(Layout((8, 64), (64, 1)), _swizzle), 16, title="8 rows of A in a stage"
        )
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    The swizzle is written in the **tensor map**, 128 bytes that the host makes and passes. The
    kernel has one for each matrix, after its other parameters:
    """)
    return


@app.cell
def _(kernel, table_of):
    table_of(
        ["tensor map", "of argument", "box, innermost first", "element", "swizzle"],
        [
            (k, recipe.argument, "x".join(map(str, recipe.box)), recipe.element, recipe.swizzle)
            for k, recipe in enumerate(kernel.abi.tensor_maps)
        ],
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## PTX

    The last pass, `convert-cute-nvgpu-to-ptx`, picks instructions. The first consumer's loop runs
    from the label where the last branch goes to that branch. Here it is, a few lines at a time.
    """)
    return


@app.cell
def _(re):
    def ptx_loop(text, what):
        """The lines of the innermost loop around the first `what`, without places in the source."""
        lines = [line.strip() for line in text.splitlines() if ".loc" not in line]
        inside = next(k for k, line in enumerate(lines) if line.startswith(what))
        for end in range(inside, len(lines)):
            jump = re.search(r"\bbra (\$\w+);", lines[end])
            if jump and f"{jump[1]}:" in lines[:inside]:
                return lines[lines.index(f"{jump[1]}:") : end + 1]
        raise ValueError(f"no loop around {what}")

    def shortened(line):
        """A line with only the first and the last register of a long list."""
        return re.sub(r"\{(%f\d+),[^{}]*, (%f\d+)\}", r"{\1, ..., \2}", line)

    return ptx_loop, shortened


@app.cell
def _(re):
    explanations = (
        (
            r"\$L",
            "**Is there another step?** How far away the barriers of this stage are, 8 bytes a "
            "stage, and the test of the loop.",
        ),
        (
            r"add\.s32|\$[LW]",
            "**Wait for *full*.** `try_wait` gives up after a while, so that it stands in a loop "
            "of its own. The parity is a register that flips at every wrap-around.",
        ),
        (
            r".*%rd",
            "**Where the tiles are.** A descriptor counts 16 bytes as 1: the next stage is 24576 / "
            "16 = 1536 further. Four instructions walk along K: 32 bytes in a row of A, 16 rows "
            "of B.",
        ),
        (
            r"wgmma\.fence",
            "**The products.** The fence says that the accumulator registers are ready. The tensor "
            "core reads both tiles from shared memory. The last digit means that B is stored with N "
            "adjacent. `commit_group` makes the four one group.",
        ),
        (r"wgmma\.wait", "**Wait for them.** After this the sum may be read and the tiles may go."),
        (r"elect", "**Release the stage.** One thread of each warp arrives at *empty*."),
        (
            r"add\.s32",
            "**The next stage.** After the last one comes stage 0, and the parity flips. No "
            "division, no remainder.",
        ),
    )

    def explained(lines):
        """The lines in groups, each with its explanation; a group begins where its pattern is."""
        starts, begin = [], 0
        for pattern, _ in explanations:
            begin = next(k for k in range(begin, len(lines)) if re.match(pattern, lines[k]))
            starts.append(begin)
            begin += 1
        ends = [*starts[1:], len(lines)]
        words = [text for _, text in explanations]
        return [(text, lines[i:j]) for text, i, j in zip(words, starts, ends, strict=True)]

    return (explained,)


@app.cell
def _(code, explained, kernel, mo, ptx_loop, shortened):
    main_loop = ptx_loop(kernel.ptx, "wgmma.mma_async")
    _shown = []
    for _words, _lines in explained(main_loop):
        _shown += [mo.md(_words), code("\n".join(map(shortened, _lines)))]
    mo.vstack(_shown)
    return (main_loop,)


@app.cell
def _(code, kernel, mo, shortened):
    _text = "\n".join(map(shortened, kernel.ptx.splitlines()))
    mo.accordion({"all of the PTX": code(_text)})
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Machine code

    `ptxas` makes machine code of PTX. It may spill registers to memory, or wait between products
    because it does not trust the registers of a sum; `kernel.assemble()` warns of the first and makes errors of the second.
    """)
    return


@app.cell
def _(MissingToolError, kernel, mo):
    try:
        assembled = kernel.assemble()
        _words = (
            f"It takes the text without a warning: **{assembled.registers} registers** for each "
            f"thread at launch, **{assembled.spills} bytes of spills**. `setmaxnreg` moves "
            "registers from the producer to the consumers."
        )
    except MissingToolError as _missing:
        assembled = None
        _words = f"Here we would see registers and spills, but {_missing}"
    mo.md(_words)
    return (assembled,)


@app.cell
def _(MissingToolError, assembled, disassemble, kernel, mo, table_of):
    def machine_loops():
        """The loops that multiply, one for each consumer; none without the tools."""
        if assembled is None:
            return ()
        return disassemble(assembled.cubin)[kernel.name].loops_with("HGMMA")

    _meanings = {
        "HGMMA": "a product, `wgmma.mma_async`",
        "WARPGROUP": "`wgmma.fence`, and the wait for the products",
        "SYNCS": "an mbarrier: `try_wait` (twice, the second for when the first fails), `arrive`",
        "ELECT": "`elect.sync`",
        "UIADD3": "descriptors, in registers that all threads share",
        "BRA": "branches",
        "LDL": "loads of spilled registers",
    }
    try:
        main_machine_loops = machine_loops()
        _why = "without ptxas there is no machine code to look at."
    except MissingToolError as _missing:
        main_machine_loops, _why = (), f"{_missing}."
    if main_machine_loops:
        _counts = main_machine_loops[0].counts
        _rest = _counts.total() - sum(_counts[name] for name in _meanings)
        _shown = mo.vstack(
            [
                mo.md("`nvdisasm` shows the loop of the first consumer:"),
                table_of(
                    ["instruction", "how many", "what for"],
                    [
                        *((f"`{name}`", _counts[name], words) for name, words in _meanings.items()),
                        ("others", _rest, "stage, parity, addresses"),
                    ],
                ),
            ]
        )
    else:
        _shown = mo.md(f"Here we would count the instructions of the main loop, but {_why}")
    _shown
    return (main_machine_loops,)


@app.cell
def _(mo):
    mo.md(r"""
    ## The PTX runs too

    No GPU is needed: the emulator runs PTX, with TMA, mbarriers and tensor cores. It also checks
    what a GPU does not: that no thread reads what may not be there yet, or overwrites what another
    still reads.
    """)
    return


@app.cell
def _(exact, grid, kernel, matrices, mo, np, share_of_bound):
    emulation = kernel.emulate(*matrices, grid=grid)
    assert emulation.finished
    assert not emulation.findings
    assert share_of_bound(emulation.arrays[2]) <= 1
    _error = np.abs(emulation.arrays[2] - exact).max()
    mo.md(
        f"{emulation.instructions} instructions (one that four warps execute together counts "
        f"once), nothing found; the largest difference from numpy is {_error:.1e}."
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Break it

    Every line of the loop is there for a reason. Take one out, or change a number, and ask the
    emulator. These are the lines that we break:
    """)
    return


@app.cell
def _(re):
    wait_loop = r"\$W\d+:\n.*try_wait.*\n.*bra \$W\d+;\n"
    faults = {
        "no wgmma.fence": (r".*wgmma\.fence.*\n", "", 1),
        "no wgmma.wait_group": (r".*wgmma\.wait_group.*\n", "", 1),
        "no fence.proxy.async before a TMA store": (r".*fence\.proxy\.async.*\n", "", 1),
        "the producer does not wait for empty": (wait_loop, "", 1),
        "a consumer does not release": (r".*mbarrier\.arrive\.shared.*\n", "", 1),
        "empty expects half of the arrivals": (r"(mbarrier\.init.*, )8;", r"\g<1>4;", 0),
        "16 bytes too many announced": (r"(expect_tx.*, )24576;", r"\g<1>24592;", 1),
    }

    def broken(text, fault):
        """The PTX with a fault in it."""
        pattern, new, count = faults[fault]
        changed, found = re.subn(pattern, new, text, count=count)
        assert found
        return changed

    return broken, faults


@app.cell
def _(broken, emulate, faults, kernel, one_tile, share_of_bound, table_of):
    def run_broken(fault, **options):
        """What the emulator makes of a fault, in one block."""
        return emulate(broken(kernel.ptx, fault), kernel.abi, one_tile, 1, **options)

    def verdict(result):
        """What the numbers look like."""
        if not result.finished:
            return "hangs"
        return "right" if share_of_bound(result.arrays[2]) <= 1 else "wrong"

    runs = {fault: run_broken(fault) for fault in faults}
    table_of(
        ["fault", "the numbers", "the emulator finds"],
        [
            (fault, verdict(run), ", ".join(dict.fromkeys(f.kind for f in run.findings)))
            for fault, run in runs.items()
        ],
    )
    return run_broken, runs


@app.cell
def _(mo):
    mo.md(r"""
    Look at the second column. A test that compares numbers would let the first ones pass, for the
    timing was lucky. The emulator needs no bad luck to find them. Choose one and read its trace:
    """)
    return


@app.cell
def _(faults, mo):
    chosen = mo.ui.dropdown(options=list(faults), value="no wgmma.fence", label="fault")
    chosen
    return (chosen,)


@app.cell
def _(chosen, code, runs):
    code("\n".join(map(str, runs[chosen.value].findings[:2])))
    return


@app.cell
def test_the_passes_make_the_loops_smaller(lines_by_pass, pairwise):
    _counts = list(lines_by_pass.values())
    for _before, _after in pairwise(_counts):
        assert all(b >= a for b, a in zip(_before, _after, strict=True))
    assert _counts[0] != _counts[-1]
    return


@app.cell
def test_parts_of_shared_memory_do_not_overlap(kernel, pairwise, shared_parts, stages):
    assert [p[2] for p in shared_parts].count("epilogue") == 2
    assert len(shared_parts) == 4 * stages.value + 2
    assert shared_parts[0][0] == 0
    assert shared_parts[-1][1] == kernel.abi.shared_bytes
    for _one, _next in pairwise(shared_parts):
        assert _one[1] <= _next[0]
    return


@app.cell
def test_the_main_loop_is_all_there(explained, main_loop):
    assert [line for _, lines in explained(main_loop) for line in lines] == main_loop
    assert sum("wgmma.mma_async" in line for line in main_loop) == 4
    assert not any("div" in line or "rem" in line for line in main_loop)
    return


@app.cell
def test_the_machine_loop_multiplies_and_does_not_spill(main_machine_loops):
    for _loop in main_machine_loops:
        assert _loop.counts["HGMMA"] == 4
        assert _loop.counts["WARPGROUP"] == 2
        assert not _loop.counts["LDL"] + _loop.counts["STL"]
    return


@app.cell
def test_the_ptx_is_right_in_any_order(kernel, one_tile, share_of_bound):
    for _order, _seed in (("lazy", 0), ("random", 1), ("random", 2)):
        _result = kernel.emulate(*one_tile, order=_order, seed=_seed)
        assert _result.finished
        assert not _result.findings
        assert share_of_bound(_result.arrays[2]) <= 1
    return


@app.cell
def test_every_fault_is_found_in_any_order(run_broken, runs):
    for _fault, _run in runs.items():
        assert _run.findings, _fault
        for _order in ("lazy", "random"):
            assert run_broken(_fault, order=_order).findings, (_fault, _order)
    return


@app.cell
def _(mo):
    mo.md(r"""
    Exercises. Set four stages: which numbers of the main loop change? Add two faults to the table:
    consumers that wait with `wgmma.wait_group.sync.aligned 1`, and a descriptor of B whose stride
    is 2048 (it is in bits 32 to 45, counted in 16 bytes). What does the emulator report?
    """)
    return


if __name__ == "__main__":
    app.run()
