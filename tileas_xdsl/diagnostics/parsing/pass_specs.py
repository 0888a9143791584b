"""From the text of `-p` and `-t` to passes and targets, with errors that say what to type."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Protocol, TypeVar, cast

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.hints import type_repr
from xdsl.utils.target import Target

from tileas_xdsl.diagnostics.suggest import did_you_mean

_T = TypeVar("_T")
_SpecT = TypeVar("_SpecT", bound=ArgSpecConvertible)

_POSITION = re.compile(r"^pass-pipeline:\d+:(\d+)$", re.MULTILINE)

_ANCHOR = re.compile(r"\s*[\w.$]+\s*\(")
"""An operation that passes are nested in."""
_NESTED = re.compile(r"[\w.$]+\s*\(|\)|,|(?:[^(),{]|\{[^}]*\})+")

_BLANK_AT_COMMA = re.compile(r"(\{[^}]*\})|\s*,\s*")
"""A comma between passes and the blanks around it, or options, which stay as they are."""

_INCOMPATIBLE = re.compile(r"^Incompatible types: given \((?P<given>.*)\), expected (?P<kind>.*)$")


class UsageError(Exception):
    """The command line is wrong; the message is one sentence for the user."""


class _Pipeline(Protocol):
    @property
    def passes(self) -> tuple[ArgSpec, ...]: ...


def parse_passes(
    text: str,
    available: Mapping[str, Callable[[], type[ModulePass]]],
    pipelines: Mapping[str, _Pipeline],
) -> tuple[ModulePass, ...]:
    """The passes that `text` lists (`cse,canonicalize{fold=true},tileas-to-ptx`).

    Blanks and newlines may stand around commas.  The name of a pipeline stands for its passes,
    alone and among others.  So do passes in the parentheses of operations, as MLIR nests them
    (`builtin.module(cuda_tile.module(cse),canonicalize)`): ours run on modules.
    Raises `UsageError`.
    """
    text = _flattened(text)
    specs: list[ArgSpec] = []
    for spec in _parse(lambda: tuple(parse_pipeline(text)), text):
        if spec.name not in pipelines:
            _check_name("pass", spec.name, [*available, *pipelines])
            specs.append(spec)
            continue
        for option in spec.parameters:
            raise UsageError(f"pipeline '{spec.name}' has no option '{option}'; {_listed({})}")
        specs += pipelines[spec.name].passes
    return tuple(_build("pass", spec, available[spec.name]) for spec in specs)


def _flattened(text: str) -> str:
    """The passes of a nested pass string, in order."""
    if _ANCHOR.match(text) is None:
        return _BLANK_AT_COMMA.sub(lambda found: found[1] or ",", text.strip())
    found: list[str] = []
    depth = 0
    for token in _NESTED.findall(text):
        if token == ")":
            depth -= 1
        elif token.endswith("("):
            depth += 1
        elif token != ",":
            found.append(token.strip())
        if depth < 0:
            raise UsageError(f"')' without '(' in '{text}'")
    if depth:
        raise UsageError(f"')' is missing at the end of '{text}'")
    return ",".join(part for part in found if part)


def check_target(text: str, available: Mapping[str, Callable[..., object]]) -> None:
    """Raise a `UsageError` if `text`, for example `ptx{arch="sm_90a"}`, is not a target."""
    spec = _parse(lambda: parse_spec(text), text)
    _check_name("target", spec.name, available)
    factory = available[spec.name]
    if not inspect.signature(factory).parameters:
        _build("target", spec, cast(Callable[[], type[Target]], factory))


def _check_name(kind: str, name: str, known: Iterable[str]) -> None:
    """Raise a `UsageError` that suggests similar names if `name` is not among the known ones."""
    known = list(known)
    if name in known:
        return
    command = "tileas passes" if kind == "pass" else "tileas-opt --help"
    hint = did_you_mean(name, known) or f"'{command}' lists every {kind}"
    raise UsageError(f"unknown {kind} '{name}'; {hint}")


def _parse(parse: Callable[[], _T], text: str) -> _T:
    """Near the end of `text`, xDSL's parser also raises `StopIteration` and `RuntimeError`."""
    try:
        return parse()
    except ArgSpecParseError as error:
        reason = str(error).rstrip().splitlines()[-1].strip()
        position = _POSITION.search(str(error))
        where = f" at character {position[1]}" if position else ""
        raise UsageError(f"{reason}{where} of '{text}'") from error
    except Exception as error:
        raise UsageError(f"cannot read '{text}': {error or 'it ends too early'}") from error


def _build(kind: str, spec: ArgSpec, factory: Callable[[], type[_SpecT]]) -> _SpecT:
    try:
        cls = factory()
    except Exception as error:
        raise UsageError(f"{kind} '{spec.name}' cannot be loaded: {error}") from error
    options = {option.name: _type_text(option.type) for option in fields(cls) if option.init}
    for option in spec.normalize_parameter_names().parameters:
        if option not in options:
            raise UsageError(f"{kind} '{spec.name}' has no option '{option}'; {_listed(options)}")
    try:
        return cls.from_spec(spec)
    except Exception as error:
        reason = _in_our_words(str(error))
        raise UsageError(f"{kind} '{spec.name}': {reason}; {_listed(options)}") from error


def _in_our_words(reason: str) -> str:
    """Return what xDSL says of the value of an option, which it shows as Python does."""
    found = _INCOMPATIBLE.search(reason)
    if found is None:
        return reason
    kind = found["kind"].removeprefix("<class '").removesuffix("'>")
    return f"{found['given'].rstrip(',')} is no {kind}"


def _type_text(annotation: object) -> str:
    """With postponed annotations, the type of a field is its text."""
    return annotation if isinstance(annotation, str) else type_repr(annotation)


def _listed(options: Mapping[str, object]) -> str:
    if not options:
        return "it takes no options"
    return "its options are " + ", ".join(f"{name} ({kind})" for name, kind in options.items())
