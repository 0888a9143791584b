"""Checks that many operations share: kinds of operands, tuples of one length, keywords."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.dialects.ptx.base import CONSTANT, PtxOp, count_of, kind_of
from tileas_xdsl.target.isa.kinds import MEMORY_KINDS, accepts


def check_keyword(
    op: PtxOp, what: str, keyword: str, known: Iterable[str], where: str = ""
) -> None:
    """A keyword is one of those known; an empty one among them says that it may be missing."""
    keywords = tuple(known)
    if keyword in keywords:
        return
    rest = ", ".join(filter(None, keywords))
    suffix = f" {where}" if where else ""
    if not rest:
        raise op.error(f"takes no {what}{suffix}, but got '{keyword}'")
    if not keyword:
        raise op.error(f"needs a {what}{suffix}: {rest}")
    raise op.error(f"has no {what} '{keyword}'{suffix}; there are {rest}")


def check_flags(op: PtxOp, flags: Iterable[str], allowed: Collection[str], where: str) -> None:
    """Flags that are there are among those allowed."""
    for flag in flags:
        if op.flag(flag) and flag not in allowed:
            raise op.error(f"takes no {flag} {where}")


def check_kind(op: PtxOp, what: str, value: SSAValue, *kinds: str) -> None:
    """The registers of an operand are of one of these kinds."""
    if kind_of(value) not in kinds:
        raise op.error(f"expects {what} in {' or '.join(kinds)}, but got {kind_of(value)}")


def check_type(op: PtxOp, what: str, value: SSAValue, type: str) -> None:
    """The registers of an operand fit the type of the instruction."""
    if accepts(type, kind_of(value)):
        return
    fit = "/".join(dict.fromkeys((MEMORY_KINDS[type],)))
    raise op.error(f"of type {type} expects {what} in {fit}, but got {kind_of(value)}")


def check_count(op: PtxOp, what: str, value: SSAValue, count: int) -> None:
    """An operand has this many registers."""
    if count_of(value) != count:
        raise op.error(f"expects {_registers(count)} for {what}, but got {count_of(value)}")


def check_tuples(op: PtxOp, operands: Iterable[SSAValue], result: SSAValue) -> None:
    """Operands have one register, or as many as the result."""
    count = count_of(result)
    for operand in operands:
        if count_of(operand) not in (1, count):
            raise op.error(
                f"expects operands of 1 or {count} registers like its result, "
                f"but got {count_of(operand)}"
            )


def check_predicate(op: PtxOp, what: str, value: SSAValue | None) -> None:
    """An operand is one predicate."""
    if value is not None:
        check_kind(op, what, value, "pred")
        check_count(op, what, value, 1)


def check_address(op: PtxOp, what: str, value: SSAValue, space: str) -> None:
    """An address is one register: of 64 bits, in shared and local memory also of 32."""
    narrow = space.startswith("shared") or space == "local"
    check_kind(op, what, value, *(("b32", "b64") if narrow else ("b64",)))
    check_count(op, what, value, 1)


def check_registers(op: PtxOp, *operands: tuple[str, SSAValue | None, str]) -> None:
    """Each operand is a single register of a kind; absent ones pass."""
    for what, value, kind in operands:
        if value is not None:
            check_kind(op, what, value, kind)
            check_count(op, what, value, 1)


def _registers(count: int) -> str:
    return "1 register" if count == 1 else f"{count} registers"


def check_limit(op: PtxOp, what: str, value: SSAValue | None, least: int, most: int) -> None:
    """A number that is known already is within its limits."""
    owner = None if value is None else value.owner
    if not isinstance(owner, PtxOp) or owner.name != CONSTANT:
        return
    number = owner.number("value")
    if not least <= number <= most:
        raise op.error(f"takes {least} to {most} {what}, not {number}")


def check_passed_on(op: PtxOp, values: Sequence[SSAValue], results: Sequence[SSAValue]) -> None:
    """Results are the operands, one by one."""
    given, taken = [v.type for v in results], [v.type for v in values]
    if given != taken:
        raise op.error(f"gives back {len(taken)} values of the types it takes")
