"""Forms of asynchronous copies: cp.async, bulk copies, copies of tensors, tensor maps.

Source: PTX ISA 9.7.9.25 to 9.7.9.28, checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import Requirement, since
from tileas_xdsl.target.isa.tables.asynchronous import (
    BULK_REDUCTIONS,
    TENSOR_REDUCTIONS,
    TENSORMAP_FIELDS,
)

Forms = Iterator[InstructionForm]

_AMPERE = since((7, 0), 80)
_HOPPER = since((8, 0), 90)
_LOCAL = since((8, 6), 90)
"""Copies into the own block's shared memory by that name."""
_TEAM = since((9, 1), 90)
"""Bulk copies to the memory of several devices (PTX ISA 9.7.9.25, multimem.cp.async.bulk)."""
_GATHER = since((8, 6), 100, Feature.TILE_GATHER)
_OWN = ("shared", "shared::cta")
_HINT = "p:b64?L2::cache_hint"
_DONE = "mbarrier::complete_tx::bytes"


def _cp_async() -> Forms:
    prefetches = ("L2::64B", "L2::128B", "L2::256B")
    for cache, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        yield form("cp.async.cache.space.global{.L2::cache_hint}{.prefetch}",
                   f"[s], [a], {size}, n:u32?, {_HINT}", _AMPERE,
                   cache=(cache,), space=_OWN, prefetch=prefetches)  # fmt: skip
    yield form("cp.async.commit_group", "", _AMPERE)
    yield form("cp.async.wait_group", "1", _AMPERE)
    yield form("cp.async.wait_all", "", _AMPERE)
    yield form("cp.async.mbarrier.arrive{.noinc}{.space}.b64", "[s]", _AMPERE, space=_OWN)


def _bulk() -> Forms:
    yield form(f"cp.async.bulk.to.from.{_DONE}{{.multicast::cluster}}{{.L2::cache_hint}}",
               f"[s], [a], n:u32, [s], m:u16?multicast::cluster, {_HINT}", _HOPPER,
               **{"to": ("shared::cluster",), "from": ("global",)})  # fmt: skip
    yield form(f"cp.async.bulk.to.from.{_DONE}{{.L2::cache_hint}}",
               f"[s], [a], n:u32, [s], {_HINT}", _LOCAL,
               **{"to": ("shared::cta",), "from": ("global",)})  # fmt: skip
    yield form(f"cp.async.bulk.to.from.{_DONE}", "[s], [s], n:u32, [s]", _HOPPER,
               **{"to": ("shared::cluster",), "from": ("shared::cta",)})  # fmt: skip
    for name, needs, masked, hint in (
        ("cp.async.bulk", _HOPPER, since((8, 6), 100), True),
        ("multimem.cp.async.bulk", _TEAM, since((9, 1), 100), False),
    ):
        hints = "{.L2::cache_hint}" * hint
        yield form(f"{name}.to.from.bulk_group{hints}", f"[a], [s], n:u32{f', {_HINT}' * hint}",
                   needs, **{"to": ("global",), "from": ("shared::cta",)})  # fmt: skip
        yield form(f"{name}.to.from.bulk_group{hints}.cp_mask",
                   f"[a], [s], n:u32{f', {_HINT}' * hint}, m:u16", masked,
                   **{"to": ("global",), "from": ("shared::cta",)})  # fmt: skip
    yield form("cp.async.bulk.prefetch.L2.global{.L2::cache_hint}", f"[a], n:u32, {_HINT}", _HOPPER)
    yield form("cp.async.bulk.commit_group", "", _HOPPER)
    yield form("cp.async.bulk.wait_group{.read}", "1", _HOPPER)
    for to, operations in BULK_REDUCTIONS.items():
        for operation, types in operations.items():
            yield from _bulk_reductions(to, operation, types)


def _bulk_reductions(to: str, operation: str, types: tuple[str, ...]) -> Forms:
    if to != "global":
        yield form(f"cp.reduce.async.bulk.to.shared::cta.{_DONE}.operation.type",
                   "[s], [s], n:u32, [s]", _HOPPER,
                   to=(to,), operation=(operation,), type=types)  # fmt: skip
        return
    for type in types:
        flush = ".noftz" * (type in ("f16", "bf16") and operation == "add")
        yield form(
            "cp.reduce.async.bulk.to.shared::cta.bulk_group{.L2::cache_hint}"
            f".operation{flush}.type",
            f"[a], [s], n:u32, {_HINT}", _HOPPER,
            to=(to,), operation=(operation,), type=(type,),
        )  # fmt: skip
        yield form(
            f"multimem.cp.reduce.async.bulk.to.shared::cta.bulk_group.operation{flush}.type",
            "[a], [s], n:u32", _TEAM, to=(to,), operation=(operation,), type=(type,),
        )  # fmt: skip


