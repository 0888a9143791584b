"""`tileas-choose-tma`: the reason against TMA, recorded on the operation."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr

from tests.support.ir import parse
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.transforms.memory.tileas_choose_tma import NOT_BY_TMA, TileasChooseTma

TEXT = """
func.func @kernel(%p: !nv_tileaa.ptr<{element}, 1>, %m: i32, %n: i32, %s: i32, %at: index)
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}} {{
  {facts}
  %array = nv_tileaa.make_memref {pointer}{offset},
    sizes[%m : i32, {extent} : i32], strides[{strides}]
    : !nv_tileaa.ptr<{element}, 1> -> memref<?x?x{element}, strided<[?, {inner}]>>
  %view = nv_tileas.view %array : memref<?x?x{element}, strided<[?, {inner}]>>
    -> !nv_tileas.tiled_view<{rows}x{columns}x{element}, gmem>
  %first = nv_tileas.create_none : !nv_tileaa.mem_token
  {use}
  func.return
}}
"""

LOAD = """
  %tile{token_result} = nv_tileas.tiled_load %view[%at, %at]{more} {{{attributes}
    atom = #nv_tileas<atom ldg>}} : !nv_tileas.tiled_view<{rows}x{columns}x{element}, gmem>
    -> tensor<{rows}x{columns}x{element}>{token_type}
  %shared = nv_tileas.convert_layout %tile : tensor<{rows}x{columns}x{element}>
    -> tensor<{rows}x{columns}x{element}, #nv_tileas<space smem>>
  "test.op"(%shared) : (tensor<{rows}x{columns}x{element}, #nv_tileas<space smem>>) -> ()
"""

STORE = """
  %a, %b = "test.op"() : () -> (tensor<64x16xf16>, tensor<16x64xf16>)
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = nv_tileas.dot %a, %b, %none {{atom = #nv_tileas<atom mma_f16_f16_f32>}}
    : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  nv_tileas.tiled_store %sum, %view[%at, %at] {{{attributes} atom = #nv_tileas<atom stg>}}
    : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
"""

FACTS = """%q = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<{element}, 1>
  %e = nv_tileaa.assume %n, #nv_tileaa.div_by<4> : i32
  %t = nv_tileaa.assume %s, #nv_tileaa.div_by<8> : i32"""

LEGAL: Mapping[str, object] = {
    "element": "f16",
    "facts": FACTS,
    "pointer": "%q",
    "offset": "",
    "extent": "%e",
    "strides": "%t : i32",
    "inner": 1,
    "rows": 64,
    "columns": 64,
    "use": LOAD,
    "token_result": "",
    "token_type": "",
    "more": "",
    "attributes": "",
}

AFTER = {
    "more": " after %token : !nv_tileaa.mem_token",
    "token_result": ", %next",
    "token_type": ", !nv_tileaa.mem_token",
}


def chosen(**changes: object) -> TiledLoadOp | TiledStoreOp:
    """What becomes of the access of a kernel that differs from the legal one so."""
    facts = {**LEGAL, **changes}
    filled = {key: str(facts[key]).format(**facts) for key in ("facts", "use")}
    module = parse(TEXT.format(**{**facts, **filled}))
    for _ in range(2):
        TileasChooseTma().apply(Context(), module)
        verify_module(module)
    (found,) = (op for op in module.walk() if isinstance(op, TiledLoadOp | TiledStoreOp))
    return found


def test_the_legal_load_is_of_tma() -> None:
    found = chosen()
    assert found.atom.data.family == "tma_load"
    assert NOT_BY_TMA not in found.attributes


def test_the_legal_store_is_of_tma() -> None:
    found = chosen(use=STORE, element="f32")
    assert found.atom.data.family == "tma_store"
    assert NOT_BY_TMA not in found.attributes


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"attributes": "allow_tma = false,"}, "allow_tma is false"),
        ({"attributes": "padding_value = 1.0 : f16,"}, "it is padded with 1.000000e+00 : f16"),
        ({"pointer": "%p"}, "its array begins at multiples of 1 bytes as far as is known, not of"),
        ({"strides": "%s : i32"}, "its rows are apart by multiples of 2 bytes as far as is known"),
        ({"inner": 2}, "elements of its rows are not known to lie side by side"),
        ({"columns": 4}, "rows of its tile have 8 bytes, no multiple of 16"),
        ({"rows": 512, "columns": 16}, "an extent of its tile is 512, and of boxes at most 256"),
        ({"offset": " offset %at"}, "address, extents and strides of its array are not all"),
        ({"element": "i1", "columns": 128}, "tensor maps have no elements i1"),
        (
            {"use": f"scf.execute_region {{{{ {LOAD} scf.yield }}}}"},
            "it is in a region of which it is not known how often it runs",
        ),
        ({"use": STORE, "element": "f32", "pointer": "%p"}, "its array begins at multiples of 1"),
        ({"use": STORE, "element": "f32", "extent": "%n"}, "its rows have multiples of 4 bytes"),
        ({"use": STORE, "element": "f32", "attributes": "allow_tma = false,"}, "allow_tma is"),
    ],
)
def test_why_not_is_said(changes: Mapping[str, object], reason: str) -> None:
    found = chosen(**changes)
    said = found.attributes[NOT_BY_TMA]
    assert isinstance(said, StringAttr)
    assert said.data.startswith(reason)
    assert found.atom.data.family in ("ldg", "stg")


def test_what_comes_after_a_store_is_not_loaded_by_tma() -> None:
    """A token that comes first is none of another access."""
    assert chosen(**{**AFTER, "more": AFTER["more"].replace("%token", "%first")}).allow_tma
    store = """
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %token = nv_tileas.tiled_store %none, %view[%at, %at] after %first : !nv_tileaa.mem_token
    {{atom = #nv_tileas<atom unknown_copy>}}
    : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileaa.mem_token
"""
    facts = {**LEGAL, **AFTER}
    filled = {"facts": FACTS.format(**facts), "use": (store + LOAD).format(**facts)}
    module = parse(TEXT.format(**{**facts, **filled}))
    TileasChooseTma().apply(Context(), module)
    (load,) = (op for op in module.walk() if isinstance(op, TiledLoadOp))
    assert load.attributes[NOT_BY_TMA] == StringAttr("it comes after other accesses to memory")


@pytest.mark.parametrize("order", ["acquire", "acq_rel", "release"])
def test_loads_come_behind_an_update_that_acquires(order: str) -> None:
    """Another one that orders more than it has to is named."""
    update = f"""
  %one = arith.constant 1 : i32
  %was, %token = nv_tileas.atomic_rmw add %one, %counter {order} gpu after %first
    : !nv_tileaa.mem_token : i32, !nv_tileaa.ptr<i32, 1> -> i32, !nv_tileaa.mem_token
"""
    facts = {**LEGAL, **AFTER}
    filled = {"facts": FACTS.format(**facts), "use": (update + LOAD).format(**facts)}
    text = TEXT.format(**{**facts, **filled})
    module = parse(text.replace("@kernel(", "@kernel(%counter: !nv_tileaa.ptr<i32, 1>, "))
    TileasChooseTma().apply(Context(), module)
    (load,) = (op for op in module.walk() if isinstance(op, TiledLoadOp))
    if order != "release":
        assert load.allow_tma
        return
    said = load.attributes[NOT_BY_TMA]
    assert isinstance(said, StringAttr)
    assert said.data.endswith("an atomic update is release; a relaxed one orders nothing")


def test_tiles_that_are_used_in_registers_too_come_by_tma() -> None:
    use = (
        LOAD
        + """
  "test.op"(%tile) : (tensor<{rows}x{columns}x{element}>) -> ()
"""
    )
    found = chosen(use=use)
    assert isinstance(found.atom.data, TmaAtom)
    assert NOT_BY_TMA not in found.attributes


def test_what_each_of_many_steps_reads_twice_is_visited_once() -> None:
    """A tile that is doubled 40 times is on 2**40 paths from what is stored."""
    doubled = "\n".join(
        f"  %d{k} = arith.addf {source}, {source} : tensor<64x64xf32>"
        for k, source in enumerate(["%sum", *(f"%d{k}" for k in range(39))])
    )
    store = STORE.replace("tiled_store %sum", "tiled_store %d39")
    head, mark, tail = store.partition("  nv_tileas.tiled_store")
    found = chosen(element="f32", use=head + doubled + "\n" + mark + tail)
    assert NOT_BY_TMA not in found.attributes
