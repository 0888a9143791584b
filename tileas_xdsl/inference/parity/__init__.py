"""The layouts that TileLang 0.1.15 infers for a program, decision by decision.

`infer` is the inference, `timeline` the visits that lead to its answer.
"""

from tileas_xdsl.inference.parity.inference import infer, timeline

__all__ = ["infer", "timeline"]
