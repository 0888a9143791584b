"""Reproducers: when a pass crashes or leaves invalid IR, what is needed to see that again.

    // configuration: --passes='tileas-slicing{...}'
    // kernel.mlir:4:10: error: internal error in pass 'tileas-slicing': KeyError: 3
    // tileas-xdsl 0.1, xDSL 0.50.0, Python 3.11.8
    builtin.module attributes {...} {

`tileas-opt --run-reproducer FILE` replays it, as `mlir-opt --run-reproducer` does; the IR is that
before the pass.  Files are complete or absent.  `TILEAS_REPRODUCER_DIR` names the folder, else it
is the one for temporary files; empty, nothing is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.compilation.pass_execution import run_pass
from tileas_xdsl.diagnostics.emission import BrokenPassError, note
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.outputs import write_output
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.printing import module_text

FOLDER_VARIABLE = "TILEAS_REPRODUCER_DIR"

_CONFIGURATION = re.compile(r"^// configuration: --passes='(?P<passes>[^\n]*)'$", re.MULTILINE)


class PassRunner:
    """Runs passes on a module one by one, and writes a reproducer for one that is broken.

    `fresh` makes the module as it was before the first pass: passes run again on that one.  Where
    some were not verified, the first that leaves invalid IR is the broken one, not that which fails
    over it.
    """

    def __init__(
        self, ctx: Context, fresh: Callable[[], ModuleOp], path: str | None = None
    ) -> None:
        """`path` names the reproducer; by default it is a file in the default folder.

        Where that is the null device, nothing is written or said.
        """
        self._ctx, self._fresh, self._path = ctx, fresh, path
        self._done: list[ModulePass] = []
        self._is_verified = True

    def begin(self, fresh: Callable[[], ModuleOp]) -> None:
        """Go on with another module."""
        self._fresh = fresh
        self._done.clear()
        self._is_verified = True

    def run(self, module_pass: ModulePass, module: ModuleOp, *, verify: bool) -> None:
        """Run a pass, and verify what it leaves; raises `DiagnosticError`."""
        try:
            run_pass(module_pass, self._ctx, module)
            if verify:
                verify_module(module, after=module_pass.name)
        except BrokenPassError as error:
            if not self._is_verified:
                self._raise_first()
            raise self._with_reproducer(error, module_pass) from error
        self._done.append(module_pass)
        self._is_verified = verify

    def _raise_first(self) -> None:
        """Raise for the first of the passes that are done that leaves invalid IR, if one does."""
        again = PassRunner(self._ctx, self._fresh, self._path)
        module = self._fresh()
        for done in self._done:
            again.run(done, module, verify=True)

    def _with_reproducer(self, error: BrokenPassError, module_pass: ModulePass) -> BrokenPassError:
        """The same error, with a note about the reproducer."""
        if self._path == os.devnull:
            return error
        first, *others = error.diagnostics
        try:
            module = self._module()
            spec = str(module_pass.pipeline_pass_spec())
            path = self._path or default_path(f"{spec}\n{module}", module_pass.name)
            if path is None:
                return error
            write_output(path, _text(spec, " ".join(first.headline.split()), module))
            said = f"'tileas-opt --run-reproducer {path}' shows it again"
        except (OSError, DiagnosticError) as failure:
            said = f"no reproducer is written: {failure}"
        added = replace(first, notes=(*first.notes, note(first.location, said)))
        return BrokenPassError(added, *others)

    def _module(self) -> str:
        """The text of the module before the pass that is broken."""
        module = self._fresh()
        for done in self._done:
            run_pass(done, self._ctx, module)
        return module_text(module, {}, self._ctx.loaded_dialects)


def _text(spec: str, headline: str, module: str) -> str:
    import platform
    from importlib.metadata import version

    return (
        f"// configuration: --passes='{spec}'\n"
        f"// {headline}\n"
        f"// tileas-xdsl {version('tileas-xdsl')}, xDSL {version('xdsl')}, "
        f"Python {platform.python_version()}\n"
        f"{module}"
    )


def default_path(what: str, name: str) -> str | None:
    """Return the path of a reproducer of `what`; None where none is to be written."""
    import hashlib
    import tempfile

    folder = os.environ.get(FOLDER_VARIABLE, tempfile.gettempdir())
    if not folder:
        return None
    digest = hashlib.sha256(what.encode()).hexdigest()[:8]
    return str(Path(folder) / f"tileas-reproducer-{name}-{digest}.mlir")


def passes_of_reproducer(text: str) -> str | None:
    """Return the passes that a reproducer is for, as `-p` takes them; None if it is none."""
    found = _CONFIGURATION.search(text)
    return None if found is None else found["passes"]
