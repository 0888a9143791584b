"""Polynomials of the functions that PTX has no accurate instruction for.

Fitted by `benchmarks/fit_functions.py`: minimax, the coefficients rounded one by one from the
lowest on.  Errors are relative to the function that they are part of.
"""

from __future__ import annotations

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients from the lowest power on, all of the type that computes with them."""

    low: float
    high: float
    """The interval that it was fitted on."""
    error: float
    """The largest relative error of the function there, without rounding."""
    coefficients: tuple[float, ...]


EXP = Polynomial(
    low=-0.3475,
    high=0.3475,
    error=3.38e-09,
    coefficients=(
        0.4999999403953552,
        0.16666516661643982,
        0.04166823998093605,
        0.008369126357138157,
        0.0013823474291712046,
    ),
)
"""(exp(r) - 1 - r) / r**2, beside exp(r)."""

LOG1P = Polynomial(
    low=-0.293,
    high=0.4145,
    error=4.66e-09,
    coefficients=(
        -0.49999988079071045,
        0.3333333730697632,
        -0.2500160336494446,
        0.20001237094402313,
        -0.16608069837093353,
        0.14195334911346436,
        -0.13264665007591248,
        0.12828367948532104,
        -0.0747748613357544,
    ),
)
"""(log(1 + f) - f) / f**2, beside log(1 + f)."""

LOG2_WIDE = Polynomial(
    low=-0.293,
    high=0.4145,
    error=4.86e-13,
    coefficients=(
        1.4426950408893564,
        -0.72134752042282,
        0.48089834662477854,
        -0.36067376651175864,
        0.28853906487347797,
        -0.24044867474577697,
        0.20609553290190766,
        -0.18035241659383114,
        0.1604204083493842,
        -0.14408769739276336,
        0.12917054954129006,
        -0.11998419861043792,
        0.12627889300671402,
        -0.12222550560298562,
        0.06165176192390288,
    ),
)
"""log2(1 + f) / f, in f64."""

EXP2 = Polynomial(
    low=-0.5,
    high=0.5,
    error=3.62e-09,
    coefficients=(
        1.0,
        0.6931471824645996,
        0.24022644758224487,
        0.055503591895103455,
        0.009618841111660004,
        0.0013391138054430485,
        0.00015238016203511506,
    ),
)
"""2**r."""

ASIN = Polynomial(
    low=0,
    high=0.25,
    error=2.98e-10,
    coefficients=(
        0.16666659712791443,
        0.07500513643026352,
        0.04451585188508034,
        0.03181334584951401,
        0.014426213689148426,
        0.037525199353694916,
    ),
)
"""(asin(x) - x) / x**3 of x**2."""

ATAN = Polynomial(
    low=0,
    high=1,
    error=2.94e-09,
    coefficients=(
        -0.33333298563957214,
        0.199985072016716,
        -0.1426364928483963,
        0.10948573797941208,
        -0.0839189738035202,
        0.057747893035411835,
        -0.03096035309135914,
        0.010794454254209995,
        -0.0017661902820691466,
    ),
)
"""(atan(x) - x) / x**3 of x**2."""

ERF = Polynomial(
    low=0,
    high=0.851,
    error=8.62e-10,
    coefficients=(
        0.12837916612625122,
        -0.37612631916999817,
        0.11283677816390991,
        -0.026858670637011528,
        0.005199583247303963,
        -0.0008128883200697601,
        8.319457992911339e-05,
    ),
)
"""erf(x) / x - 1 of x**2."""

ERFC = Polynomial(
    low=0.92,
    high=4.0,
    error=3.52e-11,
    coefficients=(
        -0.00016307958867400885,
        1.1294490098953247,
        0.6335078477859497,
        0.10805968195199966,
        -0.024934373795986176,
        0.00407358817756176,
        -0.00040302457637153566,
        1.5421577700180933e-05,
        4.384397129797435e-07,
    ),
)
"""-log(erfc(x)), weighted by erfc(x)."""

SINH = Polynomial(
    low=0,
    high=1,
    error=3.56e-10,
    coefficients=(
        0.1666666716337204,
        0.008333315141499043,
        0.00019841665925923735,
        2.78998413705267e-06,
    ),
)
"""(sinh(x) - x) / x**3 of x**2."""

TANH = Polynomial(
    low=0,
    high=0.36,
    error=8.53e-08,
    coefficients=(
        -0.33332598209381104,
        0.13313087821006775,
        -0.05220938101410866,
        0.015608184970915318,
    ),
)
"""(tanh(x) - x) / x**3 of x**2."""

LOG = Polynomial(
    low=-0.3333,
    high=0.3333,
    error=5.03e-09,
    coefficients=(
        -0.5,
        0.3333320617675781,
        -0.24999888241291046,
        0.2001083344221115,
        -0.16676387190818787,
        0.14000146090984344,
        -0.12240881472826004,
        0.14008541405200958,
        -0.12646880745887756,
    ),
)
"""(log(1 + f) - f) / f**2."""

LOG2 = Polynomial(
    low=-0.293,
    high=0.4145,
    error=1.34e-08,
    coefficients=(
        -0.7213475108146667,
        0.48090070486068726,
        -0.3606776297092438,
        0.2884705066680908,
        -0.2402610182762146,
        0.20646096765995026,
        -0.18269138038158417,
        0.16710081696510315,
        -0.1474912464618683,
        0.08146706223487854,
    ),
)
"""log2(1 + f) / f**2 beside f * log2(e), which is rounded to f32."""

SIN = Polynomial(
    low=0,
    high=0.6169,
    error=3.97e-09,
    coefficients=(
        -0.16666655242443085,
        0.008332189172506332,
        -0.00019518287444952875,
    ),
)
"""(sin(x) - x) / x**3 of x**2."""

COS = Polynomial(
    low=0,
    high=0.6169,
    error=1.17e-10,
    coefficients=(
        -0.5,
        0.04166664555668831,
        -0.0013887310633435845,
        2.443256562401075e-05,
    ),
)
"""(cos(x) - 1) / x**2 of x**2."""

TAN = Polynomial(
    low=0,
    high=0.6169,
    error=1.85e-08,
    coefficients=(
        0.33333155512809753,
        0.13338781893253326,
        0.05341463163495064,
        0.02441490814089775,
        0.0031469131354242563,
        0.009368733502924442,
    ),
)
"""(tan(x) - x) / x**3 of x**2."""
