"""lit's tests without a process for each tool that a RUN line names.

The tools are functions of Python: lit's worker calls them, one after the other, with the text that
the one before wrote.  Every dialect and every pass is loaded once, before lit forks its workers.
What a shell is needed for, another program or a file that is redirected, lit runs in processes.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from io import BytesIO, TextIOWrapper
from typing import Any
from unittest.mock import patch

from lit import TestRunner
from lit.formats import ShTest
from lit.ShUtil import Pipeline

TOOLS = ("filecheck", "tileas-opt", "xdsl-opt")

STDERR_TO_STDOUT = [((">&", 2), "1")]

_run_in_processes: Callable[..., Any] = TestRunner._executeShCmd


class ToolTest(ShTest):
    """A test whose pipelines of our tools are run in lit's worker."""

    def execute(self, test: Any, litConfig: Any) -> Any:  # noqa: N803
        with patch.object(TestRunner, "_executeShCmd", _run):
            return super().execute(test, litConfig)


@dataclass
class Call:
    """One command of a pipeline: `not env NAME=VALUE tool arguments 2>&1`."""

    tool: str
    arguments: Sequence[str]
    negated: bool = False
    joined: bool = False
    """Whether what is written to standard error is output."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


@cache
def tools() -> Mapping[str, Callable[[], Any]]:
    """The function of each tool; loads all that they may need."""
    from tileas_xdsl.installed import installed_universe

    universe = installed_universe()
    for factories in (universe.all_dialects, universe.all_passes, universe.all_targets):
        for make in factories.values():
            make()
    import_module("tileas_xdsl.compiler")
    return {tool: _main_of(tool) for tool in TOOLS}


def _main_of(tool: str) -> Callable[[], Any]:
    (script,) = entry_points(group="console_scripts", name=tool)
    return script.load()


def _run(command: Any, shell: Any, results: list[Any], timeout: Any) -> Any:
    """Run a command of lit's shell for its exit code; stands for `TestRunner._executeShCmd`."""
    calls = calls_of(command)
    if calls is None:
        return _run_in_processes(command, shell, results, timeout)
    code, text = 0, b""
    for call, source in zip(calls, command.commands, strict=True):
        with _surroundings(shell.cwd, {**shell.env, **call.variables}):
            ended, text, errors = run_tool(call, text)
        code = ended or code
        shown = (part.decode("utf-8", "replace") for part in (text, errors))
        results.append(TestRunner.ShellCommandResult(source, *shown, ended, False))
    return code


def calls_of(command: Any) -> Sequence[Call] | None:
    """The calls of a pipeline of our tools, None for any other command."""
    if not isinstance(command, Pipeline) or not command.pipe_err or command.negate:
        return None
    calls = [_call_of(part.args, part.redirects) for part in command.commands]
    known = [call for call in calls if call is not None]
    return known if len(known) == len(calls) else None


def _call_of(words: Sequence[Any], redirects: Sequence[Any]) -> Call | None:
    if not all(isinstance(word, str) for word in words) or redirects not in ([], STDERR_TO_STDOUT):
        return None
    negated, variables, rest = False, dict[str, str](), list(words)
    while rest and rest[0] in ("not", "env"):
        if rest.pop(0) == "not":
            negated = not negated
            continue
        while rest and "=" in rest[0]:
            name, _, value = rest.pop(0).partition("=")
            variables[name] = value
    if not rest or rest[0] not in TOOLS:
        return None
    return Call(rest[0], rest[1:], negated, bool(redirects), variables)


@contextmanager
def _surroundings(folder: str, environment: Mapping[str, str]) -> Generator[None]:
    """Those of a process that is started in a folder with an environment."""
    with chdir(folder), patch.dict(os.environ, environment, clear=True):
        yield


def run_tool(call: Call, text: bytes) -> tuple[int, bytes, bytes]:
    """The exit code of a tool that reads a text, its output and what it wrote to standard error."""
    output, errors = BytesIO(), BytesIO()
    streams = [TextIOWrapper(raw, encoding="utf-8") for raw in (BytesIO(text), output)]
    streams.append(streams[1] if call.joined else TextIOWrapper(errors, encoding="utf-8"))
    given = [call.tool, *call.arguments]
    with (
        patch.object(sys, "argv", given),
        patch.multiple(sys, **dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))),
    ):
        code = _ended(tools()[call.tool])
    for stream in streams[1:]:
        stream.flush()
    return int(not code) if call.negated else code, output.getvalue(), errors.getvalue()


def _ended(main: Callable[[], Any]) -> int:
    """The exit status that a process of a tool would have."""
    try:
        code = main()
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except Exception:
        traceback.print_exc()
        code = 1
    return code if isinstance(code, int) else int(code is not None)
