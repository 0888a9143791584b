"""What is known of the candidates of a search, and how well predictions rank them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.tuning.space import Config


@dataclass(frozen=True)
class Candidate:
    """What is known of one choice of constants."""

    config: Config
    predicted: float | None = None
    """Microseconds."""
    bound: str = ""
    code: str = ""
    """Equal for equal launches of equal code, if it is known."""
    built: bool = False
    registers: int | None = None
    measured: float | None = None
    """Microseconds, the median of launches."""
    problem: str = ""
    """Why it is out of the question."""

    @property
    def is_usable(self) -> bool:
        """Whether it was compiled, and ran where it was launched."""
        return self.built and not self.problem

    @property
    def time(self) -> float:
        """Microseconds: measured if it was, else predicted; infinite if neither."""
        found = self.predicted if self.measured is None else self.measured
        return float("inf") if found is None else found


@dataclass(frozen=True)
class TuningResult:
    """The candidates, the fastest first, and the constants to use."""

    kernel: str
    target: str
    best: Config
    candidates: tuple[Candidate, ...]
    default: Config
    """The constants that the kernel had."""

    @property
    def works(self) -> bool:
        """Whether some candidate compiles without spills."""
        return any(one.is_usable for one in self.candidates)

    @property
    def correlation(self) -> float | None:
        """Spearman's rank correlation of predicted and measured times; None below two of them."""
        pairs = [(one.predicted, one.measured) for one in self.candidates]
        return rank_correlation([(p, m) for p, m in pairs if p is not None and m is not None])

    def table(self) -> str:
        """Return the candidates as text: constants, predicted, measured, what became of them."""
        header = ("", *self.best, "predicted", "bound", "measured", "registers", "")
        rows = [header, *(self._row(one) for one in self.candidates)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )
        found = self.correlation
        said = [] if found is None else [f"rank correlation {found:.2f}"]
        return "\n".join([f"@{self.kernel} on {self.target}", *lines, *said])

    def _row(self, one: Candidate) -> Sequence[str]:
        mark = "*" if one.config == self.best else ""
        state = one.problem or ("" if one.built else self._why_not_compiled(one))
        return (
            mark,
            *(str(one.config[name]) for name in self.best),
            _microseconds(one.predicted),
            one.bound,
            _microseconds(one.measured),
            "" if one.registers is None else str(one.registers),
            state,
        )

    def _why_not_compiled(self, one: Candidate) -> str:
        for other in self.candidates:
            if other.built and one.code and other.code == one.code:
                different = [name for name in one.config if one.config[name] != other.config[name]]
                said = ", ".join(f"{name}={other.config[name]}" for name in different)
                return f"the code of {said}"
        return "not compiled"


def _microseconds(time: float | None) -> str:
    return "" if time is None else f"{time:.1f} us"


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Spearman's correlation; equal numbers share their mean rank.

    None below two pairs, and where all numbers of a side are equal.
    """
    first, second = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    middle = (len(pairs) - 1) / 2
    products = sum((a - middle) * (b - middle) for a, b in zip(first, second, strict=True))
    squares = [sum((rank - middle) ** 2 for rank in ranks) for ranks in (first, second)]
    return products / (squares[0] * squares[1]) ** 0.5 if all(squares) else None


def _ranks(values: Sequence[float]) -> Sequence[float]:
    ordered = sorted(values)
    return [
        (bisect_left(ordered, value) + bisect_right(ordered, value) - 1) / 2 for value in values
    ]
