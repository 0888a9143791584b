# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl[cutile,ptxas]"]
# ///
"""A kernel of cuTile Python, written, run, explained and compiled: `marimo edit notebooks/cutile.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="A kernel of cuTile")


@app.cell
def _():
    from textwrap import dedent

    import cuda.tile as ct
    import marimo as mo
    import numpy as np
    from xdsl.dialects.builtin import TensorType

    import tileas_xdsl as tileas
    from tileas_xdsl.backend.nvidia_tools import MissingToolError
    from tileas_xdsl.diagnostics.errors import DiagnosticError
    from tileas_xdsl.diagnostics.locations import file_location
    from tileas_xdsl.dialects.nv_tileas.attributes import BlockedEncoding
    from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
    from tileas_xdsl.layout.output.draw import draw_layout

    def code(text):
        """Text as it is, in the page."""
        lines = dedent(text).strip("\n")
        return mo.md(f"```\n{lines}\n```")

    def table_of(names, rows):
        """A Markdown table."""
        lines = [names, ["---"] * len(names), *rows]
        return mo.md("\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines))

    return (
        BlockedEncoding,
        DiagnosticError,
        MissingToolError,
        TensorType,
        code,
        ct,
        draw_layout,
        draw_timeline,
        file_location,
        mo,
        np,
        table_of,
        tileas,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # A kernel of cuTile

    [cuTile Python](https://docs.nvidia.com/cuda/cutile-python) describes what one *block* does to
    whole *tiles*. It specifies no threads, registers, or shared memory: a compiler finds them.
    NVIDIA's does so behind closed doors. Here every door is open, and no GPU is needed.

    ## Written

    The softmax of each row of a matrix: a block takes four rows. They may end within the tile;
    what is missing reads as minus infinity, whose exponential is 0.
    """)
    return


@app.cell
def _(ct):
    rows, columns = 4, 128

    @ct.kernel
    def softmax(x, y):
        block = ct.bid(0)
        tile = ct.load(x, (block, 0), (rows, columns), padding_mode=ct.PaddingMode.NEG_INF)
        exponentials = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
        ct.store(y, (block, 0), exponentials / ct.sum(exponentials, axis=1, keepdims=True))

    return columns, rows, softmax


@app.cell
def _(mo):
    width = mo.ui.slider(1, 128, value=100, label="columns of the matrix", show_value=True)
    target = mo.ui.dropdown(["sm_90a", "sm_100a"], value="sm_90a", label="target")
    mo.hstack([width, target], justify="start")
    return target, width


@app.cell
def _(np, softmax, target, tileas, width):
    _rng = np.random.default_rng(0)
    matrix = _rng.standard_normal((10, width.value)).astype(np.float32)
    _e = np.exp(matrix.astype(np.float64) - matrix.max(axis=1, keepdims=True))
    exact = _e / _e.sum(axis=1, keepdims=True)

    def unset():
        """A result that nobody has written yet."""
        return np.full_like(matrix, np.nan)

    kernel = tileas.compile(softmax, matrix, unset(), target=target.value)
    return exact, kernel, matrix, unset


@app.cell
def _(mo):
    mo.md(r"""
    ## Run as tiles

    `tileas.compile(softmax, x, y)` asks the package `cuda-tile` for **Tile IR**, and makes tiles of
    the dialect `nv_tileas` of it. These have a meaning of their own: the interpreter runs them on
    numpy arrays. Ten rows are two blocks and a half; in the last one two rows are out of bounds.
    """)
    return


@app.cell
def _(draw_timeline, exact, kernel, matrix, mo, np, unset):
    simulation = kernel.simulate(matrix, unset(), grid=3, trace=True)
    simulated_error = np.abs(simulation.arrays[1] - exact).max()
    mo.vstack(
        [
            mo.md(f"The largest difference from numpy is {simulated_error:.1e}."),
            mo.Html(draw_timeline(simulation.trace, width=1000)),
        ]
    )
    return (simulated_error,)


@app.cell
def _(mo):
    mo.md(r"""
    ## What has become of each line

    Tile IR knows where it came from, and every pass keeps that. So we can ask for the operations of
    each line of the kernel, as they are before any decision is made:
    """)
    return


@app.cell
def _(file_location):
    def operations_by_line(module):
        """By line of Python, the names of the operations that stand for it."""
        lines = {}
        for op in module.walk():
            place = file_location(op.location)
            if place is not None and op.name not in ("builtin.module", "func.func"):
                lines.setdefault(place.line, []).append(op.name)
        return dict(sorted(lines.items()))

    return (operations_by_line,)


@app.cell
def _(kernel, operations_by_line, softmax, table_of):
    from inspect import getsourcelines

    _lines, _first = getsourcelines(softmax._pyfunc)
    found_lines = {
        _lines[number - _first].strip(): names
        for number, names in operations_by_line(kernel.source).items()
        if _first <= number < _first + len(_lines)
    }
    table_of(
        ["line", "operations"],
        [(f"`{line}`", ", ".join(dict.fromkeys(names))) for line, names in found_lines.items()],
    )
    return (found_lines,)


