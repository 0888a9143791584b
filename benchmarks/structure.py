"""How large and how regular the code is, and what additions cost (docs/decisions/structure.md).

    python benchmarks/structure.py [REVISION]...        a column each; `.` is the working tree

Everything is read off the text of the package by `ast`, so that any revision can be measured from
one checkout; the last rows are the commits that once added an instruction, an operation, an atom
and a target for real.  Times are those of `time make smoke`, `time make check PASS=tileas-slicing`
and `time make test`.
"""

from __future__ import annotations

import argparse
import ast
import io
import statistics
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGE = "tileas_xdsl"

REGISTER_LAYOUTS = (
    "RegisterLayout",
    "AccumulatorLayout",
    "EncodedLayout",
    "PlainLayout",
    "Fragment",
)
"""Classes that have meant which thread holds which element; `FragmentMap` is a map of inference
(docs/decisions/layouts.md), and `Fragment` of the emulator an opaque operand of `wmma`."""

ADDED_BY = {
    "a PTX instruction (`add`, `fma` of a half and an f32)": ("83255ac7", "[Mm]ixed"),
    "an nv_tileas operation (`grid_dependency`)": ("22aa3d23", "."),
    "an MMA atom (`mma.sync` of 8-bit floats into f16)": ("1c6f58b8", "."),
    "a target (`sm_120a`)": ("4bababf7", "120"),
}
"""What was added once: the commit, and what the lines have in common that belong to it."""


@dataclass(frozen=True)
class Sources:
    """The Python files of the package in one revision, by path."""

    texts: Mapping[str, str]

    @staticmethod
    def of(revision: str) -> Sources:
        """Read the working tree (`.`) or a revision of the repository."""
        if revision == ".":
            paths = sorted((ROOT / PACKAGE).rglob("*.py"))
            return Sources({str(p.relative_to(ROOT)): p.read_text("utf-8") for p in paths})
        packed = _git("archive", revision, PACKAGE)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            files = [each for each in archive if each.isfile() and each.name.endswith(".py")]
            return Sources({each.name: _text(archive, each) for each in files})

    @cached_property
    def trees(self) -> Mapping[str, ast.Module]:
        """The syntax tree of each file."""
        return {path: ast.parse(text) for path, text in self.texts.items()}

    @cached_property
    def functions(self) -> Sequence[int]:
        """The lines of every function, sorted."""
        found = (node for node in self._nodes() if isinstance(node, ast.FunctionDef))
        return sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)

    def _nodes(self) -> Iterator[ast.AST]:
        for tree in self.trees.values():
            yield from ast.walk(tree)

    def classes(self) -> Iterator[ast.ClassDef]:
        """Every class."""
        return (node for node in self._nodes() if isinstance(node, ast.ClassDef))

    def lines(self) -> Mapping[str, int]:
        """Lines by what they are: statements, imports, docstrings and comments, blank ones."""
        found = Counter[str]()
        for path, text in self.texts.items():
            found.update(_kinds(text, self.trees[path]))
        return found

    def folders(self) -> Sequence[tuple[str, int]]:
        """The folders with the most files."""
        parents = Counter(str(PurePosixPath(path).parent) for path in self.texts)
        return [(folder.partition("/")[2] or folder, n) for folder, n in parents.most_common(4)]

    def expressions(self) -> Sequence[str]:
        """Classes that are expressions of integers: they define `+` and `%`."""
        return sorted(
            each.name for each in self.classes() if {"__add__", "__mod__"} <= _names(each)
        )

    def legality(self) -> Sequence[str]:
        """Folders with a class of rows that say since which PTX version something exists."""
        return sorted(
            {
                str(PurePosixPath(path).parent).partition("/")[2]
                for path, tree in self.trees.items()
                for node in ast.walk(tree)
                if isinstance(node, ast.ClassDef) and _states_versions(path, node)
            }
        )

    def cycles(self) -> Sequence[Sequence[str]]:
        """Groups of modules that import one another, inside functions too."""
        modules = {_module(path): path for path in self.texts}
        graph = {
            name: {found for found in _imports(self.trees[path], modules) if found != name}
            for name, path in modules.items()
        }
        return [group for group in _components(graph) if len(group) > 1]


