"""1,000 random answers of the CuTe DSL 4.8, beside ours (`benchmarks/cute_algebra.py --write`)."""

from collections import Counter
from pathlib import Path

from tests.support.cute_answers import Question, judged

ANSWERS = Path(__file__).with_name("cute_answers.tsv")


def test_answers_agree_where_cute_meets_its_definition() -> None:
    verdicts: Counter[str] = Counter()
    for line in ANSWERS.read_text().splitlines():
        operation, *arguments, theirs = line.split("\t")
        question = Question(operation, tuple(arguments))
        verdict, ours = judged(question, theirs)
        assert verdict != "different", f"{question}: CuTe {theirs}, ours {ours}"
        verdicts[verdict] += 1
    assert verdicts.total() == 1000
    assert verdicts["equal"] > 900
