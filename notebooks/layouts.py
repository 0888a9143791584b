# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "tileas-xdsl"]
# ///
"""Layouts, swizzles and bank conflicts, with pictures: `marimo edit notebooks/layouts.py`."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Layouts, swizzles and bank conflicts")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from tileas_xdsl.layout import (
        BYTE_SWIZZLES,
        E,
        Layout,
        MemoryLayout,
        Swizzle,
        complement,
        composition,
        invert,
        parse_layout,
        register_layout_from_tv,
        right_inverse,
        table,
        zipped_divide,
    )
    from tileas_xdsl.layout.memory.banks import wavefronts
    from tileas_xdsl.layout.output.draw import draw_layout

    def picture(layout, bits=None, title=None):
        """The layout as a picture in the page."""
        return mo.Html(draw_layout(layout, bits, title=title))

    return (
        BYTE_SWIZZLES,
        E,
        Layout,
        MemoryLayout,
        Swizzle,
        complement,
        composition,
        register_layout_from_tv,
        invert,
        zipped_divide,
        mo,
        np,
        parse_layout,
        picture,
        right_inverse,
        table,
        wavefronts,
    )


@app.cell
def _(mo):
    mo.md(r"""
    # Layouts, swizzles and bank conflicts

    A **layout** is a function from coordinates to offsets, written `shape:stride`. The coordinate
    `(i, j)` of `(4,8):(8,1)` is at offset `8*i + 1*j`: row-major. Swap the strides for
    column-major. Change the text and look.
    """)
    return


@app.cell
def _(mo):
    layout_text = mo.ui.text(value="(4,8):(8,1)", label="layout")
    layout_text
    return (layout_text,)


@app.cell
def _(layout_text, parse_layout, picture):
    picture(parse_layout(layout_text.value))
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Layouts compose

    Modes nest: `(4,(2,4)):(8,(1,2))` counts its columns with two digits. Because layouts are
    functions they compose: `composition(A, B)(i) == A(B(i))`, and the result is a layout again
    (or an error that names the two numbers that do not divide). A *divide* is a composition too:
    below, a 4x8 row-major matrix is split into 2x4 tiles; the first mode walks inside a tile, the
    second from tile to tile: the offsets of a tile are a column.
    """)
    return


@app.cell
def _(Layout, zipped_divide, picture, table):
    matrix = Layout((4, 8), (8, 1))
    tiles = zipped_divide(matrix, (2, 4))
    assert sorted(table(tiles)) == list(range(32))
    print(f"{matrix} divided by (2, 4) is {tiles}")
    picture(tiles, title="a 4x8 matrix in tiles of 2x4: a column is a tile")
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Thirty-two banks

    Shared memory has 32 banks of 4 bytes. A warp is served at once if its lanes want different
    banks (or the same word). Put a 64x64 tile of f16 into memory row by row: a row is 128 bytes, so
    all rows of a column lie in the **same** bank. Each colour is a group of four banks, 16 bytes;
    its first 16 rows show the pattern. Pick a swizzle: it xors address bits so that a column visits
    all colours.
    """)
    return


@app.cell
def _(BYTE_SWIZZLES, mo):
    swizzle_name = mo.ui.dropdown(
        options=list(BYTE_SWIZZLES), value="128B", label="swizzle of byte addresses"
    )
    swizzle_name
    return (swizzle_name,)


@app.cell
def _(BYTE_SWIZZLES, Layout, MemoryLayout, picture, swizzle_name):
    tile = MemoryLayout(Layout((16, 64), (64, 1)), BYTE_SWIZZLES[swizzle_name.value])
    picture(tile, 16, f"the first 16 rows of a 64x64 tile of f16, swizzle {swizzle_name.value}")
    return


@app.cell
def _(BYTE_SWIZZLES, Layout, MemoryLayout, mo, np, wavefronts):
    def column_wavefronts(swizzle):
        """Wavefronts of 32 lanes that each read 16 bytes, one below the other."""
        memory = MemoryLayout(Layout((64, 64), (64, 1)), swizzle)
        rows = memory.addresses(16).reshape(64, 64).T
        return int(wavefronts(rows[:32, 0][np.newaxis], 16)[0])

    counts = {name: column_wavefronts(s) for name, s in BYTE_SWIZZLES.items()}
    assert counts["128B"] == 4
    assert counts["none"] == 32
    mo.md(
        "Thirty-two lanes read 16 bytes each down a column, ideally in 4 wavefronts:\n\n"
        "| swizzle | wavefronts |\n|---|---|\n"
        + "\n".join(f"| {name} | {count} |" for name, count in counts.items())
    )
    return


@app.cell
def _(mo):
    mo.md(r"""
    ## Registers are layouts too

    The accumulator of a Hopper `wgmma` spreads 64 rows over 128 threads. As a layout it maps a
    coordinate to two named axes, `thread` and `value` (a register of that thread). Below, its first
    16 columns; a colour is a warp.
    """)
    return


@app.cell
def _(register_layout_from_tv, parse_layout, picture):
    accumulator = register_layout_from_tv(
        parse_layout("((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"), (64, 16)
    )
    print(accumulator)
    picture(accumulator.layout, title="16 columns of the accumulator of a wgmma")
    return (accumulator,)


@app.cell
def _(mo):
    mo.md(r"""
    ## Inverses and guards

    Code needs the other direction: which element does thread `t` hold? The digits of a layout can
    be read back with division and remainder. Where the layout leaves gaps, the digits of its
    *complement* must be zero: that is the guard. The sparse map below sends four elements to
    threads 0, 16, 32 and 48.
    """)
    return


@app.cell
def _(E, Layout, accumulator, complement, invert, right_inverse):
    sparse = Layout((2, 2), (E("thread", 16), E("thread", 32)))
    print(invert(sparse, {"thread": 64}))
    print("complement of (2,2):(16,32) in 64:", complement(Layout((2, 2), (16, 32)), 64))
    print("\nthe accumulator, inverted:")
    print(invert(accumulator.layout))
    print("as CuTe's TV layout:", right_inverse(accumulator.layout, ("thread", "value")))
    return


@app.cell
def test_swizzles_are_involutions(BYTE_SWIZZLES, np):
    addresses = np.arange(4096)
    for swizzle in BYTE_SWIZZLES.values():
        assert np.array_equal(swizzle(swizzle(addresses)), addresses)
    return


@app.cell
def test_composition_is_composition(Layout, composition):
    a, b = Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))
    assert [composition(a, b)(i) for i in range(12)] == [a(b(i)) for i in range(12)]
    return


@app.cell
def _(Swizzle, mo):
    mo.md(
        f"Exercise: `{Swizzle(2, 4, 3)}` leaves half of the conflicts. Draw a tile with rows of 64 "
        "bytes, `<(16,32),(32,1)>`, and find the swizzle that suits it."
    )
    return


if __name__ == "__main__":
    app.run()
