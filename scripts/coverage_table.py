#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage_table.py SRC <SUMMARY: lines executed per module (folder of SRC) and in total, from llvm-cov export --summary-only."""
import json
import os
import pathlib
import sys


def main(src):
    modules = {}
    for file in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(os.path.normpath(file["filename"]))  # ccache may give a path relative to the build tree
        if path.is_relative_to(src):
            counted = modules.setdefault(path.relative_to(src).parts[0], [0, 0])
            counted[0] += file["summary"]["lines"]["covered"]
            counted[1] += file["summary"]["lines"]["count"]
    if not modules:
        sys.exit(f"no file of {src} was counted")
    modules = dict(sorted(modules.items()))
    modules["total"] = [sum(counts) for counts in zip(*modules.values())]
    print("| module | lines executed | lines | share |\n|---|---:|---:|---:|")
    for name, (covered, count) in modules.items():
        print(f"| {name} | {covered} | {count} | {100 * covered / count:.1f} % |")


main(sys.argv[1])
