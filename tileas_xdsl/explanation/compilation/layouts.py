"""Layouts of tiles with who asked for them, and conversions between layouts with their price."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.dialects.ir_queries import defined_functions
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.explanation.facts import Conversion, TileLayout
from tileas_xdsl.layout.convert.plan import Cost, Plan
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.convert.register_conversion import observed_conversions
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Candidate
from tileas_xdsl.transforms.assign_layouts.driver import assign_layouts
from tileas_xdsl.transforms.assign_layouts.request import Decision, Preferences
from tileas_xdsl.transforms.conversion.convert_tileas_to_cute_nvgpu import ConvertTileasToCuteNvgpu

MEMORIES: Mapping[Space, str] = {
    Space.RMEM: "registers",
    Space.SMEM: "shared",
    Space.TMEM: "tensor",
    Space.GMEM: "global",
}


def tile_layouts(unlaid: ModuleOp, target: Target) -> tuple[TileLayout, ...]:
    """Return what the layout assignment decides on a module that is not laid out, which stays."""
    module = unlaid.clone()
    decisions = [
        one for f in defined_functions(module) for one in assign_layouts(f, target, Preferences())
    ]
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


def conversions(tiles: ModuleOp) -> tuple[Conversion, ...]:
    """Return the conversions of a laid out kernel between layouts of registers, each once.

    The kernel, of which this lowers a copy to threads, is one that can be lowered.
    """
    found: list[Conversion] = []
    with observed_conversions(lambda op, plan: found.append(_conversion(op, plan))):
        ConvertTileasToCuteNvgpu().apply(Context(), tiles.clone())
    return tuple(sorted(dict.fromkeys(found), key=lambda one: -one.cycles))


def _conversion(op: Operation, plan: Plan) -> Conversion:
    target = plan.target
    to = str(target.layout) if isinstance(target, RegisterLayout) else "elements by index"
    return Conversion(
        location_of(op),
        op.name,
        str(plan.source.layout),
        to,
        plan.source.shape,
        plan.kind,
        _price(plan.cost),
        round(plan.cost.cycles),
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
