"""Which accesses to memory tokens order, and which arrays may therefore be the same memory.

Arguments that are distinct arrays do not alias unless tokens say so: a token that orders a store to
one array and an access to another is how Tile IR states that both may be the same.

    %t = tiled_store %x, %a[%i]
    %y, %u = tiled_load %b[%i] after %t         // %a and %b may alias: a barrier between them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.threads.gmem.pointers.base_arrays import ArrayAccess


def token_before(access: ArrayAccess) -> SSAValue | None:
    """Return the token that an access comes after; None if nothing orders it."""
    return getattr(access.op, "token", None)


def tokens_before(token: SSAValue) -> Iterator[SSAValue]:
    """Yield a token and all that lead to it: by control flow, joins, fences, other accesses."""
    seen, pending = {token}, [token]
    while pending:
        value = pending.pop()
        yield value
        before = inflows(value)
        if before is None:
            made = value.owner
            before = [v for v in getattr(made, "operands", ()) if v.type == token.type]
        new = [one for one in before if one not in seen]
        seen.update(new)
        pending += new


def is_behind_nothing(token: SSAValue | None) -> bool:
    """Whether a token says that an access is ordered behind no other; program order, without one.

    Two stores behind nothing reach different elements, or leave either value.
    """
    if token is None:
        return False
    owners = (value.owner for value in tokens_before(token))
    return all(isinstance(made, CreateNoneOp | JoinMemTokenOp) for made in owners)


def aliased_arrays(accesses: Sequence[ArrayAccess]) -> Mapping[SSAValue, SSAValue]:
    """Map arrays that may be the same memory to one of them; other arrays are absent."""
    by_op: dict[Operation | Block, ArrayAccess] = {access.op: access for access in accesses}
    same: dict[SSAValue, SSAValue] = {}
    for access in accesses:
        token = token_before(access)
        if token is None:
            continue
        owners = (value.owner for value in tokens_before(token))
        for other in (by_op[owner] for owner in owners if owner in by_op):
            if access.writes or other.writes:
                _unite(same, access.arrays | other.arrays)
    return {array: _representative(same, array) for array in same}


def _unite(same: dict[SSAValue, SSAValue], arrays: frozenset[SSAValue]) -> None:
    if len(arrays) < 2:
        return
    first, *others = (_representative(same, array) for array in arrays)
    same.update({other: first for other in others if other is not first})


def _representative(same: Mapping[SSAValue, SSAValue], array: SSAValue) -> SSAValue:
    while array in same:
        array = same[array]
    return array
