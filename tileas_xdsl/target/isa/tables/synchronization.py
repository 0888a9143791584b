"""Forms of instructions between threads: warps, barriers, fences, mbarriers.

Source: PTX ISA 9.7.9.6 (shfl), 9.7.13 (parallel synchronisation), checked against ptxas 13.
"""

from __future__ import annotations

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import form
from tileas_xdsl.target.isa.requirements import since
from tileas_xdsl.target.isa.tables.warps import SHUFFLES

_SYNC = since((6, 0), 30)
_CLUSTER = since((7, 8), 90)
_MBARRIER = since((7, 0), 80)
_REMOTE = since((8, 0), 90)
_RELAXED = since((8, 6), 90)
_FLOATS = since((8, 6), 100, Feature.REDUX_F32)
_OWN = ("shared", "shared::cta")
_SCOPES = ("cta", "cluster")

WARPS = (
    form("shfl.sync.mode.b32", "d|p:pred, a, b:b32, c:b32, 0xffffffff", _SYNC, mode=SHUFFLES),
    form("vote.sync.mode.pred", "d, a:pred, 0xffffffff", _SYNC, mode=("all", "any", "uni")),
    form("vote.sync.mode.b32", "d, a:pred, 0xffffffff", _SYNC, mode=("ballot",)),
    form("match.mode.sync.type", "d:b32, a, 0xffffffff", since((6, 0), 70),
         mode=("any",), type=("b32", "b64")),
    form("match.mode.sync.type", "d:b32|p:pred, a, 0xffffffff", since((6, 0), 70),
         mode=("all",), type=("b32", "b64")),
    form("redux.sync.operation.type", "d, a, 0xffffffff", _MBARRIER,
         operation=("add", "min", "max"), type=("u32", "s32")),
    form("redux.sync.operation.type", "d, a, 0xffffffff", _MBARRIER,
         operation=("and", "or", "xor"), type=("b32",)),
    form("redux.sync.operation{.abs}{.NaN}.type", "d, a, 0xffffffff", _FLOATS,
         operation=("min", "max"), type=("f32",)),
    form("elect.sync", "d:b32|p:pred, 0xffffffff", since((8, 0), 90)),
    form("activemask.b32", "d", since((6, 2), 30)),
    form("bar.warp.sync", "0xffffffff", _SYNC),
)  # fmt: skip

BARRIERS = (
    *(
        row
        for head, needs in (("bar{.cta}", since()), ("barrier{.cta}", _SYNC))
        for aligned in ("{.aligned}" * (head[3] == "r"),)
        for row in (
            form(f"{head}.sync{aligned}", "1, 64?", needs),
            form(f"{head}.arrive{aligned}", "1, 64", needs),
            form(f"{head}.red.operation{aligned}.u32", "d, 1, 64?, a:pred", needs,
                 operation=("popc",)),
            form(f"{head}.red.operation{aligned}.pred", "d, 1, 64?, a:pred", needs,
                 operation=("and", "or")),
        )
    ),
    form("barrier.cluster.arrive{.semantics}{.aligned}", "", _CLUSTER,
         semantics=("release",)),
    form("barrier.cluster.arrive.semantics{.aligned}", "", since((8, 0), 90),
         semantics=("relaxed",)),
    form("barrier.cluster.wait{.semantics}{.aligned}", "", _CLUSTER, semantics=("acquire",)),
    form("membar.level", "", level=("cta", "gl", "sys")),
    form("fence.scope", "", since((6, 0), 70), scope=("cta", "gpu", "sys")),
    form("fence.semantics.scope", "", since((6, 0), 70),
         semantics=("acq_rel", "sc"), scope=("cta", "gpu", "sys")),
    form("fence{.semantics}.scope", "", _CLUSTER,
         semantics=("acq_rel", "sc"), scope=("cluster",)),
    form("fence.semantics.scope", "", since((8, 6), 90),
         semantics=("acquire", "release"), scope=("cta", "cluster", "gpu", "sys")),
    form("fence.mbarrier_init.release.cluster", "", since((8, 0), 90)),
    form("fence.proxy.async", "", since((8, 0), 90)),
    form("fence.proxy.async.space", "", since((8, 0), 90),
         space=("global", "shared::cta", "shared::cluster")),
    form("fence.proxy.alias", "", since((7, 5), 70)),
    form("fence.proxy.tensormap::generic.semantics.scope", "[a], 128", since((8, 3), 90),
         semantics=("acquire",), scope=("cta", "cluster", "gpu", "sys")),
    form("fence.proxy.tensormap::generic.semantics.scope", "", since((8, 3), 90),
         semantics=("release",), scope=("cta", "cluster", "gpu", "sys")),
    form("fence.proxy.async::generic.semantics.sync_restrict::shared::cluster.cluster", "",
         since((8, 6), 90), semantics=("acquire",)),
    form("fence.proxy.async::generic.semantics.sync_restrict::shared::cta.cluster", "",
         since((8, 6), 90), semantics=("release",)),
)  # fmt: skip

