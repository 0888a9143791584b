"""The xDSL target `ptx`: `tileas-opt -t ptx`."""

from __future__ import annotations

from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.target.errors import TargetError


@dataclass(frozen=True)
class PtxTarget(Target):
    """Prints the PTX text of a module of `ptx`."""

    name = "ptx"

    arch: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""
    loc: bool = False
    """Whether `.loc` lines say where instructions come from."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the text of `module`."""
        try:
            output.write(ptx_text(module, self.arch, locations=self.loc))
        except TargetError as error:
            raise op_error(module, str(error), prefix=False) from error
