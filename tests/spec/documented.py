#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/spec/README.md with the model and the code; prints what is missing. documented.py [FOLDER]"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "docs/spec")
PLACE = re.compile(r"((?:`[\w:]+`(?:, )?)+) in ([\w./]+)")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def defines(path, text, name):
    """Whether the file defines the function or type."""
    name = re.escape(name)
    if path.endswith(".lua"):
        return re.search(rf"^local function {name}\(", text, re.MULTILINE)
    return re.search(rf"^(?![ /]).*\b{name}\(|^struct {name} ", text, re.MULTILINE)


def main():
    readme = read(SPEC, "README.md")
    model = "".join(read(SPEC, name) for name in sorted(os.listdir(SPEC)) if name.endswith(".pml"))
    actions = set(re.findall(r"^inline (\w+)\(|^#define (\w+)\(\w+(?:, \w+)*\) \\?$", model, re.MULTILINE))
    actions = {inline or macro for inline, macro in actions}
    found = []
    rows = re.findall(r"^\| `(\w+)` \| (.* in .*) \|$", readme, re.MULTILINE)
    if not rows:
        found.append("README.md has no table of actions")
    for action, places in rows:
        if not re.search(rf"^(inline|#define) {action}\(", model, re.MULTILINE):
            found.append(f"{action}: not in the model")
        for names, path in PLACE.findall(places):
            if not os.path.exists(os.path.join(ROOT, path)):
                found.append(f"{action}: there is no {path}")
                continue
            text = read(ROOT, path)
            for name in re.findall(r"`([\w:]+)`", names):
                if not defines(path, text, name):
                    found.append(f"{action}: {path} does not define {name}")
    for action in sorted(actions):
        if f"`{action}`" not in readme:
            found.append(f"{action}: not in README.md")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
