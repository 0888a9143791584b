"""Random traces."""

from hypothesis import strategies as st

from tileas_xdsl.interpreters.tile.tracing.trace import KINDS, Lane, Span, Trace

LANES = [Lane(f"block ({b}, 0, 0)", name) for b in range(2) for name in ("agent 0", "TMA", "a <b>")]


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """Generate a span of one of `LANES` within the first 90 cycles."""
    start = draw(st.integers(0, 60))
    kind = draw(st.sampled_from(KINDS))
    detail = {"for": "full[1] & more"} if kind == "wait" and draw(st.booleans()) else {}
    if draw(st.booleans()):
        detail["flow"] = str(draw(st.integers(0, 3)))
    return Span(
        draw(st.sampled_from(LANES)),
        draw(st.sampled_from(["load A", "x < y"])),
        start,
        start + draw(st.integers(0, 30)),
        kind,
        draw(st.none() | st.integers(0, 11)),
        detail,
    )


def traces(max_size: int = 30) -> st.SearchStrategy[Trace]:
    """Generate traces of arbitrary spans, including overlapping and empty ones."""
    return st.lists(spans(), max_size=max_size).map(Trace)


def pipeline_trace(blocks: int = 1, rounds: int = 6, depth: int = 2) -> Trace:
    """Return a trace of a pipeline: TMA copies of 700 cycles, tensor-core MMAs of 512."""
    trace = Trace()
    for b in range(blocks):
        lanes = ("agent 0", "TMA", "agent 1", "tensor core of agent 1")
        producer, tma, consumer, core = (Lane(f"block ({b}, 0, 0)", name) for name in lanes)
        issued, computed, freed = 0, 0, [0] * depth
        for i in range(rounds):
            stage, phase = i % depth, i // depth
            if freed[stage] > issued:
                awaited = {"for": f"empty[{stage}] phase {phase - 1}"}
                trace.add(Span(producer, "acquire", issued, freed[stage], "wait", stage, awaited))
                issued = freed[stage]
            flow = {"flow": str(i)}
            trace.add(Span(producer, "issue", issued, issued + 8, "work", stage, flow))
            landed = issued + 700 + 40 * (i % 2)
            copied = {"bytes": "16384", **flow}
            trace.add(Span(tma, "load A", issued, landed, "copy", stage, copied))
            issued += 8
            if landed > computed:
                awaited = {"for": f"full[{stage}] phase {phase}"}
                trace.add(Span(consumer, "wait", computed, landed, "wait", stage, awaited))
                computed = landed
            trace.add(Span(core, "dot 64x256x64", computed, computed + 512, "dot", stage))
            computed = freed[stage] = computed + 512
        trace.add(Span(consumer, "store", computed, computed + 300, "work"))
    return trace
