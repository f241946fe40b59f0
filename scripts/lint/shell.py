#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs shellcheck on shell scripts, one on each processor.

shell.py FILE...   prints what shellcheck reports; exit code 1 when it reports something.

shellcheck follows sourced files, which takes seconds for each script. A script that passed is checked again only after it,
a file that it sources, .shellcheckrc or shellcheck itself has changed: build/test-results/shellcheck has the names of
what passed.
"""

import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PASSED = os.path.join(ROOT, "build/test-results/shellcheck")
SOURCE = re.compile(r"^\s*# shellcheck source=(\S+)", re.MULTILINE)


def sourced(path, found):
    """The script and all files that it sources."""
    if path not in found and os.path.isfile(path):
        with open(path, encoding="utf-8") as script:
            found[path] = script.read()
        for name in SOURCE.findall(found[path]):
            sourced(name, found)
    return found


def fingerprint(path, tool):
    parts = sourced(path, {})
    return hashlib.sha256("\0".join([tool, path, *(part for name in sorted(parts) for part in (name, parts[name]))]).encode()).hexdigest()


def report(path):
    return subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)


def main(paths):
    os.chdir(ROOT)
    with open(".shellcheckrc", encoding="utf-8") as settings:
        tool = settings.read() + subprocess.run(["shellcheck", "--version"], capture_output=True, text=True, check=True).stdout
    os.makedirs(PASSED, exist_ok=True)
    prints = {path: fingerprint(path, tool) for path in paths}
    known = set(os.listdir(PASSED))
    failed = False
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        changed = [path for path in paths if prints[path] not in known]
        for path, result in zip(changed, workers.map(report, changed)):
            if result.returncode == 0:
                with open(os.path.join(PASSED, prints[path]), "w", encoding="utf-8"):
                    pass
            else:
                print(result.stdout + result.stderr, end="")
                failed = True
    for name in known - set(prints.values()):
        os.remove(os.path.join(PASSED, name))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
