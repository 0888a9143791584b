"""`tileas dialects`, `passes`, `pipelines`, `diagnostics`: what there is."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail, on_terminal, print_table

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


def passes(
    everything: Annotated[
        bool, typer.Option("--all", help="Also list the passes of xDSL and of other packages.")
    ] = False,
) -> None:
    """List the passes: name, options and what each does."""
    from tileas_xdsl.installed import installed_universe
    from tileas_xdsl.universe import DEPRECATED_PASSES, TILEAS_UNIVERSE

    universe = installed_universe() if everything else TILEAS_UNIVERSE
    rows = [
        (name, _options(factory()), _summary(factory()))
        for name, factory in sorted(universe.all_passes.items())
        if name not in DEPRECATED_PASSES
    ]
    rows += [(old, "", f"deprecated name of {new}") for old, new in DEPRECATED_PASSES.items()]
    print_table(("pass", "options", "what it does"), rows)


def _options(module_pass: type[ModulePass]) -> str:
    from dataclasses import MISSING, fields

    parts: list[str] = []
    for option in fields(module_pass):
        name = option.name.replace("_", "-")
        shown = "..." if option.default is MISSING else str(option.default).lower()
        parts.append(f"{name}={shown}")
    return f"{{{' '.join(parts)}}}" if parts else ""


def _summary(documented: object) -> str:
    text = (documented.__doc__ or "").strip()
    if text.startswith(f"{type(documented).__name__}("):
        return ""
    published: str | None = getattr(documented, "description", None)
    return text.split("\n")[0].strip() + ("" if published is None else f" ({published})")


def pipelines() -> None:
    """List the named pipelines, each with its passes.

    They are written as tileas-opt takes them after -p: broken at commas on a terminal, and in one
    line, which xdsl-opt takes too, elsewhere.
    """
    from tileas_xdsl.pipelines import PIPELINES

    room = shutil.get_terminal_size().columns - 2 if on_terminal() else 0
    for pipeline in PIPELINES.values():
        typer.echo(f"{pipeline.name}: {pipeline.summary}")
        passes = map(str, pipeline.passes)
        typer.echo(indent(_broken_at_commas(passes, room) if room else pipeline.spec, "  "))


def _broken_at_commas(passes: Iterable[str], room: int) -> str:
    """Join passes by commas, in lines of `room` characters at most unless one pass is longer."""
    lines: list[str] = []
    for name in passes:
        if lines and len(lines[-1]) + len(name) + 2 <= room:
            lines[-1] += f",{name}"
        else:
            lines.append(name)
    return ",\n".join(lines)


def diagnostics(
    pattern: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="Only rows with this text in any column.")
    ] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="Only messages that are published word for word.")
    ] = False,
    emitted: Annotated[
        bool, typer.Option("--emitted", help="Only messages that something here emits.")
    ] = False,
    why_not: Annotated[
        bool,
        typer.Option("--unemitted", help="Only published messages nothing emits, and the reason."),
    ] = False,
) -> None:
    """List the messages: id, text, emitter and condition.

    Outer blanks and newlines are written as escapes.
    """
    from tileas_xdsl.diagnostics.catalogue import catalogue, emitted_ids, escape, unemitted

    used = emitted_ids()
    entries = [
        entry
        for entry in catalogue()
        if (entry.is_literal or not literal)
        and (entry.id in used or not emitted)
        and (entry.id in unemitted() or not why_not)
    ]
    if pattern is not None:
        wanted = pattern.lower()
        entries = [e for e in entries if any(wanted in cell.lower() for cell in (*e, e.published))]
    if not entries:
        fail(f"no message has '{pattern}' in it" if pattern else "there is no such message")
    if why_not:
        found = [(unemitted()[entry.id], escape(entry.text)) for entry in entries]
        print_table(
            ("id", "message", "stage", "reason"), [(e.id, text, *e[1:]) for e, text in found]
        )
        return
    rows = [(entry.id, escape(entry.text), entry.emitter, entry.condition) for entry in entries]
    print_table(("id", "message", "emitter", "condition"), rows)


def dialects() -> None:
    """Count the operations, types and attributes of dialects.

    The last line counts the messages of the catalogue.
    """
    from xdsl.ir import TypeAttribute

    from tileas_xdsl.diagnostics.catalogue import catalogue, emitted_ids
    from tileas_xdsl.universe import TILEAS_UNIVERSE

    rows: list[tuple[str, ...]] = []
    for name, factory in sorted(TILEAS_UNIVERSE.all_dialects.items()):
        dialect = factory()
        attributes = list(dialect.attributes)
        types = [a for a in attributes if issubclass(a, TypeAttribute)]
        counts = (len(list(dialect.operations)), len(types), len(attributes) - len(types))
        rows.append((name, *map(str, counts)))
    print_table(("dialect", "operations", "types", "attributes"), rows)
    typer.echo(f"\n{len(catalogue())} messages listed, {len(emitted_ids())} of them emitted")
