"""What callers pass to the Python interface: checked first, and said what was expected instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError, parse_passes
from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.installed import installed_universe
from tileas_xdsl.pipelines import PIPELINES

_PASSES = "passes are a text such as 'canonicalize,tileas-to-ptx', or a sequence of those"
_SHOWN = 60
"""Characters of a wrong value that a message repeats."""


def expect(name: str, value: object, kinds: type | tuple[type, ...], what: str) -> None:
    """Raise `TypeError` for a value other than None that is of none of these types."""
    is_kind = isinstance(value, kinds) and not (isinstance(value, bool) and kinds is int)
    if value is not None and not is_kind:
        raise TypeError(f"{name} is {what}, not {_shown(value)}")


def expect_options(
    caller: str, function: Callable[..., object], given: Iterable[str], *, hidden: Sequence[str]
) -> None:
    """Raise `TypeError` for a keyword that a function does not take from its caller's user."""
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in hidden]
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"its options are {', '.join(known)}"
            raise TypeError(f"{caller} has no option '{name}'; {hint}")


def pass_specs(passes: object) -> Sequence[ArgSpec] | None:
    """Return passes as `compile` takes them: the text of `-p`, or texts, specs and passes in order.

    None and nothing at all are no passes.  Raises `TypeError` for what is neither, `ValueError` for
    text that names no pass or wrong options.
    """
    if not passes and passes in (None, "", (), []):
        return None
    if isinstance(passes, str):
        return _parsed(passes)
    if not isinstance(passes, Sequence):
        raise TypeError(f"{_PASSES}, not {_shown(passes)}")
    found: list[ArgSpec] = []
    for one in cast("Sequence[object]", passes):
        if isinstance(one, str):
            found += _parsed(one)
        elif isinstance(one, ArgSpec):
            found += _parsed(str(one))
        else:
            raise TypeError(f"{_PASSES}, not of {_shown(one)}")
    return found


def _parsed(text: str) -> Sequence[ArgSpec]:
    try:
        return [
            one.pipeline_pass_spec()
            for one in parse_passes(text, installed_universe().all_passes, PIPELINES)
        ]
    except UsageError as error:
        raise ValueError(str(error)) from None


def _shown(value: object) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
