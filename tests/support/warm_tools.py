"""Preloaded command-line tools for the filecheck suite.

A process loads every dialect and every pass, and forks for each call; small clients named like the
tools hand it their arguments, environment and open files, and end as the tool ends.

    python warm_tools.py FOLDER      serves the clients in FOLDER until standard input ends
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

TOOLS = ("filecheck", "tileas-opt", "xdsl-opt")

SOCKET = "socket"

CLIENT = """#!{python} -IS
import os, pickle, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
call = pickle.dumps(({tool!r}, sys.argv[1:], os.getcwd(), dict(os.environ)))
socket.send_fds(server, [len(call).to_bytes(8, "little")], [0, 1, 2])
server.sendall(call)
sys.exit(int(server.recv(8) or b"70"))
"""


def start() -> Path:
    """Start the server; return the folder of its clients, which stop with the calling process.

    Where the server fails, as by an import error, its traceback is on standard error.
    """
    folder = Path(tempfile.mkdtemp(prefix="tools-"))
    for tool in TOOLS:
        client = folder / tool
        address = str(folder / SOCKET)
        client.write_text(CLIENT.format(python=sys.executable, address=address, tool=tool))
        client.chmod(0o755)
    command = [sys.executable, __file__, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    if not process.stdout.readline():
        shutil.rmtree(folder)
        raise RuntimeError(f"the tools of the filecheck suite do not start ({process.wait()})")
    return folder


def _serve(folder: Path) -> None:
    mains = {tool: _main_of(tool) for tool in TOOLS}
    _load_everything()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / SOCKET))
        listener.listen(64)
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in (ready := select.select([listener, sys.stdin], [], [])[0]):
            assert ready
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(client, mains)
            client.close()
    shutil.rmtree(folder)


def _main_of(tool: str) -> Any:
    (script,) = entry_points(group="console_scripts", name=tool)
    return script.load()


def _load_everything() -> None:
    from tileas_xdsl.installed import installed_universe

    universe = installed_universe()
    for factories in (universe.all_dialects, universe.all_passes, universe.all_targets):
        for make in factories.values():
            make()
    importlib.import_module("tileas_xdsl.compiler")


def _answer(client: socket.socket, mains: Mapping[str, Any]) -> None:
    """Run the tool requested by a client with its open files, and send the exit status."""
    size, files, _, _ = socket.recv_fds(client, 8, 3)
    count, call = int.from_bytes(size, "little"), b""
    while len(call) < count:
        call += client.recv(count - len(call))
    tool, arguments, folder, environment = pickle.loads(call)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [tool, *arguments]
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, mode in enumerate(("r", "w", "w"))
    )
    code = _ended(mains[tool])
    client.sendall(str(code).encode())
    os._exit(code)


def _ended(main: Any) -> int:
    """Return the exit status of a tool after its output is flushed."""
    try:
        code = main()
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            code = code or 1
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
