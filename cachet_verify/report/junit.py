"""A report as JUnit XML, for test pages: a suite a file, a case an item.

Takes a `Report`; gives XML text. Undecided is a failure here, since this format has no third answer; our own faults and bad input are errors.
Must not write a character that XML cannot hold.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cachet_verify.report.finding import Finding, of_diagnostic, of_item
from cachet_verify.report.record import FileReport, ItemReport, Report, Verdict

_NOT_XML = re.compile("[^\\t\\n\\r\\u0020-\\uD7FF\\uE000-\\uFFFD\\U00010000-\\U0010FFFF]")


def render_junit(report: Report) -> str:
    """Give the document as indented XML with a newline at its end."""
    root = Element("testsuites", name="cachet-verify")
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for file in report.files:
        suite = SubElement(root, "testsuite", name=_clean(file.path))
        counts = _fill(suite, file)
        for name, count in counts.items():
            suite.set(name, str(count))
            totals[name] += count
    for name, count in totals.items():
        root.set(name, str(count))
    indent(root)
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + tostring(root, encoding="unicode") + "\n"


def _fill(suite: Element, file: FileReport) -> dict[str, int]:
    counts = {"tests": len(file.diagnostics) + len(file.items), "failures": 0, "errors": 0, "skipped": 0}
    for number, diagnostic in enumerate(file.diagnostics, start=1):
        case = SubElement(suite, "testcase", name=f"input {number}", classname=_clean(file.path))
        _outcome(case, "error", of_diagnostic(diagnostic))
        counts["errors"] += 1
    for item in file.items:
        case = SubElement(suite, "testcase", name=_clean(f"{item.kind} {item.name}"), classname=_clean(file.path), line=str(item.line))
        outcome = _fill_case(case, item, file.path)
        if outcome:
            counts[outcome] += 1
    return counts


def _fill_case(case: Element, item: ItemReport, path: str) -> str:
    """Add the outcome of an item to its case; give the count it belongs to, nothing for a success."""
    if item.verdict == Verdict.UNUSED:
        SubElement(case, "skipped", message="unused")
        return "skipped"
    found = list(of_item(item, path))
    if not found:
        return ""
    tag = "error" if item.verdict == Verdict.ERROR else "failure"
    _outcome(case, tag, found[0])
    return f"{tag}s"


def _outcome(case: Element, tag: str, finding: Finding) -> None:
    node = SubElement(case, tag, message=_clean(finding.message), type=_clean(finding.code))
    node.text = _clean(finding.detail)


def _clean(text: str) -> str:
    """Replace what XML 1.0 cannot hold by the replacement character."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
