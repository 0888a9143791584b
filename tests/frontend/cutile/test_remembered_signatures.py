"""cuTile's front end asks for the signature of a function once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("cuda.tile")

from cuda.tile._passes import hir2ir
from support.cutile_programs import add

from tileas_xdsl.frontend.cutile.remembered_signatures import remember_signatures
from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode

SIGNATURE = "a: f32[?], b: f32[?], c: f32[?], tile=32"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The functions that Python is asked for."""
    found: list[Any] = []
    answer = hir2ir.get_signature.__wrapped__ if _is_remembered() else hir2ir.get_signature

    def counted(function: Any) -> Any:
        found.append(function)
        return answer(function)

    monkeypatch.setattr(hir2ir, "get_signature", counted)
    remember_signatures.cache_clear()
    yield found
    remember_signatures.cache_clear()


def _is_remembered() -> bool:
    return hasattr(hir2ir.get_signature, "cache_info")


def test_a_function_is_asked_for_once(asked: list[Any]) -> None:
    first = export_bytecode(add, SIGNATURE)
    assert asked
    assert len(asked) == len({*asked})
    before = len(asked)
    assert export_bytecode(add, SIGNATURE) == first
    assert len(asked) == before
