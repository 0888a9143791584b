"""Timelines: every span is a box of its colour, all inside the picture, and no text covers text."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interpreters.tile.tracing.traces import pipeline_trace, traces
from tileas_xdsl.interpreters.tile.tracing import timeline
from tileas_xdsl.interpreters.tile.tracing.timeline import draw_timeline
from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace
from tileas_xdsl.layout.output.svg import ticks

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


def number(node: ElementTree.Element, name: str) -> float:
    return float(node.get(name, "0"))


def boxes_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [r for r in root.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]


def extent(node: ElementTree.Element) -> Box:
    """Left, top, right and bottom of a text of a monospaced font or of a rectangle."""
    x, y = number(node, "x"), number(node, "y")
    if node.tag == f"{SVG}rect":
        return x, y, x + number(node, "width"), y + number(node, "height")
    size = float(node.get("font-size", "11"))
    width = len(node.text or "") * 0.602 * size
    shift = {"middle": width / 2, "end": width}.get(node.get("text-anchor", ""), 0)
    return x - shift, y - 0.8 * size, x - shift + width, y + 0.2 * size


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def check_geometry(root: ElementTree.Element) -> None:
    width, height = number(root, "width"), number(root, "height")
    drawn = [n for n in root if n.tag in (f"{SVG}rect", f"{SVG}text")]
    for node in drawn:
        left, top, right, bottom = extent(node)
        assert left >= 0, node.text
        assert top >= 0, node.text
        assert right <= width + 0.01, node.text
        assert bottom <= height, node.text
    texts = [extent(n) for n in drawn if n.tag == f"{SVG}text"]
    for k, one in enumerate(texts):
        assert not any(overlap(one, other) for other in texts[k + 1 :])
    rows: dict[float, list[Box]] = {}
    for box in map(extent, boxes_of(root)):
        rows.setdefault(box[1], []).append(box)
    for row in rows.values():
        row.sort()
        assert all(a[2] <= b[0] + 0.51 for a, b in pairwise(row)), "at most the least width"


@given(traces(max_size=12), st.sampled_from([300, 1200]))
def test_any_trace_is_drawn_inside_its_picture(trace: Trace, width: int) -> None:
    root = ElementTree.fromstring(draw_timeline(trace, width))
    check_geometry(root)
    assert len(boxes_of(root)) == len(trace.spans)
    headings = [t.text for t in root.iter(f"{SVG}text") if t.get("font-weight")][1:]
    assert sorted(filter(None, headings)) == sorted({lane.block for lane in trace.lanes})


def test_a_box_lies_where_and_as_long_as_its_span() -> None:
    trace = pipeline_trace(rounds=6, depth=3)
    root = ElementTree.fromstring(draw_timeline(trace))
    tooltips = [(b, b.findtext(f"{SVG}title", "")) for b in boxes_of(root)]
    places = [
        (*map(int, re.findall(r"^(\d+) to (\d+), ", text, re.MULTILINE)[0]), box)
        for box, text in tooltips
    ]
    left = number(min((box for _, _, box in places), key=lambda b: number(b, "x")), "x")
    scale = (max(number(b, "x") + number(b, "width") for _, _, b in places) - left) / trace.end
    for start, end, box in places:
        assert number(box, "x") == pytest.approx(left + start * scale, abs=0.02)
        assert number(box, "width") == pytest.approx((end - start) * scale, abs=0.02)


def test_stages_have_colours_and_waits_are_hatched_and_labelled() -> None:
    root = ElementTree.fromstring(draw_timeline(pipeline_trace(rounds=6, depth=3)))
    fills: dict[str, set[str | None]] = {}
    for box in boxes_of(root):
        title = box.findtext(f"{SVG}title", "").splitlines()[0]
        fills.setdefault(title, set()).add(box.get("fill"))
    assert {fills[f"load A, stage {k}"].pop() for k in range(3)} == set(timeline.STAGE_COLOURS[:3])
    assert fills["dot 64x256x64, stage 1"] == {timeline.STAGE_COLOURS[1]}
    assert fills["waits for full[0] phase 0"] == {"url(#wait)"}
    assert fills["store"] == {timeline.PLAIN_COLOUR}
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert "waits for full[0] phase 0" in texts
    assert texts[-5:] == ["stage 0", "stage 1", "stage 2", "no stage", "waits"]


@pytest.mark.parametrize(
    ("cycles", "label"),
    [
        (900, "waits for stage 0 of %p to be filled (full[0] of %p, parity 1)"),
        (370, "stage 0 of %p to be filled (full[0] of %p, parity 1)"),
        (200, "stage 0 of %p to be filled"),
        (110, "full[0] of %p"),
        (60, "full[0]"),
        (20, None),
    ],
)
def test_a_wait_has_the_longest_label_that_fits(cycles: int, label: str | None) -> None:
    agent = Lane("block (0, 0, 0)", "agent 0")
    awaited = {"for": f"stage 0 of {agent.block} %p to be filled (full[0] of %p, parity 1)"}
    wait = Span(agent, "wait", 0, cycles, "wait", 0, awaited)
    root = ElementTree.fromstring(draw_timeline(Trace([wait, Span(agent, "", 999, 1000, "work")])))
    labels = [t.text for t in root.iter(f"{SVG}text") if t.get("pointer-events")]
    assert labels == ([] if label is None else [label])


def test_more_stages_than_colours_share_them() -> None:
    lane = Lane("block (0, 0, 0)", "TMA")
    trace = Trace([Span(lane, "load", k, k + 1, "copy", k) for k in range(10)])
    texts = [t.text for t in ElementTree.fromstring(draw_timeline(trace)).iter(f"{SVG}text")]
    assert "stages 0, 8" in texts
    assert "stage 7" in texts


def test_long_traces_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = pipeline_trace(blocks=20)
    svg = draw_timeline(trace)
    shown = len(re.findall(r"<text[^>]*>block", svg))
    assert f"the first {shown} of 20 blocks" in svg
    assert 1 < shown < 20
    monkeypatch.setattr(timeline, "MAX_SPANS", 10)
    monkeypatch.setattr(timeline, "MAX_ROWS", 1)
    svg = draw_timeline(trace)
    root = ElementTree.fromstring(svg)
    check_geometry(root)
    assert len(boxes_of(root)) == 10
    assert re.search(rf"the first 1 of 20 blocks; the first \d+ of {trace.end} cycles", svg)


def test_text_is_escaped() -> None:
    trace = Trace([Span(Lane("<b>", "a & b"), "x < y", 0, 5, "work", None, {"op": '"<&>"'})])
    root = ElementTree.fromstring(draw_timeline(trace))
    assert {"<b>", "a & b", "x < y"} <= {t.text for t in root.iter(f"{SVG}text")}
    assert boxes_of(root)[0].findtext(f"{SVG}title", "").endswith('op: "<&>"')


@given(st.integers(0, 10**7), st.integers(1, 20))
def test_ticks_are_round_and_neither_few_nor_many(end: int, most: int) -> None:
    found = ticks(end, most)
    assert found[0] == 0
    assert found[-1] <= end
    assert str(found.step).rstrip("0") in ("1", "2", "5", "")
    assert len(found) <= most + 1
    assert found.step == 1 or end // found.step >= most // 3


def test_the_same_trace_gives_the_same_picture() -> None:
    assert draw_timeline(pipeline_trace(2)) == draw_timeline(pipeline_trace(2))
