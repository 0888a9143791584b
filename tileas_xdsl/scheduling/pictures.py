"""SVG of a scheduled loop: its dependence graph, and the reservations of one iteration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from tileas_xdsl.layout.output.svg import (
    GREY,
    MIDDLE,
    TITLE,
    document,
    pixels,
    stage_colour,
    text,
    ticks,
)
from tileas_xdsl.scheduling.loops.loop_scheduler import Scheduled
from tileas_xdsl.scheduling.resources.machine_model import lane
from tileas_xdsl.scheduling.schedule import Role

_BOX_WIDTH, _BOX_HEIGHT, _COLUMN, _LINE = 220, 34, 280, 70
_MARGIN, _TOP, _LABEL, _ROW, _WIDTH = 14, 56, 150, 26, 900
_LEGEND = 14 + _MARGIN
_AROUND = 30
"""How far edges run beside a column at most, past the boxes between their ends."""


def draw_graph(one: Scheduled) -> str:
    """The macro operations in layers of what they wait for; carried dependences are dashed."""
    nodes = one.found.graph.nodes
    layers = _layers(one)
    places: dict[int, tuple[int, int]] = {}
    for layer, members in layers.items():
        for column, index in enumerate(members):
            places[index] = (_MARGIN + _AROUND + column * _COLUMN, 60 + layer * _LINE)
    parts = [
        _arrow_head(),
        text(_MARGIN, 20, f"{len(nodes)} macro operations", TITLE),
        text(_MARGIN, 38, "cycles of a unit, and until its result; dashed: next iteration", GREY),
    ]
    for edge in one.found.graph.edges:
        source, target = places[edge.source.index], places[edge.target.index]
        parts.append(_edge(source, target, edge.distance))
    stages = [start // one.solution.ii for start in one.solution.starts]
    for node in nodes:
        x, y = places[node.index]
        cost, colour = one.found.costs[node.index], stage_colour(stages[node.index])
        lines = (node.name, f"{cost.unit} {cost.length}, result {cost.latency}")
        title = ", ".join(op.name for op in node.operations)
        parts.append(_box(x, y, _BOX_WIDTH, _BOX_HEIGHT, colour, title))
        parts += [text(x + 5, y + 14 + 14 * k, line) for k, line in enumerate(lines)]
    width = max(x for x, _ in places.values()) + _BOX_WIDTH + 80
    bottom = max(y for _, y in places.values()) + _BOX_HEIGHT + _MARGIN
    return document(width, bottom + _LEGEND, [*parts, *_legend(stages, bottom)])


def _legend(stages: Iterable[int], y: int) -> Iterator[str]:
    """The colour of each stage of the schedule."""
    for k, stage in enumerate(sorted({*stages})):
        x = _MARGIN + k * 90
        yield _box(x, y, 14, 14, stage_colour(stage), f"stage {stage}")
        yield text(x + 19, y + 11, f"stage {stage}")


def _layers(one: Scheduled) -> Mapping[int, Sequence[int]]:
    """The nodes by the longest way from what waits for nothing in its iteration."""
    depth: dict[int, int] = {}
    edges = [edge for edge in one.found.graph.edges if edge.distance == 0]
    for node in one.found.graph.nodes:
        depth[node.index] = 0
    for _ in depth:
        for edge in edges:
            after = depth[edge.source.index] + 1
            depth[edge.target.index] = max(depth[edge.target.index], after)
    layers: defaultdict[int, list[int]] = defaultdict(list)
    for index, layer in depth.items():
        layers[layer].append(index)
    return layers


def _edge(source: tuple[int, int], target: tuple[int, int], distance: int) -> str:
    x, y = source[0] + _BOX_WIDTH // 2, source[1] + _BOX_HEIGHT
    if not distance and source[0] == target[0] and target[1] - source[1] > _LINE:
        return _edge_beside(*source, target[1])
    if not distance:
        end = target[0] + _BOX_WIDTH // 2
        path = f"M{x} {y}C{x} {y + 20} {end} {target[1] - 20} {end} {target[1]}"
        return f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#head)"/>'
    x, y = source[0] + _BOX_WIDTH, source[1] + _BOX_HEIGHT // 2
    right = max(x, target[0] + _BOX_WIDTH) + 40
    end, top = target[0] + _BOX_WIDTH, target[1] + _BOX_HEIGHT // 2
    y, top = (y + 10, top - 10) if source == target else (y, top)
    path = f"M{x} {y}C{right} {y} {right} {top} {end} {top}"
    dashes = 'stroke-dasharray="4 3" marker-end="url(#head)"'
    return f'<path d="{path}" fill="none" stroke="#b03060" {dashes}/>'


def _edge_beside(x: int, y: int, below: int) -> str:
    """An edge to a box further down in the same column, to the left of those between.

    Edges of neighbouring layers run in lanes of their own.
    """
    left = x - _AROUND + y // _LINE % 4 * (_AROUND // 4)
    y, below = y + _BOX_HEIGHT // 2, below + _BOX_HEIGHT // 2
    path = f"M{x} {y}C{left} {y} {left} {y + 20} {left} {y + 40}"
    path += f"L{left} {below - 40}C{left} {below - 20} {left} {below} {x} {below}"
    return f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#head)"/>'


def draw_reservations(one: Scheduled) -> str:
    """An interval of the steady state: which operation of which replica has each unit when.

    What units are shared for cycle by cycle is summed up below them.
    """
    ii, scale = one.solution.ii, _WIDTH / one.solution.ii
    rows = list(_rows(one))
    names = list(dict.fromkeys(name for name, *_ in rows))
    lines = {name: _TOP + _ROW * k for k, name in enumerate(names)}
    bottom = _TOP + _ROW * len(names)
    title = f"an iteration every {ii} cycles, {one.found.model.replicas} replicas of the consumer"
    parts = [
        text(_MARGIN, 20, title, TITLE),
        text(_MARGIN, 38, "time in cycles", GREY),
        *_axis(ii, bottom),
    ]
    parts += [text(_MARGIN, y + 15, name) for name, y in lines.items()]
    for name, label, start, cycles, stage in rows:
        for begin, length in _wrapped(start % ii, cycles, ii):
            x, width = _LABEL + begin * scale, max(length * scale, 0.5)
            tooltip = f"{label}: {cycles} cycles from {start % ii}, stage {stage}"
            parts.append(_box(x, lines[name], width, _ROW - 4, stage_colour(stage), tooltip))
            if pixels(label) + 6 < width:
                parts.append(text(x + 3, lines[name] + 15, label))
    demands = one.found.problem.demands()
    for k, (unit, cycles) in enumerate(demands.items()):
        share = f"{unit}: {cycles} cycles, {100 * cycles // ii} %"
        parts.append(text(_LABEL + (k % 3) * 300, bottom + 40 + 16 * (k // 3), share))
    bottom += 40 + 16 * ((len(demands) + 2) // 3)
    parts += _legend((stage for *_, stage in rows), bottom)
    return document(_LABEL + _WIDTH + 40, bottom + _LEGEND, parts)


def _axis(ii: int, bottom: int) -> Iterator[str]:
    """Lines at round cycles, numbered below the rows."""
    for cycle in ticks(ii, 10):
        x = _LABEL + cycle * _WIDTH / ii
        yield f'<path d="M{x:g} {_TOP - 4}V{bottom}" stroke="#e4e4e4"/>'
        yield text(x, bottom + 14, str(cycle), f"{MIDDLE} {GREY}")


def _rows(one: Scheduled) -> Iterator[tuple[str, str, int, int, int]]:
    """Row, label, start, cycles and stage of each exclusive reservation of each replica."""
    found, ii = one.found, one.solution.ii
    for node in found.graph.nodes:
        role, start = found.roles[node.index], one.solution.starts[node.index]
        count = 1 if role is Role.PRODUCER else found.model.replicas
        for replica in range(count):
            for held in found.costs[node.index].reservations:
                if not held.exclusive:
                    continue
                own = held.unit == lane(role) and count > 1
                name = f"{role} {replica}" if own else held.unit
                begin = start + held.offset + replica * (ii // count)
                yield name, node.name, begin, held.cycles, start // ii


def _wrapped(begin: int, cycles: int, ii: int) -> Iterator[tuple[int, int]]:
    yield begin, min(cycles, ii - begin)
    if begin + cycles > ii:
        yield 0, begin + cycles - ii


def _box(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{colour}" '
        f'stroke="#666" stroke-width="0.5"><title>{escape(title)}</title></rect>'
    )


def _arrow_head() -> str:
    return (
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0 0L7 3L0 6z" fill="#555"/></marker></defs>'
    )
