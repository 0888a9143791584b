"""The target that a module is compiled for: one attribute, which every pass and verifier reads.

    module attributes {nv_tileas.target = "sm_90a"} { ... }

`compile`, the tools and the pass `tileas-attach-target` set it once.  Accepted on input, on the
module or on a kernel, are also `cute.target`, `nv_tileaa.target_spec`, both names like `sm_90a`,
and `nv_tileaa.compute_capability`, a number like 90 that names the known target of that capability.
All of them must agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.target.arch import DEFAULT_TARGET, Target, get_target, target_of_capability
from tileas_xdsl.target.errors import UnknownTargetError
from tileas_xdsl.target.tiers import is_target_name, tier

TARGET = "nv_tileas.target"
TARGET_SPEC = "nv_tileaa.target_spec"
COMPUTE_CAPABILITY = "nv_tileaa.compute_capability"

_NAMES = (TARGET, "cute.target", TARGET_SPEC)


def target_of(op: Operation) -> str | None:
    """Return the target that `op` is compiled for: what the nearest operation around it names."""
    around: Operation | None = op
    while around is not None:
        if (found := next(_named_on(around), None)) is not None:
            return found
        around = around.parent_op()
    return None


def named_target(module: ModuleOp) -> str | None:
    """Return the target that a module or its kernels name; `OpError` where two disagree."""
    found: str | None = None
    for op in (module, *module.ops):
        for name in _named_on(op):
            found = found or name
            if not _agree(found, name):
                raise op_error(op, f"is for {name}, but its module is for {found}", prefix=False)
    return found


def module_target(
    module: ModuleOp, option: str | int | None = None, default: str = DEFAULT_TARGET
) -> Target:
    """Return the target of a module, or `default` if it names none.

    `option` is the deprecated option of a pass; it decides for a module that names no target.
    Raises `OpError` where it contradicts the module, `UnknownTargetError`.
    """
    asked = None if option is None else _name_of(option)
    return row_of(agreed_target(module, asked) or default)


def located_target(module: ModuleOp, option: str | None = None) -> Target:
    """Return `module_target`; raises `OpError` where what the module names is unknown."""
    try:
        return module_target(module, option)
    except UnknownTargetError as error:
        named = next((op for op in (module, *module.ops) if any(_named_on(op))), None)
        if named is None:
            raise
        raise op_error(named, str(error), prefix=False) from error


def row_of(name: str) -> Target:
    """Return the known target of a name, whose suffix may be missing; `UnknownTargetError`."""
    if not is_target_name(name):
        return get_target(name)
    parts = tier(name)
    found = None if parts.feature_set else target_of_capability(parts.number)
    return found or get_target(name)


def agreed_target(module: ModuleOp, asked: str | None) -> str | None:
    """Return the target of a module that names one, else `asked`; `OpError` where they disagree."""
    named = named_target(module)
    if named is not None and asked is not None and not _agree(named, asked):
        text = f"an option asks for {asked}, but the module is for {named}"
        raise op_error(module, text, prefix=False)
    return named or asked


def set_target(module: ModuleOp, name: str) -> None:
    """Write the target on a module; `OpError` where the module names another one."""
    agreed_target(module, name)
    module.attributes[TARGET] = StringAttr(name)


def _named_on(op: Operation) -> Iterator[str]:
    """The targets that the attributes of one operation name."""
    attributes = op.attributes
    if not attributes:
        return
    for key in _NAMES:
        if isinstance(name := attributes.get(key), StringAttr):
            yield name.data
    if isinstance(number := attributes.get(COMPUTE_CAPABILITY), IntegerAttr):
        yield _name_of(number.value.data)


def _name_of(given: str | int) -> str:
    """The name of a target, which a compute capability names too."""
    if isinstance(given, str):
        return given
    known = target_of_capability(given)
    return f"sm_{given}" if known is None else known.name


def _agree(one: str, other: str) -> bool:
    """Whether two names are of one GPU; only one with a suffix says more than the other."""
    if one == other:
        return True
    first, second = tier(one), tier(other)
    return first.number == second.number and "" in (first.feature_set, second.feature_set)
