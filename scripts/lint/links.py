#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py [FILE...]: the links of Markdown pages lead to files and headings of this tree.

Without arguments it reads every page of the repository, and the other texts for paths such as `docs/NAME.md`.
"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
# A name in capitals, such as `docs/runbooks/NAME.md`, is a placeholder.
PATH = re.compile(r"(?<![\w/.<-])docs/(?!\S*\bNAME\b)[\w/.-]+\.(?:md|svg)")
# Inputs of the fuzzers are no texts. The change log contains names of earlier versions.
SKIPPED = ("tests/fuzz/corpus/", "CHANGELOG.md")


def anchors(page):
    """The anchors that GitHub creates for the headings of a page."""
    found = set()
    with open(page, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                text = line.lstrip("#").strip().lower()
                found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def broken(page):
    """The broken links of one page, with their lines."""
    with open(page, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            for target, anchor in LINK.findall(line):
                if ":" in target:  # a URL
                    continue
                path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
                if not os.path.exists(path):
                    yield number, target
                elif anchor and path.endswith(".md") and anchor not in anchors(path):
                    yield number, f"{target}#{anchor}"


def missing_paths(name):
    """The paths of documents in a text that do not exist."""
    try:
        with open(name, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                for path in PATH.findall(line):
                    if not os.path.exists(path):
                        yield number, path
    except UnicodeDecodeError:
        return


def main():
    files = sys.argv[1:]
    every = not files
    if every:
        os.chdir(os.path.join(os.path.dirname(__file__), "..", ".."))
        listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
        files = [f for f in listed.split("\0") if f and os.path.isfile(f) and not f.startswith(SKIPPED)]
    status = 0
    for name in files:
        found = list(broken(name)) if name.endswith(".md") else []
        if every:
            found += missing_paths(name)
        for number, target in found:
            print(f"{name}:{number}: {target} does not exist")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