RANKS = ("1d", "2d", "3d", "4d", "5d")


def _tensors() -> Forms:
    for to, needs, gather in (
        ("shared::cluster", _HOPPER, _GATHER),
        ("shared::cta", _LOCAL, since((8, 6), 100)),
    ):
        for rank, mode, need in _boxes(needs, gather):
            yield from _tensor_loads(to, rank, mode, need)
    for rank in RANKS:
        count = int(rank[0])
        modes = [("tile", f"<c:s32*{count}>", _HOPPER)]
        modes += [("tile::scatter4", "<c:s32*5>", _GATHER)] if count == 2 else []
        modes += [("im2col_no_offs", f"<c:s32*{count}>", _HOPPER)] if count > 2 else []
        for mode, at, needs in modes:
            shown = "{.mode}" if mode == "tile" else ".mode"
            yield form(
                f"cp.async.bulk.tensor.rank.global.shared::cta{shown}.bulk_group{{.L2::cache_hint}}",
                f"[t {at}], [s], {_HINT}", needs, rank=(rank,), mode=(mode,),
            )  # fmt: skip
            if mode == "tile::scatter4":
                continue
            yield form(
                "cp.reduce.async.bulk.tensor.rank.global.shared::cta.operation"
                f"{shown}.bulk_group{{.L2::cache_hint}}",
                f"[t {at}], [s], {_HINT}", needs,
                rank=(rank,), mode=(mode,), operation=TENSOR_REDUCTIONS,
            )  # fmt: skip
    for rank, mode, needs in _boxes(_HOPPER, _GATHER):
        count = 5 if "gather" in mode else int(rank[0])
        offsets = f", <o:u16*{int(rank[0]) - 2}>" if mode == "im2col" else ""
        shown = "{.mode}" if mode == "tile" else ".mode"
        yield form(f"cp.async.bulk.prefetch.tensor.rank.L2.global{shown}{{.L2::cache_hint}}",
                   f"[t <c:s32*{count}>]{offsets}, {_HINT}", needs,
                   rank=(rank,), mode=(mode,))  # fmt: skip


def _boxes(needs: Requirement, gather: Requirement) -> Iterator[tuple[str, str, Requirement]]:
    """Ranks, modes and requirements of loads."""
    for rank in RANKS:
        yield rank, "tile", needs
        if rank == "2d":
            yield rank, "tile::gather4", needs.joined(gather)
        if int(rank[0]) > 2:
            yield rank, "im2col", needs


def _tensor_loads(to: str, rank: str, mode: str, needs: Requirement) -> Forms:
    count = 5 if "gather" in mode else int(rank[0])
    offsets = f", <o:u16*{int(rank[0]) - 2}>" if mode == "im2col" else ""
    shown = "{.mode}" if mode == "tile" else ".mode"
    cast = "{.multicast::cluster}" * (to == "shared::cluster")
    mask = ", m:u16?multicast::cluster" * (to == "shared::cluster")
    head = f"cp.async.bulk.tensor.rank.to.global{shown}.{_DONE}{cast}"
    operands = f"[s], [t <c:s32*{count}>], [s]{offsets}{mask}, {_HINT}"
    choices = {"rank": (rank,), "to": (to,), "mode": (mode,)}
    yield form(f"{head}{{.L2::cache_hint}}", operands, needs, **choices)
    yield form(f"{head}.group{{.L2::cache_hint}}", operands,
               needs.joined(since((8, 6), 100, Feature.TMA_CTA_PAIR)),
               group=("cta_group::1", "cta_group::2"), **choices)  # fmt: skip


_MAPS = since((8, 3), 90, Feature.TENSORMAP)


def _maps() -> Forms:
    wide = {"global_address", "global_stride"}
    literals = {"elemtype", "interleave_layout", "swizzle_mode", "fill_mode"}
    for field, has_ordinal in TENSORMAP_FIELDS.items():
        type = "b64" if field in wide else "b32"
        value = "0" if field in literals else f"b:{type}"
        operands = f"[a], 0, {value}" if has_ordinal else f"[a], {value}"
        yield form(f"tensormap.replace.tile.field{{.space}}.b1024.{type}", operands, _MAPS,
                   field=(field,), space=("global", "shared::cta"))  # fmt: skip
    yield form("tensormap.replace.tile.field{.space}.b1024.b32", "[a], 0",
               _MAPS.joined(since((8, 6), 100)), field=("swizzle_atomicity",),
               space=("global", "shared::cta"))  # fmt: skip
    yield form("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope"
               ".sync.aligned", "[a], [s], 128", since((8, 3), 90),
               scope=("cta", "cluster", "gpu", "sys"))  # fmt: skip


FORMS = (*_cp_async(), *_bulk(), *_tensors(), *_maps())
