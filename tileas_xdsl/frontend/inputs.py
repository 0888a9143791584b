"""Modules from the content of a file, whichever form it has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tileas_xdsl.diagnostics.parsing.located_parser import LocatedParser
from tileas_xdsl.diagnostics.parsing.sources import forget_source
from tileas_xdsl.frontend.bytecode.layout import is_bytecode

SUFFIX = "tileirbc"
"""What the names of bytecode files end with."""

_DIALECT = "cuda_tile"


def load_tile_ir(ctx: Context) -> None:
    """Load the dialect of bytecode, as parsing text that uses it does."""
    if _DIALECT in ctx.registered_dialect_names:
        ctx.load_registered_dialect(_DIALECT)


class ParsedInput(NamedTuple):
    """A module, and the aliases of attributes that its text defines."""

    module: ModuleOp
    aliases: Mapping[str, Attribute]


def parse_input(
    ctx: Context,
    content: bytes,
    name: str,
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
) -> ParsedInput:
    """Return the module of a file of text or bytecode, not verified.

    A file is bytecode if it starts with the magic bytes or has the suffix.  Raises
    `DiagnosticError` for what is wrong; `line_offset` as for `parse_module`.
    """
    if is_bytecode(content) or PurePath(name).suffix == f".{SUFFIX}":
        from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode

        load_tile_ir(ctx)
        forget_source(name)
        return ParsedInput(read_bytecode(content, name), {})
    parser = LocatedParser(ctx, content, name, line_offset)
    return ParsedInput(parser.parse_module(implicit_module), parser.attribute_aliases)
