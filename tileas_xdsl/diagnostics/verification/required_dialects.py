"""Dialects that a pass makes operations of: without them the compiler is set up wrongly.

That is no mistake of whoever wrote the input, so that it is no diagnostic at an operation.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.context import Context


class MissingDialectError(RuntimeError):
    """A pass runs in a context without a dialect that it makes operations of."""


def require_dialects(ctx: Context, user: str, names: Iterable[str]) -> None:
    """Load dialects for `user`; raises `MissingDialectError` for one that is not registered."""
    known = {*ctx.registered_dialect_names, *(d.name for d in ctx.loaded_dialects)}
    missing = sorted(set(names) - known)
    if missing:
        raise MissingDialectError(
            f"{user} makes operations of {', '.join(missing)}, which is not registered: "
            "the compiler is set up without it"
        )
    for name in names:
        if ctx.get_optional_dialect(name) is None:
            ctx.load_registered_dialect(name)
