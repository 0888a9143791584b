# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl[cutile]"]
# ///
"""A user's cuTile program on a laptop: one added call, and the checker's findings at its lines."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="A cuTile program on a laptop")


@app.cell
def _():
    import io
    import runpy
    import tempfile
    from contextlib import redirect_stdout
    from pathlib import Path

    import marimo as mo

    import tileas_xdsl.cutile
    from tileas_xdsl.interpreters.ptx import FindingsError

    folder = Path(tempfile.mkdtemp(prefix="unmodified-cutile-"))

    def run(name, program):
        """Run a program from a file, as `python NAME` does; return what it prints, and findings."""
        path = folder / name
        path.write_text(program)
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                runpy.run_path(str(path), run_name="__main__")
        except FindingsError as error:
            return printed.getvalue(), error.findings
        finally:
            tileas_xdsl.cutile.uninstall()
        return printed.getvalue(), ()

    def listing(program, findings=()):
        """A program with the findings under its lines."""
        lines = program.strip("\n").split("\n")
        notes = {finding.line: finding.message for finding in findings}
        shown = []
        for number, line in enumerate(lines, 1):
            shown.append(line)
            if number in notes:
                indent = " " * (len(line) - len(line.lstrip()))
                shown.append(f"{indent}# ^^^ {notes[number]}")
        return mo.md("```python\n" + "\n".join(shown) + "\n```")

    return listing, mo, run


@app.cell
def _(mo):
    mo.md(r"""
    # A cuTile program on a laptop

    Below is a program as its author wrote it for a GPU, with arrays of numpy. It counts how often
    each of eight values occurs: every block counts 64 of them and adds what it found.
    **An import and a call are added**: after `install`, `ct.launch` compiles with this compiler and runs the
    kernel on a GPU if there is one, else its PTX on the emulator. With
    `install(on="emulator")` it does so anywhere, as here.
    """)
    return


@app.cell
def _():
    histogram = """import cuda.tile as ct
import numpy as np
import tileas_xdsl.cutile

tileas_xdsl.cutile.install(on="emulator")  # the added call


@ct.kernel
def histogram(values, counts):
    mine = ct.load(values, (ct.bid(0),), (64,))
    bins = ct.arange(8, dtype=ct.int32)
    hits = ct.reshape(mine, (64, 1)) == ct.reshape(bins, (1, 8))
    found = ct.sum(hits.astype(ct.int32), 0)
    so_far = ct.load(counts, (0,), (8,))
    ct.store(counts, (0,), so_far + found)


values = np.random.default_rng(3).integers(0, 8, 512).astype(np.int32)
counts = np.zeros(8, np.int32)
ct.launch(0, (8,), histogram, (values, counts))
print(counts, (counts == np.bincount(values)).all())
"""
    return (histogram,)


@app.cell
def _(histogram, listing, run):
    _, races = run("histogram.py", histogram)
    assert {finding.kind for finding in races} == {"race-RAW", "race-WAW"}
    listing(histogram, races)
    return (races,)


@app.cell
def _(mo):
    mo.md(r"""
    The launch ended in an error. Blocks of a GPU run at once: two may read the same counts, and the
    one that stores last drops what the other has added. The emulator runs block after block, so the
    sums would have been right here and wrong, sometimes, there; its checker knows that nothing
    orders the accesses of different blocks. Atomic additions are in order:
    """)
    return


@app.cell
def _(histogram, listing, run):
    atomic = histogram.replace(
        """    so_far = ct.load(counts, (0,), (8,))
    ct.store(counts, (0,), so_far + found)
""",
        """    ct.atomic_add(counts, bins, found)
""",
    )
    printed, nothing = run("atomic_histogram.py", atomic)
    assert nothing == ()
    assert "True" in printed
    listing(atomic + f"# prints: {printed}")
    return (printed,)


@app.cell
def _(mo):
    mo.md(r"""
    ## An index too far

    A gather without bounds check, whose author is sure of the indices:
    """)
    return


@app.cell
def _():
    gather = """import cuda.tile as ct
import numpy as np
import tileas_xdsl.cutile

tileas_xdsl.cutile.install(on="emulator")  # the added call


@ct.kernel
def pick(x, index, y):
    i = ct.bid(0)
    where = ct.load(index, (i,), (16,))
    picked = ct.gather(x, where, check_bounds=False)
    ct.store(y, (i,), picked)


x, y = np.arange(100, dtype=np.float32), np.zeros(128, np.float32)
index = np.arange(128, dtype=np.int32)
ct.launch(0, (8,), pick, (x, index, y))
"""
    return (gather,)


@app.cell
def _(gather, listing, run):
    _, beyond = run("gather.py", gather)
    assert [finding.kind for finding in beyond] == ["illegal-address"]
    listing(gather, beyond)
    return (beyond,)


@app.cell
def _(mo):
    mo.md(r"""
    `install(findings="warn")` turns such errors into warnings. Tensors of torch on the CPU work as
    arrays do here. Compiled kernels are kept on disk: `tileas cache` shows where.
    """)
    return


if __name__ == "__main__":
    app.run()
