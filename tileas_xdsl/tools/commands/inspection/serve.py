"""`tileas serve`: the page of a kernel, made anew whenever its file is saved."""

from __future__ import annotations

from typing import Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.kernel_options import (
    ArgOption,
    CompilableInput,
    CompileTargetOption,
    KernelOption,
    OptionalGridOption,
    SignatureOption,
)


def serve(
    input_file: CompilableInput,
    kernel: KernelOption = None,
    target: CompileTargetOption = None,
    sig: SignatureOption = None,
    grid: OptionalGridOption = None,
    arg: ArgOption = [],  # noqa: B006
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port on this machine; 0 is any free one.")
    ] = 8000,
) -> None:
    """Serve the page of `tileas report`, anew at each save.

    A browser on this machine that shows it reloads it by itself.  Interrupt ends it.
    """
    from threading import Event, Thread

    from tileas_xdsl.tools.pages.page_server import LivePage, server_of, watch

    given = {"--kernel": kernel, "--target": target, "--sig": sig, "--grid": grid}
    options = [word for name, value in given.items() if value for word in (name, str(value))]
    page = LivePage([input_file, *options, *(word for spec in arg for word in ("--arg", spec))])
    if not page.source.is_file():
        fail(f"cannot serve '{input_file}': there is no such file")
    try:
        server = server_of(page, port)
    except OSError as error:
        fail(f"cannot serve on port {port}: {error.strerror or error}")
    page.refresh()
    typer.echo(f"http://{server.server_address[0]}:{server.server_address[1]}/ shows {input_file}")
    ended = Event()
    Thread(target=watch, args=(page, ended), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        typer.echo("")
    finally:
        ended.set()
        server.server_close()
