#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""checker.py FOLDER...: judges histories of chaos runs. It reads files only, and contains no code of cronlatch. Each rule has the
name of the guarantee in docs/guarantees.md that it checks.

Exit code: 0 no violation; 1 a violation; 3 no violation, but a run was not judged."""
import pathlib
import sys

import rules_exclusion
import rules_results
from history import HOST_LIMIT, SECOND, History

SECRETS_BELONG = ("password", "users.acl")


def secret(history):
    """No password is in any file that a run has written."""
    password = (history.folder / "password").read_text().strip()
    for path in sorted(history.folder.rglob("*")):
        if path.is_file() and path.name not in SECRETS_BELONG and password.encode() in path.read_bytes():
            yield f"{path.relative_to(history.folder)} contains the password", [str(path)]
    for who in history.ran:
        for at in (at for at, kind, _ in who.lines if kind == "secret"):
            yield f"the environment of the command of {who.id} contains the password", [who.line(at)]


RULES = {**rules_exclusion.RULES, **rules_results.RULES, "secret": secret}
# These do not depend on time: a slow host does not excuse them.
UNTIMED = {"S2", "S4", "L0", "C1", "C2", "K3", "L5", "secret"}


class Verdict:
    def __init__(self, history):
        self.history = history
        self.violations = []  # (rule, sentence, lines)
        self.not_judged = None
        stalled = history.worst_stall > HOST_LIMIT
        if stalled:
            what = max(history.stalls, key=lambda each: each[1] - each[0])[2]
            self.not_judged = f"host stalled {history.worst_stall / SECOND:.1f} s ({what})"
        for name, rule in RULES.items():
            if stalled and name not in UNTIMED:
                continue
            self.violations += [(name, sentence, lines) for sentence, lines in rule(history)]

    @property
    def word(self):
        return "VIOLATION" if self.violations else "not judged" if self.not_judged else "ok"

    def report(self):
        history = self.history
        for name, sentence, lines in self.violations:
            yield f"seed {history.seed} (law: {history.law}), rule {name}: {sentence}"
            yield from (f"    {line}" for line in lines)
        if self.violations:
            yield f"    history: {history.folder}"
            yield f"    again:   ./dev chaos --check {history.folder}"
            yield f"    replay:  ./dev chaos --seed {history.seed} (the same plan; the machine's timing differs)"


def judge(folder):
    return Verdict(History(folder))


def main(folders):
    verdicts = [judge(pathlib.Path(folder)) for folder in folders]
    for verdict in verdicts:
        why = f": {verdict.not_judged}" if verdict.not_judged else ""
        print(f"{verdict.word:10} seed {verdict.history.seed}{why}")
        for line in verdict.report():
            print(line)
    if any(verdict.violations for verdict in verdicts):
        return 1
    return 3 if any(verdict.not_judged for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
