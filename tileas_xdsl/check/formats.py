"""Findings for machines: JSON, SARIF 2.1.0, and annotations of GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tileas_xdsl.interpreters.ptx.checking.reports.findings import KINDS, Finding, Severity
from tileas_xdsl.interpreters.ptx.errors import SourceLocation

_SARIF_LEVEL = {Severity.ERROR: "error", Severity.ISA: "warning", Severity.NOTE: "note"}
_GITHUB_COMMAND = {Severity.ERROR: "error", Severity.ISA: "warning", Severity.NOTE: "notice"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Facts = Mapping[str, Any]
"""What a run says beside its findings, by name: kernel, instructions, schedules."""


def to_json(findings: Sequence[Finding], accepted: Sequence[Finding], facts: Facts) -> str:
    """Return one JSON object; `origin` is the place in the source, by `.loc`."""
    shown = {
        **facts,
        "findings": [_object(finding) for finding in findings],
        "accepted": [_object(finding) for finding in accepted],
    }
    return json.dumps(shown, indent=2)


def _object(finding: Finding) -> Mapping[str, Any]:
    return {
        "kind": finding.kind,
        "severity": str(finding.severity),
        "message": finding.message,
        "notes": list(finding.notes),
        "location": _location_fields(_location(finding)),
        "origin": None if finding.origin is None else _location_fields(finding.origin),
    }


def _location_fields(location: SourceLocation) -> Mapping[str, Any]:
    """Return a source location as fields of JSON."""
    return {"path": location.path, "line": location.line, "column": location.column}


def _location(finding: Finding) -> SourceLocation:
    return SourceLocation(finding.path, finding.line, max(1, finding.column))


def to_sarif(findings: Sequence[Finding], accepted: Sequence[Finding], version: str) -> str:
    """Return a SARIF log; what is accepted is in it as suppressed, by an external justification."""
    used = sorted({finding.kind for finding in (*findings, *accepted)})
    rules = [
        {
            "id": kind,
            "shortDescription": {"text": KINDS[kind].meaning},
            "defaultConfiguration": {"level": _SARIF_LEVEL[KINDS[kind].severity]},
        }
        for kind in used
    ]
    driver = {"name": "tileas check", "version": version, "rules": rules}
    results = [_result(finding, used) for finding in findings]
    results += [{**_result(f, used), "suppressions": [{"kind": "external"}]} for f in accepted]
    log = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=2)


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    """Return a result at the source of the kernel if it is known, else at the PTX."""
    at = _location(finding)
    places = [at] if finding.origin is None else [finding.origin, at]
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rules.index(finding.kind),
        "level": _SARIF_LEVEL[finding.severity],
        "message": {"text": "\n".join((finding.message, *finding.notes))},
        "locations": [_physical(places[0])],
    }
    if len(places) > 1:
        result["relatedLocations"] = [_physical(places[1])]
    return result


def _physical(at: SourceLocation) -> Mapping[str, Any]:
    region = {"startLine": max(1, at.line), "startColumn": max(1, at.column)}
    return {"physicalLocation": {"artifactLocation": {"uri": at.path}, "region": region}}


def to_github(findings: Sequence[Finding]) -> str:
    """Return workflow commands, one a line, which GitHub shows at the lines of a change."""
    return "".join(_annotation(finding) + "\n" for finding in findings)


def _annotation(finding: Finding) -> str:
    at = finding.origin or _location(finding)
    properties = {
        "file": at.path,
        "line": at.line,
        "col": max(1, at.column),
        "title": f"{finding.kind} ({finding.severity})",
    }
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = "\n".join((finding.message, *finding.notes))
    return f"::{_GITHUB_COMMAND[finding.severity]} {shown}::{_escaped(text)}"


def _escaped(text: str) -> str:
    """Escape the data of a workflow command (actions/toolkit, command.ts)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _escaped(str(value)).replace(":", "%3A").replace(",", "%2C")
