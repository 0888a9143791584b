"""Layouts of tiles with who asked for them, and conversions between layouts with their price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.explanation.facts import Conversion, TileLayout
from tileas_xdsl.explanation.register_holders import register_layout_of
from tileas_xdsl.explanation.resources import agents_in
from tileas_xdsl.layout.convert.plan import Cost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.convert.register_conversion import plan_of
from tileas_xdsl.threads.pipeline.occupancy import WARP
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Candidate
from tileas_xdsl.transforms.assign_layouts.driver import assign_layouts
from tileas_xdsl.transforms.assign_layouts.request import Decision, Preferences

MEMORIES: Mapping[Space, str] = {
    Space.RMEM: "registers",
    Space.SMEM: "shared",
    Space.TMEM: "tensor",
    Space.GMEM: "global",
}


def tile_layouts(unlaid: ModuleOp, target: Target) -> tuple[TileLayout, ...]:
    """Return what the layout assignment decides on a module that is not laid out, which stays."""
    module = unlaid.clone()
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    decisions = [one for f in functions for one in assign_layouts(f, target, Preferences())]
    return tuple(_layout(one) for one in decisions if one.choice is not None)


def _layout(decision: Decision) -> TileLayout:
    choice, group = decision.choice, decision.group
    assert choice is not None
    taken = list(choice.atoms.values())
    names = (f"%{value.name_hint}" for value in group.values if value.name_hint)
    dropped = (one.dropped for one in decision.candidates if one.dropped)
    owners = [value.owner for value in group.values if isinstance(value.owner, Operation)]
    first = owners[0] if owners else (taken[0].op if taken else None)
    memory = MEMORIES[taken[0].kind] if taken else MEMORIES[Space.RMEM]
    return TileLayout(
        tuple(dict.fromkeys(names)),
        tuple(group.shape),
        memory,
        str(choice.layout),
        ", ".join(dict.fromkeys(_asked(one) for one in taken)),
        None if first is None else location_of(first),
        len({str(one.layout) for one in decision.candidates}),
        tuple(dict.fromkeys(dropped)),
    )


def _asked(candidate: Candidate) -> str:
    place = location_of(candidate.op)
    line = "" if place is None else f" line {place.line}"
    return f"{candidate.op.name.rpartition('.')[2]}{line} ({candidate.atom})"


@dataclass(frozen=True)
class _Warps:
    """The warps that run each agent's body, and those of the block for all else."""

    block: int
    switches: Mapping[Operation, Sequence[int]]

    def around(self, op: Operation) -> int:
        region, parent = op.parent_region(), op.parent_op()
        while parent is not None and region is not None:
            if isinstance(parent, AgentSwitchOp) and parent in self.switches:
                return self.switches[parent][list(parent.agent_bodies).index(region)]
            region, parent = parent.parent_region(), parent.parent_op()
        return self.block


def conversions(tiles: ModuleOp, warps: int, target: Target) -> tuple[Conversion, ...]:
    """Return the conversions of a laid out kernel between layouts of registers."""
    switches: dict[Operation, list[int]] = {}
    for switch, agent in agents_in(tiles, warps, target):
        switches.setdefault(switch, []).append(agent.warps)
    known = _Warps(warps, switches)
    found = (_conversion(op, known.around(op) * WARP) for op in _conversions_in(tiles))
    return tuple(one for one in found if one is not None)


def _conversions_in(tiles: ModuleOp) -> Iterator[ConvertLayoutOp]:
    for op in tiles.walk():
        if isinstance(op, ConvertLayoutOp):
            yield op


def _conversion(op: ConvertLayoutOp, threads: int) -> Conversion | None:
    source, target = register_layout_of(op.source.type), register_layout_of(op.result.type)
    shape = tuple(shape_of(op.result.type) or ())
    if source is None or target is None:
        return None
    try:
        layouts = (RegisterLayout(source, shape, threads), RegisterLayout(target, shape, threads))
        plan = plan_of(*layouts, bits_of(element_of(op.result.type)))
    except (LayoutError, DiagnosticError):
        return None
    place, price = location_of(op), _price(plan.cost)
    return Conversion(
        place, str(source), str(target), shape, plan.kind, price, round(plan.cost.cycles)
    )


def _price(cost: Cost) -> str:
    """What a thread executes, and what goes through shared memory."""
    counts = {
        "shuffles": cost.shuffles,
        "selects": cost.alu,
        "stores": cost.stores,
        "loads": cost.loads,
        "wavefronts": cost.wavefronts,
        "bytes of shared memory": cost.shared_bytes,
        "barriers": cost.barriers,
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return said or "nothing: registers are renamed"
