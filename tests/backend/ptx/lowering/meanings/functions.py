"""Unary float functions."""

from __future__ import annotations

import numpy as np

from tests.backend.ptx.lowering.meanings.meaning import Meaning, vector_of, wide

FUNCTIONS = [
    Meaning(
        f"{op.split()[0]}-{vector_of(element, count)}",
        (element,),
        element,
        f"%r = math.{op.replace(' ', ' %x0 ', 1) if ' ' in op else f'{op} %x0'} "
        f": {vector_of(element, count)}",
        wide(function),
        count,
        tolerance=tolerance if element == "f32" else 2**-7,
        absolute=2.0**-22 if op.startswith("log") else 0.0,
        positive=positive,
    )
    for op, function, tolerance, positive in (
        ("exp2", np.exp2, 2e-6, False),
        ("log10 fastmath<afn>", np.log10, 2e-6, True),
        ("exp fastmath<afn>", np.exp, 2e-6, False),
        ("log2 fastmath<afn>", np.log2, 2e-6, True),
        ("log fastmath<afn>", np.log, 2e-6, True),
        ("sqrt", np.sqrt, 0.0, True),
        ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-6, True),
        ("tanh fastmath<afn>", np.tanh, 2**-10, False),
        ("absf", np.abs, 0.0, False),
        ("floor", np.floor, 0.0, False),
        ("ceil", np.ceil, 0.0, False),
        ("roundeven", np.round, 0.0, False),
    )
    for element, count in (("f32", 4), ("f16", 4), ("bf16", 2))
]

_ANGLES = """%c = arith.constant dense<3.0> : vector<4xf32>
%m = arith.minnumf %x0, %c : vector<4xf32>
%d = arith.constant dense<-3.0> : vector<4xf32>
%a = arith.maxnumf %m, %d : vector<4xf32>
"""

APPROXIMATIONS = [
    Meaning(
        f"{op}-approximately",
        ("f32",),
        "f32",
        f"{_ANGLES}%r = math.{op} %a fastmath<afn> : vector<4xf32>",
        lambda x, f=function: f(np.fmax(np.fmin(x, np.float32(3)), np.float32(-3))),
        tolerance=1e-5,
    )
    for op, function in (("sin", np.sin), ("cos", np.cos), ("tan", np.tan))
] + [
    Meaning(
        "powf-approximately",
        ("f32", "f32"),
        "f32",
        f"{_ANGLES.replace('%x0', '%x1')}"
        "%p = math.absf %x0 : vector<4xf32>\n"
        '%r = math.powf %p, %a {nv_tileas.rounding = "approx"} : vector<4xf32>',
        lambda x, y: np.abs(x) ** np.fmax(np.fmin(y, np.float32(3)), np.float32(-3)),
        tolerance=2e-5,
    )
]
"""Approximate instructions, on angles and exponents of moderate size."""