def _git(*words: str) -> bytes:
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, check=True).stdout


def _text(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    assert file is not None
    return file.read().decode("utf-8")


def _kinds(text: str, tree: ast.Module) -> Iterator[str]:
    kinds: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kind = "imports"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            kind = "docstrings and comments"
        else:
            continue
        kinds.update(dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), kind))
    for number, line in enumerate(text.splitlines(), 1):
        comment = "docstrings and comments" if line.lstrip().startswith("#") else "statements"
        yield kinds.get(number, comment if line.strip() else "blank")


def _states_versions(path: str, node: ast.ClassDef) -> bool:
    """Whether instances say from which PTX version on something exists, of which the parser's
    modules and Tile IR's own versions say nothing."""
    ours = "/ptx" in path or "/isa/" in path
    return ours and "/parsing/" not in path and bool({"since", "version"} & _fields(node))


def _names(node: ast.ClassDef) -> set[str]:
    return {each.name for each in node.body if isinstance(each, ast.FunctionDef)}


def _fields(node: ast.ClassDef) -> set[str]:
    found = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
    return {target.id for target in found if isinstance(target, ast.Name)}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(tree: ast.Module, modules: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if (found := name if name in modules else node.module) in modules:
                    yield found


def _components(graph: Mapping[str, set[str]]) -> Sequence[Sequence[str]]:
    """Strongly connected components: R. Tarjan, Depth-first search and linear graph algorithms."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[Sequence[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in graph:
        if name not in index:
            visit(name)
    return found


def column(revision: str) -> Mapping[str, str]:
    """Measure one revision: a cell for each row of the table."""
    sources = Sources.of(revision)
    lines, lengths = sources.lines(), sources.functions
    layouts = [each.name for each in sources.classes() if each.name in REGISTER_LAYOUTS]
    cycles = [group for group in sources.cycles() if not any(map(_is_required, group))]
    return {
        "lines": f"{sum(lines.values()):,}",
        **{kind: f"{lines[kind]:,}" for kind in sorted(lines, key=lambda kind: -lines[kind])},
        "files": f"{len(sources.texts):,}",
        "largest folders": ", ".join(f"{name} {count}" for name, count in sources.folders()),
        "functions: median, 95 %, longest": f"{statistics.median(lengths):.0f}, "
        f"{lengths[len(lengths) * 95 // 100]}, {lengths[-1]} lines",
        "classes that mean a register layout": f"{len(layouts)} ({', '.join(sorted(layouts))})",
        "types of integer expressions": ", ".join(sources.expressions()),
        "places that state an instruction's legality": ", ".join(sources.legality()),
        "groups of modules that import one another": f"{len(cycles)}",
        "modules in them": f"{sum(map(len, cycles))}",
    }


def _is_required(module: str) -> bool:
    """Patterns that an operation's trait names, which xDSL asks for when a pass runs."""
    return module.startswith(f"{PACKAGE}.transforms.canonicalization")


def added(commit: str, pattern: str) -> str:
    """Files and lines of the package that a commit touched, where a changed line matches."""
    words = ("show", "--numstat", "--format=", f"-G{pattern}", commit, "--", PACKAGE)
    rows = _git(*words).decode().splitlines()
    touched = [(row.split("\t")[2], int(row.split("\t")[0])) for row in rows]
    return f"{len(touched)} files, {sum(lines for _, lines in touched)} lines"


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revisions", nargs="*", default=["."], metavar="REVISION")
    revisions: Sequence[str] = parser.parse_args(words).revisions
    sys.setrecursionlimit(10_000)
    columns = [column(revision) for revision in revisions]
    print(f"| | {' | '.join(revisions)} |\n|---|{'---|' * len(revisions)}")
    for row in columns[-1]:
        print(f"| {row} | {' | '.join(each.get(row, '-') for each in columns)} |")
    print("\n| added once | of the package |\n|---|---|")
    for what, (commit, pattern) in ADDED_BY.items():
        print(f"| {what}, {commit} | {added(commit, pattern)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
