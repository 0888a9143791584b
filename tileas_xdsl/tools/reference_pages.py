"""Reference pages in Markdown, written from the code: dialects, passes, pipelines, commands.

    for name, text in reference_pages(): ...        `dialects/nv_tileas.md`, `passes.md`, ...

What a page says of an operation is its docstring and its definition (IRDL), of a pass its docstring
and its options, of a command what `--help` prints.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from html import escape
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import typer
from xdsl.irdl import IRDLOperation, OpDef, OptionalDef, VariadicDef
from xdsl.traits import OpTrait

if TYPE_CHECKING:
    from xdsl.ir import Dialect


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the path of each page, and its text."""
    from tileas_xdsl.universe import TILEAS_UNIVERSE

    yield "passes.md", passes_page()
    yield "commands.md", commands_page()
    dialects = {name: make() for name, make in sorted(TILEAS_UNIVERSE.all_dialects.items())}
    for name, dialect in dialects.items():
        yield f"dialects/{name}.md", dialect_page(dialect)
    yield "dialects/README.md", _dialects_page(dialects.values())


def _dialects_page(dialects: Sequence[Dialect] | Any) -> str:
    rows = [
        f"| [`{one.name}`]({one.name}.md) | {len(list(one.operations))} | "
        f"{len(list(one.attributes))} |"
        for one in dialects
    ]
    head = "# Dialects\n\n| dialect | operations | types and attributes |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def dialect_page(dialect: Dialect) -> str:
    """Return the operations, types and attributes of a dialect."""
    parts = [f"# {dialect.name}", "Written from the definitions of the code."]
    operations = sorted(dialect.operations, key=lambda op: op.name)
    attributes = sorted(dialect.attributes, key=lambda one: one.name)
    if operations:
        parts += ["## Operations", *map(_operation, operations)]
    if attributes:
        parts += ["## Types and attributes"]
        parts += [f"### `{one.name}`\n\n{_doc(one)}" for one in attributes]
    return "\n\n".join(parts) + "\n"


def _operation(op: Any) -> str:
    parts = [f"### `{op.name}`", _doc(op)]
    if issubclass(op, IRDLOperation):
        parts.append(_definition(op.get_irdl_definition()))
    return "\n\n".join(part for part in parts if part)


def _definition(found: OpDef) -> str:
    rows = [
        *_rows("operand", found.operands),
        *_rows("property", list(found.properties.items())),
        *_rows("attribute", list(found.attributes.items())),
        *_rows("region", found.regions),
        *_rows("result", found.results),
    ]
    parts = ["| | name | |\n|---|---|---|\n" + "\n".join(rows)] if rows else []
    if found.assembly_format:
        parts.append(f"```text\n{found.name} {found.assembly_format.strip()}\n```")
    traits = sorted({_trait(trait) for trait in found.traits.traits})
    if traits:
        parts.append(f"Traits: {', '.join(traits)}")
    return "\n\n".join(parts)


def _trait(trait: OpTrait) -> str:
    return f"`{type(trait).__name__}`"


def _rows(kind: str, defined: Sequence[tuple[str, object]]) -> Iterator[str]:
    for name, one in defined:
        match one:
            case OptionalDef():
                how = "optional"
            case VariadicDef():
                how = "any number"
            case _:
                how = ""
        yield f"| {kind} | `{name}` | {how} |"


def passes_page() -> str:
    """Return the passes with their options, and the pipelines."""
    from tileas_xdsl.pipelines import PIPELINES
    from tileas_xdsl.universe import DEPRECATED_PASSES, TILEAS_UNIVERSE

    parts = ["# Passes and pipelines", "Written from the code; `tileas-opt -p` runs them."]
    for name, factory in sorted(TILEAS_UNIVERSE.all_passes.items()):
        if name not in DEPRECATED_PASSES:
            parts += [f"## {name}", _doc(factory()), *_options(factory())]
    parts.append("## Pipelines")
    parts += [
        f"### {one.name}\n\n{one.summary}\n\n```text\n{one.spec}\n```" for one in PIPELINES.values()
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _options(module_pass: Any) -> Iterator[str]:
    rows = [
        f"| `{option.name.replace('_', '-')}` | `{option.type}` | {_default(option.default)} |"
        for option in fields(module_pass)
    ]
    if rows:
        yield "| option | type | default |\n|---|---|---|\n" + "\n".join(rows).replace(
            " | None", "?"
        )


def _default(value: object) -> str:
    return "required" if value is MISSING else f"`{value}`"


def _doc(documented: Any) -> str:
    """The docstring as text; one that `dataclass` wrote is none."""
    text = cleandoc(documented.__doc__ or "")
    return "" if text.startswith(f"{documented.__name__}(") else _markdown(text)


def _markdown(text: str) -> str:
    """Docstrings have code by backquotes or by indentation; what else looks like HTML is text."""
    lines = (
        line if "`" in line or line.startswith("    ") else escape(line, quote=False)
        for line in text.splitlines()
    )
    return "\n".join(lines)


def commands_page() -> str:
    """Return what `--help` says of every command of `tileas`."""
    from tileas_xdsl.tools.tileas import app

    os.environ["TERMINAL_WIDTH"] = "100"
    root = typer.main.get_command(app)
    parts = ["# Commands", "What `tileas COMMAND --help` prints."]
    context = typer.Context(root, info_name="tileas")
    for name, command in sorted(getattr(root, "commands", {}).items()):
        inner = typer.Context(command, info_name=name, parent=context)
        parts.append(f"## tileas {name}\n\n```text\n{_help(command, inner)}\n```")
        for sub, one in sorted(getattr(command, "commands", {}).items()):
            text = _help(one, typer.Context(one, info_name=sub, parent=inner))
            parts.append(f"### tileas {name} {sub}\n\n```text\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def _help(command: Any, context: typer.Context) -> str:
    command.rich_markup_mode = None
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
