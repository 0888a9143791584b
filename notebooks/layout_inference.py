# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl"]
# ///
"""Who runs what: layouts inferred for the article's program: `marimo edit notebooks/layout_inference.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Layout inference")


@app.cell
def _():
    from dataclasses import replace
    from html import escape

    import marimo as mo
    import numpy as np

    from tileas_xdsl.compiler import compile
    from tileas_xdsl.dialects.tl.kernel import KernelOp
    from tileas_xdsl.inference.checking import check
    from tileas_xdsl.inference.closed_form import section_of
    from tileas_xdsl.inference.decisions import LoopDecision
    from tileas_xdsl.inference.explanation import explanation, picture
    from tileas_xdsl.inference.modes import infer
    from tileas_xdsl.transforms.tl_inference.extraction import Extraction

    return (
        Extraction,
        KernelOp,
        LoopDecision,
        check,
        compile,
        escape,
        explanation,
        infer,
        mo,
        np,
        picture,
        replace,
        section_of,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # Layout inference

    A block program speaks of buffers and of loops over them; who runs which iteration is left open.
    A **fragment** is a buffer in registers, spread over the threads of the block: only the thread
    that holds an element can read it. So a layout of the fragment decides who may run the loops
    that read it, and the other way round.
    """)
    return


@app.cell
def _(mo):
    article = """
    func.func @article(%A: memref<4x16xf32>, %B: memref<4xf32>) {
      tl.kernel threads(64) {
        %zero = arith.constant 0 : index
        %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
        tl.parallel (%row, %col) in (4, 16) {
          %a = memref.load %A[%row, %col] : memref<4x16xf32>
          memref.store %a, %f[%row, %col] : memref<4x16xf32, #tl<space fragment>>
        }
        tl.parallel (%g, %r) in (2, 2) {
          %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %r)
          %x = memref.load %f[%row, %zero] : memref<4x16xf32, #tl<space fragment>>
          memref.store %x, %B[%row] : memref<4xf32>
        }
      }
      func.return
    }
    """
    mo.md(f"```mlir\n{article}\n```")
    return (article,)


@app.cell
def _(mo):
    mo.md(r"""
    ## The timeline

    TileLang asks each loop in turn, first for what must be, then for what follows from what is
    known, and only then freely. The first loop has 64 iterations for 64 threads, so it chooses
    `thread = 16 * row + col`, and the fragment has to follow. The second loop reads `f[2 * g + r,
    0]`: its iterations run where these elements are. Our mode `parity` decides the same.
    """)
    return


@app.cell
def _(Extraction, KernelOp, article, compile, explanation, infer, mo):
    kernel = compile(article, target="sm_90a")
    program = Extraction(
        next(op for op in kernel.source.walk() if isinstance(op, KernelOp)), "sm_90a"
    ).program()
    tilelang = infer(program, "parity")
    decisions = infer(program)
    mo.md(f"```\n{explanation(program, decisions)}\n```")
    return decisions, kernel, program, tilelang


@app.cell
def _(decisions, mo, picture):
    mo.Html(picture("the fragment", decisions.fragments["f"]))
    return


@app.cell
def _(decisions, mo, picture):
    mo.Html(picture("the second loop", decisions.loops[1].owners, "S step"))
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Where TileLang stops

    Four iterations on the threads 0, 16, 32 and 48: no two meet, so the layout is right. But code
    needs the other direction, the iteration of a thread, and TileLang's inverse has no place for
    "this thread has none": it ends with `Check failed: (analyzer_->CanProveEqual(abs(source->scale),
    1)) is false`. Written in digits the inverse is easy, and the digits that are left over are the
    **guard**.
    """)
    return


@app.cell
def _(mo, section_of, tilelang):
    section = section_of(tilelang.loops[1].owners)
    assert list(section.conditions) == ["thread % 16 == 0"]
    mo.md(f"```\n{section}\n```")
    return (section,)


@app.cell
def _(mo):
    mo.md(r"""
    ## A layout is checked, however it came about

    A checker that shares no code with the inference evaluates every map for all threads and
    elements. Let the second loop run on the threads 0 to 3 instead, which looks natural:
    """)
    return


@app.cell
def _(LoopDecision, check, decisions, escape, mo, program, replace):
    assert check(program, decisions) == ()
    owners = decisions.loops[1].owners
    packed = LoopDecision(replace(owners, thread=owners.thread // 16))
    wrong = replace(decisions, loops={**decisions.loops, 1: packed})
    findings = check(program, wrong)
    assert findings
    mo.md("\n".join(f"* {escape(str(finding))}" for finding in findings))
    return (findings,)


@app.cell
def _(mo):
    mo.md(r"""
    ## It runs

    The program that TileLang refuses, compiled and run on the emulator: the guard is a mask of four
    bits, and column 0 arrives.
    """)
    return


@app.cell
def _(kernel, mo, np):
    given = np.arange(64, dtype=np.float32).reshape(4, 16)
    emulated = kernel.emulate(given, np.zeros(4, np.float32))
    assert not emulated.findings
    column = np.asarray(emulated.arrays[1])
    assert (column == given[:, 0]).all()
    mo.md(f"B is {column.tolist()}\n\n```\n{kernel.ptx}\n```")
    return (emulated,)


if __name__ == "__main__":
    app.run()
