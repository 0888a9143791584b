"""Import rules between packages, and the cost of importing them."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tileas_xdsl"

FOUNDATION = {"layout", "target", "diagnostics"}
IR = FOUNDATION | {"dialects"}

MAY_IMPORT = {
    "layout": set(),
    "target": {"layout"},
    "diagnostics": set(),
    "dialects": FOUNDATION | {"inference", "transforms/canonicalization"},
    "analysis": IR,
    "inference": {"layout", "target"},
    "scheduling": IR | {"analysis", "threads"},
    "threads": IR | {"analysis"},
    "transforms": IR
    | {"analysis", "inference", "scheduling", "threads", "backend/host"}
    | {"transforms/canonicalization"},
    "transforms/canonicalization": IR,
    "interpreters": set(),
    "interpreters/pure": IR | {"interpreters/tile"},
    "interpreters/tile": IR | {"executors", "installed", "interpreters"},
    "interpreters/cuda_tile": {"diagnostics", "dialects", "layout", "target"},
    "interpreters/ptx": {"collection", "executors", "interpreters", "layout", "target"},
    "backend": IR,
    "backend/host": set(),
    "frontend": IR,
    "pipelines": set(),
    "installed": set(),
    "compilation": IR | {"installed", "pipelines", "printing", "transforms"},
    "compilation/compiled_module": None,
    "compilation/specializing": None,
    "compiled_kernel": None,
    "printing": {"diagnostics"},
    "universe": None,
    "compiler": None,
    "cutile": None,
    "executors": set(),
    "explanation": None,
    "tuning": None,
    "cache": set(),
    "collection": set(),
    "data_classes": set(),
    "deep_stack": set(),
    "check": {"executors", "interpreters/ptx", "layout", "target"},
    "runtime": None,
    "report": None,
    "examples": set(),
    "tools": None,
    "__init__": None,
}
"""By part of the package: the parts it may import beside itself; None means any but the tools."""

LIKE_THE_STANDARD_LIBRARY = {"data_classes", "deep_stack"}
"""Parts that any part may import."""

CANONICALIZATION = "tileas_xdsl.transforms.canonicalization"
"""An operation's trait names its patterns, and loads them only when a pass asks for them."""

WITHOUT_XDSL = ("layout", "target", "interpreters/ptx")
"""Parts that know no IR: numpy and the standard library only."""


def part_of(path: Path) -> str:
    """The part of the package that a module belongs to, as `MAY_IMPORT` names it."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    nested = "/".join(parts[:2])
    return nested if nested in MAY_IMPORT else parts[0]


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of_name(name: str) -> str:
    _, *parts = name.split(".")
    nested = "/".join(parts[:2])
    return nested if nested in MAY_IMPORT else parts[0]


def _imported_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        assert node.module
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
        yield from _names_at_the_beginning(node.args[:1] or [k.value for k in node.keywords][:1])


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _names_at_the_beginning(arguments: list[ast.expr]) -> Iterator[str]:
    """The module that text names, or of an f-string the part up to the first unknown."""
    for argument in arguments:
        first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            assert not first.value.startswith("."), "imports are absolute"
            yield first.value.rstrip(".")


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules that a file imports, at its top or inside functions."""
    for node in _nodes(path):
        yield from _imported_by(node)


NESTED = re.compile(r"^ +(from|import) |import_module|__import__", re.MULTILINE)
"""A line that imports inside of something, or by a call: most files have none."""


AT_TOP = re.compile(r"^(from \S+ )?import ([^(\n]+|\([^)]*\))$", re.MULTILINE)


@cache
def _nodes(path: Path) -> Sequence[ast.AST]:
    """What may be an import in a file; it is parsed to the last one where none is nested."""
    text = path.read_text(encoding="utf-8")
    if not NESTED.search(text):
        text = text[: max((found.end() for found in AT_TOP.finditer(text)), default=0)]
    nodes = ast.walk(ast.parse(text))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom, ast.Call))]