MBARRIERS = (
    form("mbarrier.init{.space}.b64", "[a], b:u32", _MBARRIER, space=_OWN),
    form("mbarrier.inval{.space}.b64", "[a]", _MBARRIER, space=_OWN),
    *(
        row
        for name in ("mbarrier.arrive", "mbarrier.arrive_drop")
        for row in (
            form(f"{name}{{.space}}.b64", "d, [a]", _MBARRIER, space=_OWN),
            form(f"{name}{{.space}}.b64", "d, [a], b:u32", since((7, 8), 90), space=_OWN),
            form(f"{name}{{.space}}.b64", "_, [a], b:u32?", _REMOTE,
                 space=(*_OWN, "shared::cluster")),
            form(f"{name}.noComplete{{.space}}.b64", "d, [a], b:u32", _MBARRIER, space=_OWN),
            form(f"{name}.semantics.scope{{.space}}.b64", "d, [a]", _REMOTE,
                 semantics=("release",), scope=_SCOPES, space=_OWN),
            form(f"{name}.noComplete.semantics.scope{{.space}}.b64", "d, [a], b:u32", _REMOTE,
                 semantics=("release",), scope=("cta",), space=_OWN),
            form(f"{name}.semantics.scope{{.space}}.b64", "_, [a], b:u32?", _REMOTE,
                 semantics=("release",), scope=_SCOPES, space=(*_OWN, "shared::cluster")),
            form(f"{name}.semantics.scope{{.space}}.b64", "_, [a], b:u32?", _RELAXED,
                 semantics=("relaxed",), scope=_SCOPES, space=(*_OWN, "shared::cluster")),
            form(f"{name}.expect_tx{{.space}}.b64", "_, [a], b:u32", _REMOTE,
                 space=(*_OWN, "shared::cluster")),
            form(f"{name}.expect_tx.semantics.scope{{.space}}.b64", "_, [a], b:u32", _REMOTE,
                 semantics=("release",), scope=_SCOPES, space=(*_OWN, "shared::cluster")),
            form(f"{name}.expect_tx.semantics.scope{{.space}}.b64", "_, [a], b:u32",
                 _RELAXED, semantics=("relaxed",), scope=_SCOPES,
                 space=(*_OWN, "shared::cluster")),
        )
    ),
    *(
        row
        for name in ("mbarrier.expect_tx", "mbarrier.complete_tx")
        for row in (
            form(f"{name}{{.space}}.b64", "[a], b:u32", _REMOTE,
                 space=(*_OWN, "shared::cluster")),
            form(f"{name}.semantics.scope{{.space}}.b64", "[a], b:u32", _REMOTE,
                 semantics=("relaxed",), scope=_SCOPES, space=(*_OWN, "shared::cluster")),
        )
    ),
    *(
        row
        for name, first, hint in (
            ("mbarrier.test_wait", _MBARRIER, ""),
            ("mbarrier.try_wait", _CLUSTER, ", t:u32?"),
        )
        for parity, phase, needs in (("", "b64", first), (".parity", "u32", _CLUSTER))
        for row in (
            form(f"{name}{parity}{{.space}}.b64", f"p:pred, [a], b:{phase}{hint}", needs,
                 space=_OWN),
            form(f"{name}{parity}.semantics.scope{{.space}}.b64", f"p:pred, [a], b:{phase}{hint}",
                 _REMOTE, semantics=("acquire",), scope=_SCOPES, space=_OWN),
            form(f"{name}{parity}.semantics.scope{{.space}}.b64", f"p:pred, [a], b:{phase}{hint}",
                 _RELAXED, semantics=("relaxed",), scope=_SCOPES, space=_OWN),
        )
    ),
    form("mbarrier.pending_count.b64", "d:u32, a:b64", _MBARRIER),
)  # fmt: skip

_DONE = "mbarrier::complete_tx::bytes"
_LAUNCH = since((8, 6), 100)

LAUNCH_CONTROL = (
    form(f"clusterlaunchcontrol.try_cancel.async{{.shared::cta}}.{_DONE}.b128", "[s], [s]",
         _LAUNCH),
    form(f"clusterlaunchcontrol.try_cancel.async{{.shared::cta}}.{_DONE}.multicast::cluster::all"
         ".b128", "[s], [s]", _LAUNCH.joined(since((8, 6), 100, Feature.LAUNCH_MULTICAST))),
    form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "p:pred, a:b128", _LAUNCH),
    form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128", "<d:b32*4>, a:b128",
         _LAUNCH),
    form("clusterlaunchcontrol.query_cancel.axis.b32.b128", "d:b32, a:b128", _LAUNCH,
         axis=tuple(f"get_first_ctaid::{axis}" for axis in "xyz")),
)  # fmt: skip
"""Blocks that have not started are taken over by those that run: PTX ISA 9.7.13.17."""

FORMS = (*WARPS, *BARRIERS, *MBARRIERS, *LAUNCH_CONTROL)
