"""`key_sharing`: instances of IR have no dictionary of their own, whoever makes the first ones."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass

import pytest
from xdsl.ir import Operation, SSAValue, Use

from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.key_sharing import share_keys


def _has_dictionary(instance: object) -> bool:
    return any(type(found) is dict for found in gc.get_referents(instance))


def _instances(kind: type, *names: str) -> list[object]:
    made = []
    for _ in range(60):
        one = object.__new__(kind)
        for name in names:
            object.__setattr__(one, name, None)
        made.append(one)
    return made


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_field_that_comes_late_has_its_place(is_shared: bool) -> None:
    @dataclass
    class Link:
        value: int
        before: object = None
        after: object = None

    if is_shared:
        share_keys(Link)
    elif sys.version_info >= (3, 13):
        pytest.skip("Python lays out attributes in another way")
    _instances(Link, "value")
    late = _instances(Link, "value", "before", "after")
    assert any(map(_has_dictionary, late)) is not is_shared


def test_ir_of_bytecode_has_few_dictionaries() -> None:
    pytest.importorskip("cuda.tile")
    from kernels.cutile.matmul import matmul

    half = "f16[?, ?%8]"
    signature = f"a: {half}, b: {half}, c: {half}, tm=128, tn=128, tk=64"
    made = compile(matmul, signature=signature, target="sm_90a")
    ops = [op for module in (made.source, made.module) for op in operations_in(module)]
    values = [result for op in ops for result in op.results]
    uses = [use for value in values for use in value.uses]
    parts = [*ops, *values, *uses]
    assert len(parts) > 500
    assert not any(map(_has_own_attributes, parts))


def _has_own_attributes(part: Operation | SSAValue | Use) -> bool:
    found = (each for each in gc.get_referents(part) if type(each) is dict)
    return any(each.keys() & {"_operands", "_type", "_operation"} for each in found)
