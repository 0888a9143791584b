"""A report as one HTML file that needs nothing else: no network, no second file.

The data are JSON, compressed, in a script element that no browser runs; `resources/report.js`
unpacks and shows them.  `data_of` reads them back.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, TypeAlias, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.report.building import Report
from tileas_xdsl.report.source_locations import SourceFile

Items: TypeAlias = Mapping[str, Any]

_DATA = re.compile(r'<script id="data" type="[^"]*">([^<]*)</script>')


def page(report: Report) -> str:
    """Return the page of a report."""
    text = json.dumps(_Encoder(report).data(), separators=(",", ":"))
    packed = gzip.compress(text.encode(), mtime=0)
    return Template(_resource("report.html")).substitute(
        title=escape(f"{report.kernel} for {report.target}"),
        style=_resource("report.css"),
        script=_resource("report.js"),
        data=b64encode(packed).decode(),
    )


def reloading(text: str, address: str) -> str:
    """Return a page that loads itself anew when what is at an address changes."""
    script = f"<script>const address = {json.dumps(address)};\n{_resource('reload.js')}</script>"
    return text.replace("</body>", f"{script}\n</body>")


def failure_page(title: str, text: str) -> str:
    """Return a page that says why there is no report."""
    return Template(_resource("failure.html")).substitute(title=escape(title), text=escape(text))


@dataclass(frozen=True)
class _Encoder:
    """Turns a report into what JSON knows: places into their numbers, paths into relative ones."""

    report: Report

    def data(self) -> Any:
        return {**self._plain(self.report), "places": list(map(self._place, self.report.places))}

    @cached_property
    def _numbers(self) -> Mapping[Location, int]:
        return {place: index for index, place in enumerate(self.report.places)}

    def _place(self, place: Location) -> Sequence[str | int]:
        return [_relative(place.file), place.line, place.column]

    def _plain(self, value: Any) -> Any:
        match value:
            case Location():
                return self._numbers[value]
            case SourceFile():
                return {"name": _relative(value.name), "first": value.first, "lines": value.lines}
            case Mapping():
                return {key: self._plain(one) for key, one in cast("Items", value).items()}
            case list() | tuple():
                return [self._plain(one) for one in cast("Sequence[Any]", value)]
            case _ if is_dataclass(value):
                return {one.name: self._plain(getattr(value, one.name)) for one in fields(value)}
            case _:
                return value


def _relative(file: str) -> str:
    """The name of a file from the working directory, if it is in there."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def data_of(text: str) -> Any:
    """Return the data of a page, as JSON has them; raises `ValueError` if it has none."""
    found = _DATA.search(text)
    if found is None:
        raise ValueError("the page has no data of a report")
    return json.loads(gzip.decompress(b64decode(found[1])))


def _resource(name: str) -> str:
    return files("tileas_xdsl.report").joinpath("resources", name).read_text(encoding="utf-8")
