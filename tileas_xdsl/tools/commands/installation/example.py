"""`tileas example`: the kernels and notebooks that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileas_xdsl.examples import Example

example = typer.Typer(
    help="List, show and copy example kernels and notebooks.",
    no_args_is_help=True,
)


def _names(incomplete: str) -> list[str]:
    return [one.name for one in _examples() if one.name.startswith(incomplete)]


def _examples() -> Sequence[Example]:
    from tileas_xdsl.examples import NoExamplesError, examples

    try:
        return list(examples())
    except NoExamplesError as error:
        fail(str(error))


@example.command("list")
def list_() -> None:
    """List the examples, with what each shows."""
    print_table(("example", "what it shows"), [(one.name, one.summary) for one in _examples()])


@example.command()
def show(
    name: Annotated[str, typer.Argument(autocompletion=_names, help="As 'list' names it.")],
) -> None:
    """Print the text of an example."""
    from tileas_xdsl.diagnostics.suggest import did_you_mean

    known = {one.name: one for one in _examples()}
    if name not in known:
        hint = did_you_mean(name, list(known)) or "'tileas example list' has all"
        fail(f"there is no example '{name}'; {hint}")
    typer.echo(known[name].path.read_text(encoding="utf-8"), nl=False)


@example.command()
def copy(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put them.")] = Path(),
) -> None:
    """Copy all examples, to change and to run them.

    They become the folders kernels and notebooks of DIR, by default the current one.
    """
    from tileas_xdsl.examples import NoExamplesError, copy_to

    try:
        made = copy_to(folder)
    except NoExamplesError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")
    for path in made:
        typer.echo(path)
