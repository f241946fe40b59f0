#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_summary.py RESULTS: prints the summary of ./dev test from RESULTS/stages and from the JUnit reports of ctest beside it.

Exit code 1: a test or a build failed, or no test passed. A test that did not run (its program or its fixture is missing) failed;
a test that skipped itself is counted and named.
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def results(report):
    """(name, result) of each test in a JUnit report; none when ctest wrote no report."""
    if not report.exists():
        return
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if skipped is not None and skipped.get("message", "").startswith(("SKIP_", "Disabled")):
            yield case.get("name"), "skipped"
        else:
            yield case.get("name"), "passed" if case.get("status") == "run" else "failed"


def main(folder):
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    named = {"failed": [], "skipped": []}
    print("\n== time and result of each stage")
    for line in (folder / "stages").read_text().splitlines():
        seconds, status, stage = line.split(" ", 2)
        counts = dict.fromkeys(totals, 0)
        for name, result in results(folder / f"{stage}.xml"):
            counts[result] += 1
            if result != "passed":
                named[result].append(f"{stage}: {name}")
        # A failure that the report does not contain, for example no test at all.
        if status != "0" and not counts["failed"]:
            counts["failed"] = 1
            named["failed"].append(f"{stage}: exit code {status}")
        for result, count in counts.items():
            totals[result] += count
        print(f"{seconds:>5}s  {stage:20}" + "".join(f"{count:6} {result}" for result, count in counts.items()))
    for result, names in named.items():
        if names:
            print(f"\n== {result}", *names, sep="\n")
    print("\n" + ", ".join(f"{count} {result}" for result, count in totals.items()))
    return 0 if totals["passed"] and not totals["failed"] else 1


sys.exit(main(pathlib.Path(sys.argv[1])))
