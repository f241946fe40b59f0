# SPDX-License-Identifier: Apache-2.0
"""Writes small histories by hand, for the tests of the checker."""
import json
import pathlib
import tempfile

import checker

SECOND = 1_000_000_000
PASSWORD = "canary-0123"
WALL_US = 1_700_000_000_000_000
CONTENDER = {"kind": "plain", "path": 0, "ttl": 5, "on_busy": "wait", "wait_timeout": 0, "on_store_down": "fail", "min_hold": 0,
             "max_run": 0, "once": None, "group": None, "job": "a", "command": {"exit": 0, "descendants": 0}}


class Story:
    """A history: two contenders whose commands live from 1 s to 2 s and from 3 s to 4 s, unless a test changes it."""

    def __init__(self, law="keeps", guardian=False):
        self.law, self.guardian = law, guardian
        self.contenders, self.events, self.life, self.host, self.files = {}, [], [], [], {}
        self.stats = {"acquired|a": "2", "released|a": "2", "runs_succeeded|a": "2"}
        self.run("c0", 1, 2)
        self.run("c1", 3, 4)

    def run(self, id, start, last, ended=None, code=0, fence=None, began=0.5, outcome=None, **plan):
        """start None: the command is not started."""
        self.life = [line for line in self.life if line[2] != id]
        self.events = [event for event in self.events if event[1].get("contender") != id]
        self.contenders[id] = {**CONTENDER, "id": id, **plan}
        fence = fence or int(WALL_US + (start or 0) * 1_000_000)
        if start is not None:
            self.life += [(start, "start", id, fence), (last, "beat", id, fence)]
        self.event(began, "started", contender=id)
        ended = ended or (last or began) + 0.1
        self.event(ended, "ended", contender=id, code=code)
        self.files[f"out/{id}.outcome"] = json.dumps(
            {"outcome": "ran", "exit_code": code, "lock": "chaos/lock", **(outcome or {})}) + "\n"

    def event(self, at, what, **details):
        self.events.append((at, {"what": what, **details}))

    def fault(self, begin, until, **details):
        self.event(until, "fault", **{"from": int(begin * SECOND), "until": int(until * SECOND)}, **details)

    def kill(self, id, at):
        self.fault(at, at, **{"class": "process", "kind": "kill", "who": "wrapper", "contender": id})
        del self.files[f"out/{id}.outcome"]

    def broken(self):
        """The names of the rules that the checker reports."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "out").mkdir()
            plan = {"seed": 1, "law": self.law, "guardian": self.guardian, "contenders": list(self.contenders.values())}
            contents = (60, {"what": "contents", "stats": self.stats, "record": {"state": "free"}})
            events = [(0, {"what": "begin", "wall_us": WALL_US}), *self.events, contents, (61, {"what": "cleanup"})]
            lines = [json.dumps({"at": int(at * SECOND), **event}) for at, event in events]
            life = [f"{int(at * SECOND)} {kind} {id} 7 {fence}" for at, kind, id, fence in self.life]
            host = [f"{int(begin * SECOND)} {int(until * SECOND)} cpu" for begin, until in self.host]
            self.files.update({"plan": json.dumps(plan), "events": "\n".join(lines), "life": "\n".join(life),
                               "password": PASSWORD + "\n", "host.0": "\n".join(host)})
            for path, text in self.files.items():
                (folder / path).write_text(text)
            verdict = checker.judge(folder)
            self.word = verdict.word
            return {rule for rule, _, _ in verdict.violations}
