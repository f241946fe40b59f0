#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the JUnit reports of ctest for ./dev test.

test_summary.py RESULTS         prints the summary from RESULTS/stages and from the reports beside it. Exit code 1: a test or a build
                                failed, or no test passed. A test that did not run (its program or its fixture is missing) failed; a
                                test that skipped itself is counted and named, as is one that passed only at its second try.
test_summary.py --failed REPORT prints the expression for ctest -R that selects the failed tests of a report. Exit code 1: none
                                failed, or more than SECOND_TRIES (docs/decisions/0032).
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SECOND_TRIES = 5  # tests of a stage that are repeated; more failures have a common cause


def result(case):
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith(("SKIP_", "Disabled")):
        return "skipped"
    return {"run": "passed", "fail": "failed"}.get(case.get("status"), "not run")


def results(report):
    """Name and result of each test in a JUnit report; none when ctest wrote no report."""
    if not report.exists():
        return {}
    return {case.get("name"): result(case) for case in ElementTree.parse(report).getroot().iter("testcase")}


def failed_pattern(report):
    found = results(report)
    count = list(found.values()).count("failed")
    if not 0 < count <= SECOND_TRIES:
        return None
    return "^(" + "|".join(re.escape(name) for name in found if found[name] in ("failed", "not run")) + ")$"


def final_results(folder, stage):
    """Name and final result of each test of a stage, and the names of those that passed at the second try."""
    first, second = results(folder / f"{stage}.xml"), results(folder / f"{stage}.second.xml")
    final, unstable = {}, []
    for name, outcome in first.items():
        if outcome in ("failed", "not run"):
            outcome = "passed" if second.get(name) == "passed" else "failed"
            if outcome == "passed":
                unstable.append(name)
        final[name] = outcome
    return final, unstable


def summary(folder):
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    named = {"failed": [], "passed at the second try": [], "skipped": []}
    print("\n== time and result of each stage")
    for line in (folder / "stages").read_text().splitlines():
        seconds, status, stage = line.split(" ", 2)
        final, unstable = final_results(folder, stage)
        counts = {outcome: list(final.values()).count(outcome) for outcome in totals}
        for outcome in ("failed", "skipped"):
            named[outcome] += [f"{stage}: {name}" for name in final if final[name] == outcome]
        named["passed at the second try"] += [f"{stage}: {name}" for name in unstable]
        # A failure that the report does not contain, for example no test at all.
        if status != "0" and not counts["failed"] and not unstable:
            counts["failed"] = 1
            named["failed"].append(f"{stage}: exit code {status}")
        for outcome, count in counts.items():
            totals[outcome] += count
        print(f"{seconds:>5}s  {stage:20}" + "".join(f"{count:6} {outcome}" for outcome, count in counts.items()))
    for heading, names in named.items():
        if names:
            print(f"\n== {heading}", *names, sep="\n")
    print("\n" + ", ".join(f"{count} {outcome}" for outcome, count in totals.items()))
    return 0 if totals["passed"] and not totals["failed"] else 1


if sys.argv[1] == "--failed":
    pattern = failed_pattern(pathlib.Path(sys.argv[2]))
    print(pattern or "")
    sys.exit(0 if pattern else 1)
sys.exit(summary(pathlib.Path(sys.argv[1])))