@app.cell
def _(mo):
    mo.md(r"""
    ## Ownership of elements

    The pass `tileas-assign-load-store-layouts` gives every tile a layout: which thread has which
    element, in which of its registers. Rows should be read 16 bytes at a time, by neighbours next to
    one another, and a row's sum should need few exchanges. What it chose for the tile of a block
    (a number is a thread, a colour too):
    """)
    return


@app.cell
def _(BlockedEncoding, TensorType, columns, draw_layout, kernel, mo, rows):
    _module = kernel.module_after("tileas-materialize-convert-layout")
    _types = [result.type for op in _module.walk() for result in op.results]
    layouts = list(
        dict.fromkeys(
            type_.encoding.data
            for type_ in _types
            if isinstance(type_, TensorType)
            and type_.get_shape() == (rows, columns)
            and isinstance(type_.encoding, BlockedEncoding)
        )
    )
    mo.Html(draw_layout(layouts[0], title=f"tile = ct.load(x, ...), {rows}x{columns} f32"))
    return (layouts,)


@app.cell
def _(mo):
    mo.md(r"""
    ## Compiled

    Then tiles become the work of one thread, and that becomes PTX. The stages, and what each took:
    """)
    return


@app.cell
def _(kernel, table_of):
    table_of(
        ["pass", "milliseconds"],
        [(f"`{stage.name}`", f"{1000 * stage.seconds:.1f}") for stage in kernel.stages],
    )
    return


@app.cell
def _(code, kernel, mo):
    exchanges = [line.strip() for line in kernel.ptx.splitlines() if "shfl.sync.bfly" in line]
    mo.vstack(
        [
            mo.md(
                f"The PTX has {len(kernel.ptx.splitlines())} lines. Row maxima and sums pass "
                f"through {len(exchanges)} shuffles:"
            ),
            code("\n".join(exchanges[:5])),
            mo.accordion({"all of the PTX": code(kernel.ptx)}),
        ]
    )
    return (exchanges,)


@app.cell
def _(MissingToolError, kernel, mo):
    try:
        assembled = kernel.assemble()
        _words = f"**{assembled.registers} registers**, **{assembled.spills} bytes of spills**."
    except MissingToolError as _missing:
        assembled = None
        _words = f"Here we would see registers and spills, but {_missing}"
    mo.md(f"What `ptxas` makes of it: {_words}")
    return (assembled,)


@app.cell
def _(mo):
    mo.md(r"""
    ## Run as PTX

    The emulator runs the PTX, and looks for races, for barriers that a thread misses, for accesses
    beyond the arrays. It starts the kernel as a driver would: a pointer, two extents and two
    strides for each array.
    """)
    return


@app.cell
def _(exact, kernel, matrix, mo, np, unset):
    emulation = kernel.emulate(matrix, unset(), grid=3)
    emulated_error = np.abs(emulation.arrays[1] - exact).max()
    mo.md(
        f"{emulation.instructions} instructions, {len(emulation.findings)} findings; the largest "
        f"difference from numpy is {emulated_error:.1e}."
    )
    return emulated_error, emulation


@app.cell
def _(mo):
    mo.md(r"""
    ## When it is wrong

    Errors come at the line of Python that they are about. An argument of another type than the
    kernel was compiled for, and a kernel that asks for what there is not:
    """)
    return


@app.cell
def _(DiagnosticError, ct, np, tileas):
    @ct.kernel
    def odd_tile(x, y):
        tile = ct.load(x, (ct.bid(0),), (100,))
        ct.store(y, (ct.bid(0),), tile)

    def message_of(kernel, *arrays):
        """What is said of a kernel that does not compile."""
        try:
            tileas.compile(kernel, *arrays)
        except DiagnosticError as error:
            return str(error)
        return "it compiles"

    _vector = np.zeros(200, np.float32)
    odd_message = message_of(odd_tile, _vector, _vector)
    return message_of, odd_message


@app.cell
def _(code, kernel, matrix, mo, np, odd_message):
    try:
        kernel.simulate(matrix.astype(np.float16), matrix, grid=3)
        wrong_type = "it runs"
    except ValueError as _error:
        wrong_type = str(_error)
    mo.vstack([code(wrong_type), code(odd_message)])
    return (wrong_type,)


@app.cell
def test_both_runs_are_right(emulated_error, emulation, simulated_error):
    assert simulated_error < 1e-6
    assert emulated_error < 1e-6
    assert emulation.finished
    assert not emulation.findings
    return


@app.cell
def test_every_line_has_operations(found_lines):
    assert len(found_lines) == 5
    assert any("nv_tileas.tiled_load" in names for names in found_lines.values())
    return


@app.cell
def test_rows_are_reduced_by_shuffles(assembled, exchanges, layouts):
    assert exchanges
    assert layouts
    assert assembled is None or assembled.spills == 0
    return


@app.cell
def test_mistakes_have_their_messages(odd_message, wrong_type):
    assert ".py:" in odd_message
    assert "power of two" in odd_message
    assert "f16" in wrong_type or "float16" in wrong_type
    return


@app.cell
def _(mo):
    mo.md(r"""
    Exercises. Let a block take one row of 1024 columns: what happens to the layout, and to the
    exchanges between threads? Leave `padding_mode` out: which numbers change, and from how many
    columns on? Compare the PTX of both targets.
    """)
    return


if __name__ == "__main__":
    app.run()
