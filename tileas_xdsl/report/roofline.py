"""The roofline of a kernel: its loops below the roofs of a multiprocessor, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import log10

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.explanation.facts import KernelFacts, LoopFacts, Roofline
from tileas_xdsl.explanation.text import place_text
from tileas_xdsl.layout.output.svg import GREY, MIDDLE, document, text

RED = 'fill="#b03060"'
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 1020, 380, 70, 330, 30, 46


@dataclass(frozen=True)
class _Point:
    """A loop, or what is outside of loops."""

    label: str
    roofline: Roofline
    intensity: float
    rate: float | None
    """Flops a cycle, where the time of the loop is predicted."""
    most: str = ""
    """What says that the rate is the most possible, where a run was counted."""


@dataclass(frozen=True)
class _Axes:
    """Powers of ten that the axes span."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, intensity: float, rate: float) -> tuple[float, float]:
        """Return where a point lies, in pixels."""
        across, up = _share(intensity, self.x), _share(rate, self.y)
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + across * width, _TOP + (1 - up) * height


def _share(value: float, span: tuple[float, float]) -> float:
    return (log10(value) - span[0]) / (span[1] - span[0])


def draw_roofline(facts: KernelFacts) -> str:
    """An SVG of flops a cycle over flops a byte; empty without arithmetic on data of memory."""
    points = [
        point
        for loop in facts.loops
        if (point := _point(f"loop at {place_text(loop.location)}", loop.roofline, loop))
    ]
    if (outside := _point("outside of loops", facts.outside, None)) is not None:
        points.append(outside)
    if not points:
        return ""
    axes = _axes(points)
    drawn = [part for index, point in enumerate(points) for part in _drawn(point, index, axes)]
    roofs = dict.fromkeys(part for point in points for part in _roof(point.roofline, axes))
    return document(_WIDTH, _HEIGHT, [*_grid(axes), *roofs, *drawn])


def _point(label: str, found: Roofline | None, loop: LoopFacts | None) -> _Point | None:
    if found is None or not found.flops or not found.intensity:
        return None
    cycles = None if loop is None else loop.cycles
    most = "at most " if loop is not None and loop.counted_iterations else ""
    return _Point(label, found, found.intensity, found.flops / cycles if cycles else None, most)


def _axes(points: Sequence[_Point]) -> _Axes:
    """A tenth of what is shown to the left and below, ten times as much to the right."""
    low = min(min(p.intensity, p.roofline.ridge) for p in points) / 10
    high = max(max(p.intensity, p.roofline.ridge) for p in points) * 10
    peak = max(p.roofline.peak for p in points)
    rates = [p.rate for p in points if p.rate] + [p.roofline.bandwidth * low for p in points]
    return _Axes((log10(low), log10(high)), (log10(min(rates) / 2), log10(peak * 2)))


def _grid(axes: _Axes) -> Iterator[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for power in range(int(axes.x[0]), int(axes.x[1]) + 1):
        x = axes.at(10.0**power, 1)[0]
        if _LEFT <= x <= right:
            yield f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="#e4e4e4"/>'
            yield text(x, bottom + 15, f"{10.0**power:g}", f"{MIDDLE} {GREY}")
    for power in range(int(axes.y[0]), int(axes.y[1]) + 1):
        y = axes.at(1, 10.0**power)[1]
        if _TOP <= y <= bottom:
            yield f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#e4e4e4"/>'
            yield text(_LEFT - 6, y + 4, f"{10.0**power:g}", f'text-anchor="end" {GREY}')
    yield text((_LEFT + right) / 2, _HEIGHT - 10, "flops a byte of global memory", MIDDLE)
    yield text(12, 18, "flops a cycle of a multiprocessor")


def _roof(found: Roofline, axes: _Axes) -> Iterator[str]:
    """The slope of the bandwidth up to the ridge, then the peak of the unit."""
    low, high = 10 ** axes.x[0], 10 ** axes.x[1]
    (x, y), (at, top), (end, _) = (
        axes.at(low, found.bandwidth * low),
        axes.at(found.ridge, found.peak),
        axes.at(high, found.peak),
    )
    path = f"M{x:.1f} {y:.1f}L{at:.1f} {top:.1f}H{end:.1f}"
    yield f'<path d="{path}" fill="none" stroke="#333" stroke-width="1.5"/>'
    unit = "tensor cores" if found.product_flops else "lanes"
    yield text(end + 6, top + 4, f"{unit}: {found.peak:g} flops a cycle")
    yield text(x + 60, y - 8, f"L2 cache: {found.bandwidth} bytes a cycle")


def _drawn(point: _Point, number: int, axes: _Axes) -> Iterator[str]:
    """What is predicted, and the roof above it; labels beside the plot, one below the other."""
    roof = min(point.roofline.peak, point.roofline.bandwidth * point.intensity)
    x, top = axes.at(point.intensity, roof)
    y = axes.at(point.intensity, point.rate or roof)[1]
    share = f", {point.most}{100 * point.rate / roof:.0f} % of its roof" if point.rate else ""
    title = f"{point.label}: {point.intensity:.3g} flops a byte{share}"
    yield f'<path d="M{x:.1f} {top:.1f}V{y:.1f}" stroke="#b03060" stroke-dasharray="3 3"/>'
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {RED}><title>{escape(title)}</title></circle>'
    yield text(x + 8, y + 4, str(number), RED)
    line = _HEIGHT - _BOTTOM - 30 * number
    yield text(_WIDTH - _RIGHT + 6, line - 14, f"{number}: {point.label}", RED)
    yield text(_WIDTH - _RIGHT + 6, line, f"{point.intensity:.3g} flops a byte{share}")
