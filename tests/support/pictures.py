"""What a reader of an SVG picture sees: its texts, and those that are cut off at its edges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
WIDTH = 0.602
"""Of a character of DejaVu Sans Mono, in heights of the font."""

_PICTURE = re.compile(r"<svg .*?</svg>", re.DOTALL)


def pictures_in(html: str) -> Sequence[str]:
    """The pictures of a page."""
    return _PICTURE.findall(html)


def texts(svg: str) -> Sequence[str]:
    """The texts of a picture in their order, without tooltips."""
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def clipped(svg: str) -> Sequence[str]:
    """The texts that do not lie inside of the picture; the first may be the picture itself."""
    root = ElementTree.fromstring(svg)
    box = root.get("viewBox")
    width, height = map(float, box.split()[2:] if box else (root.get("width"), root.get("height")))
    fits_its_page = root.get("width") == "100%" or "max-width:100%" in root.get("style", "")
    found = [] if fits_its_page and box else ["the picture, by a page that is narrower"]
    return [*found, *_outside(root, width, height)]


def _outside(root: ElementTree.Element, width: float, height: float) -> Iterator[str]:
    standard = root.get("font-size", "16")
    for node in root.iter(f"{SVG}text"):
        size = float(node.get("font-size", standard))
        length = len(node.text or "") * size * WIDTH
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[node.get("text-anchor", "start")]
        left, bottom = float(node.get("x", "0")) - share * length, float(node.get("y", "0"))
        if left < 0 or left + length > width or bottom > height or bottom < size * 0.7:
            yield node.text or ""
