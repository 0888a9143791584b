"""`tileas layout`: the facts and the picture of one layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail, fail_at, print_facts, print_grid

if TYPE_CHECKING:
    from tileas_xdsl.layout.composed import AnyLayout
    from tileas_xdsl.layout.memory.memory_layout import MemoryLayout

ASSUMED_ELEMENT = "f16"
LARGEST_GRID = 16
"""How many rows and columns of offsets are printed at most."""


def _known_element(name: str | None) -> str | None:
    from tileas_xdsl.layout import LayoutError, element_type

    if name is None:
        return None
    try:
        element_type(name)
    except LayoutError as error:
        raise typer.BadParameter(str(error)) from None
    return name


def _named_file(name: str) -> Path:
    if not name:
        raise typer.BadParameter("the name of the file is empty")
    return Path(name)


def layout(
    text: Annotated[
        str,
        typer.Argument(
            metavar="LAYOUT",
            help="'<(64,64),(64,1),swizzle<3,4,3>>', '(4,8):(8,1)', "
            "'S<3,4,3> o 0 o (8,64):(64,1)', or a fragment '(8,4):(4@thread,1@value)'",
        ),
    ],
    elem: Annotated[
        str | None,
        typer.Option(
            callback=_known_element,
            help="Element type: the layout is a tile in shared memory of such elements.",
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(parser=_named_file, metavar="FILE", help="Draw the layout into this file."),
    ] = None,
) -> None:
    """Print the facts about a layout, and draw it.

    With --elem, and for a <...> literal, the layout is a tile in shared memory: swizzles permute
    byte addresses and bank conflicts are counted.  A layout onto the axes thread and value is a
    register fragment.  Any other layout is a function to offsets.
    """
    from tileas_xdsl.layout.errors import LayoutError, LayoutSyntaxError
    from tileas_xdsl.layout.output.draw import draw_layout
    from tileas_xdsl.layout.output.facts import facts

    try:
        subject, bits = _subject(text, elem)
        printed = facts(subject, bits)
        picture = draw_layout(subject, bits) if svg else ""
    except LayoutSyntaxError as error:
        fail_at(error, "<layout>")
    except LayoutError as error:
        fail(str(error))
    if svg is not None:
        _write(svg, picture)
    print_facts(printed)
    _print_offsets(subject, bits)


def _subject(text: str, elem: str | None) -> tuple[AnyLayout | MemoryLayout, int | None]:
    """The layout, and the bits of an element if it is a tile in memory."""
    from tileas_xdsl.layout import LayoutError, MemoryLayout, element_type, parse_layout

    parsed = parse_layout(text)
    if not isinstance(parsed, MemoryLayout):
        if elem is None:
            return parsed, None
        parsed = _in_memory(parsed, elem)
    own = parsed.elem
    if elem is not None and own is not None and element_type(elem).name != own:
        raise LayoutError(f"--elem {elem} contradicts the clause elem={own}")
    if elem is None and own is None:
        typer.echo(f"no --elem is given: {ASSUMED_ELEMENT} is assumed", err=True)
    return parsed, element_type(elem or own or ASSUMED_ELEMENT).bits


def _in_memory(layout: AnyLayout, elem: str) -> MemoryLayout:
    from tileas_xdsl.layout import ComposedLayout, Layout, LayoutError, MemoryLayout

    if isinstance(layout, Layout) and (axes := sorted(set(layout.axes()) - {""})):
        onto = f"the ax{'e' if len(axes) > 1 else 'i'}s {' and '.join(axes)}"
        raise LayoutError(f"--elem {elem} is for tiles in memory, {layout} maps to {onto}")
    if isinstance(layout, Layout):
        return MemoryLayout(layout)
    if isinstance(layout.inner, ComposedLayout) or layout.offset:
        raise LayoutError(f"{layout} is no tile in memory: that is 'S<B,M,S> o 0 o SHAPE:STRIDE'")
    return MemoryLayout(layout.inner, layout.swizzle)


def _write(path: Path, picture: str) -> None:
    from tileas_xdsl.diagnostics.outputs import write_output

    try:
        write_output(str(path), picture)
    except OSError as error:
        fail(f"cannot write '{path}': {error.strerror or error}")


def _print_offsets(layout: AnyLayout | MemoryLayout, bits: int | None) -> None:
    """Offsets, in memory byte addresses, as a grid with mode 0 down, where they fit a screen."""
    from tileas_xdsl.layout import Layout, MemoryLayout, table
    from tileas_xdsl.layout.int_tuple import product_each

    sizes = product_each(layout.shape)
    if len(sizes) != 2 or max(sizes) > LARGEST_GRID:
        return
    if isinstance(layout, Layout) and set(layout.axes()) - {""}:
        return
    if isinstance(layout, MemoryLayout):
        what, values = "byte addresses", layout.addresses(bits or 8)
    else:
        what, values = "offsets", table(layout)
    typer.echo(f"\n{what}, mode 0 down and mode 1 right")
    print_grid(values.reshape(sizes[1], sizes[0]).T.tolist())