@pytest.mark.parametrize(
    "line",
    [
        "import tileas_xdsl.dialects.tile",
        "from tileas_xdsl.dialects import tile",
        "importlib.import_module('tileas_xdsl.dialects.tile')",
        "x = import_module(name='tileas_xdsl.dialects.tile').Tile",
        "import_module(f'tileas_xdsl.dialects.{name}')",
        "__import__('tileas_xdsl.dialects')",
    ],
)
def test_every_form_of_import_is_seen(line: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(f"def f(name):\n    {line}\n")
    assert "dialects" in {part_of_name(name) for name in imported(path)}


MODULES = {_module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
"""Every module of the package by its dotted name."""

CYCLES_THAT_XDSL_REQUIRES = {"transforms.canonicalization"}
"""Packages whose patterns an operation's trait names; it imports them when a pass asks for them."""


def test_modules_import_only_what_their_part_may() -> None:
    assert list(_violations()) == []


def _violations() -> Iterator[str]:
    """One sentence for each import that `MAY_IMPORT` does not allow."""
    for path in MODULES.values():
        part = part_of(path)
        if part not in MAY_IMPORT:
            yield f"{part} is no part of the design: say in MAY_IMPORT what it may use"
            continue
        for name in imported(path):
            is_lazy_pattern = name.startswith(CANONICALIZATION) and not _is_at_top(path, name)
            if not (part == "dialects" and is_lazy_pattern) and not _is_allowed(part, name):
                yield f"{path.relative_to(PACKAGE)} imports {name}"


def _is_at_top(path: Path, name: str) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(name in _imported_by(node) for node in body)


def _is_allowed(part: str, name: str) -> bool:
    top, allowed = name.split(".")[0], MAY_IMPORT[part]
    if name.startswith("tileas_xdsl.tools"):
        return part == "tools"
    if top == "xdsl":
        return part not in WITHOUT_XDSL
    if top != "tileas_xdsl" or name == "tileas_xdsl" or allowed is None:
        return True
    used = part_of_name(name)
    return used == part or used in allowed | LIKE_THE_STANDARD_LIBRARY


@pytest.mark.parametrize("part", ["layout", "target"])
def test_parts_without_ir_need_numpy_only(part: str) -> None:
    code = (
        f"import sys, tileas_xdsl.{part}\n"
        "third_party = {m.split('.')[0] for m, v in sys.modules.items()"
        " if 'site-packages' in (getattr(v, '__file__', None) or '')}\n"
        "print(*sorted(m for m in third_party if not m.startswith('_')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert set(result.stdout.split()) <= {"numpy"}


def test_the_oracle_knows_no_other_level() -> None:
    """What Tile IR means is said without the dialects and the code below it."""
    own = ("tileas_xdsl.dialects.cuda_tile", "tileas_xdsl.interpreters.cuda_tile")
    helpers = (
        *("tileas_xdsl.data_classes", "tileas_xdsl.diagnostics", "tileas_xdsl.target.printf"),
        *("tileas_xdsl.layout.integers", "tileas_xdsl.layout.intervals"),
    )
    for path in (PACKAGE / "interpreters" / "cuda_tile").rglob("*.py"):
        ours = [name for name in imported(path) if name.startswith("tileas_xdsl.")]
        assert [name for name in ours if not name.startswith((*own, *helpers))] == []


def test_no_import_cycle() -> None:
    """Modules import one another along a partial order, inside functions and for types too."""
    graph = {name: set(_imported_modules(path)) for name, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def _imported_modules(path: Path) -> Iterator[str]:
    """The modules of the package that a module imports anywhere, as nodes of the graph."""
    for node in _nodes(path):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            module = name if name in MODULES else node.module
            required = CYCLES_THAT_XDSL_REQUIRES
            allowed = any(module.startswith(f"tileas_xdsl.{part}") for part in required)
            if module in MODULES and not allowed and MODULES[module] != path:
                yield module


ORDERED = "inference/parity/costs.py"
"""Its class is ordered, and no compilation imports it."""


def test_data_classes_compile_their_methods_on_first_use() -> None:
    """`dataclasses.dataclass` compiles them at import: see `data_classes`."""
    eager = {
        str(path.relative_to(PACKAGE))
        for path in MODULES.values()
        if "dataclasses.dataclass" in imported(path)
    }
    assert eager == {"data_classes.py", ORDERED}


def test_files_stay_short() -> None:
    """A file past 500 lines holds two ideas."""
    lengths = {n: len(p.read_text(encoding="utf-8").splitlines()) for n, p in MODULES.items()}
    assert {name: length for name, length in lengths.items() if length > 500} == {}


UNBOUNDED = {"cache", "functools.cache", "lru_cache(None)", "lru_cache(maxsize=None)"}

TAKES_FEW_VALUES = re.compile(
    r"type(\[.*\])?|tuple\[(type(\[.*\])?|str), \.\.\.\]|str|bool|None|Level|AddressSpace"
)
"""Annotations of parameters that are classes, names of tables or keywords."""

OF_FEW_VALUES = {
    "tileas_xdsl.cache._cache_in": "the folders that caches are in",
    "tileas_xdsl.runtime.gpu.device.gpu": "the GPUs of a machine",
    "tileas_xdsl.runtime.gpu.launch_device.gpu_device": "the GPUs of a machine",
    "tileas_xdsl.target.plain_data._reader": "annotations of data classes",
}
"""Caches by what their keys are, where annotations do not show that there are few."""


def _unbounded_caches() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions whose results are all kept."""
    for name, path in MODULES.items():
        if "cache" in (text := path.read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    decorators = {ast.unparse(one) for one in node.decorator_list}
                    if decorators & UNBOUNDED:
                        yield f"{name}.{node.name}", node


def _has_few_keys(function: ast.FunctionDef) -> bool:
    parameters = (*function.args.args, *function.args.kwonlyargs)
    annotations = [ast.unparse(one.annotation) for one in parameters if one.annotation]
    kinds = [kind for annotation in annotations for kind in annotation.split(" | ")]
    return all(TAKES_FEW_VALUES.fullmatch(kind) for kind in kinds)


def test_caches_have_a_bound() -> None:
    """A process that compiles may run for days; caches of few keys need none."""
    assert {name for name, node in _unbounded_caches() if not _has_few_keys(node)} == {
        *OF_FEW_VALUES
    }


WITHOUT_PACKAGE = {"benchmarks", "hardware", "kernels"}
"""Folders of tests of what stands beside the package."""


def test_tests_mirror_the_package() -> None:
    """A folder of tests is named as the folder or module of the package that it tests."""
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    own = {folder for folder in folders if folder.parts and folder.parts[0] not in WITHOUT_PACKAGE}
    assert [str(f) for f in sorted(own) if not (PACKAGE / f / "__init__.py").is_file()] == []


def test_tests_of_a_pass_stand_in_the_folder_of_the_pass() -> None:
    """Or in that of its parts: `slicing/test_tileas_slicing.py`."""
    tests = ROOT / "tests" / "transforms"
    passes = {path.stem: path.parent.name for path in (PACKAGE / "transforms").glob("*/*.py")}
    flat = (path for path in tests.glob("test_*.py"))
    named = {path.name: passes.get(path.stem.removeprefix("test_")) for path in flat}
    assert {name: folder for name, folder in named.items() if folder} == {}


def test_the_smoke_tests_of_the_makefile_are_there() -> None:
    text = (ROOT / "Makefile").read_text()
    listed = text.split("$(addprefix tests/,")[1].split(")")[0].replace("\\", " ").split()
    assert len(listed) > 10
    assert [path for path in listed if not (ROOT / "tests" / path).exists()] == []


def _module_file(name: str) -> Path | None:
    """The file of one of our modules; None of those of other packages, and of folders."""
    path = ROOT.joinpath(*name.split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.exists()), None)


@cache
def _offered(file: Path) -> frozenset[str]:
    """What can be imported from a module: names that it binds anywhere, modules beside it."""
    found = {path.stem for path in file.parent.iterdir()} if file.name == "__init__.py" else set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=asname):
                found.add(asname or name)
            case _:
                pass
    return frozenset(found)


def test_what_benchmarks_and_kernels_import_is_there() -> None:
    """Many of them run beside a GPU or packages that no test has."""
    missing = [
        f"{path.relative_to(ROOT)}: {node.module}.{alias.name}"
        for folder in ("benchmarks", "docs", "kernels", "tests/hardware")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in _nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        if (file := _module_file(node.module)) is not None
        for alias in node.names
        if not _offered(file) & {alias.name, "*", "__getattr__"}
    ]
    assert missing == []
