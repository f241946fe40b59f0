# SPDX-License-Identifier: Apache-2.0
"""Reads the history of one run, for the checker. All times are nanoseconds of CLOCK_BOOTTIME.

  plan      what was planned (plan.py)
  events    one JSON object a line: started, ended (with the exit code), fault (from, until), lag, contents, cleanup
  life      one line for each sign of life of a command: start, beat, end; `alive` for a stopped process
  host.*    the times in which the host did not run a process, or did not finish a synced write
  out/      outcome and log of each contender
"""
import json
import pathlib

SECOND = 1_000_000_000
# The rules about time allow this much for the host; a longer stall makes a run one that is not judged.
HOST_LIMIT = SECOND // 2
BASE_SLACK = 3 * SECOND // 10


class Contender:
    def __init__(self, plan):
        self.plan = plan
        self.id = plan["id"]
        self.began = self.ended = self.code = self.outcome = self.outcome_text = None
        self.starts, self.lines, self.fences = [], [], []
        self.killed_at = None  # SIGKILL of the wrapper from outside
        self.signals = []  # (time, who, kind) of the other signals
        self.stops = []  # (from, until) in which the wrapper was stopped

    @property
    def ttl(self):
        return int(self.plan["ttl"] * SECOND)

    @property
    def start(self):
        return self.starts[0] if self.starts else None

    @property
    def last(self):
        """The last time at which a process of the command was certainly alive."""
        return max(at for at, _, _ in self.lines) if self.lines else None

    @property
    def fence(self):
        return self.fences[0] if self.fences else None

    @property
    def kind(self):
        return (self.outcome or {}).get("outcome")

    def line(self, at):
        """Where to look in the history."""
        return f"life: {at} {self.id}"


class History:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.plan = json.loads((self.folder / "plan").read_text())
        self.contenders = {plan["id"]: Contender(plan) for plan in self.plan["contenders"]}
        self.faults, self.stalls, self.stuck = [], [], []
        self.contents = None
        self.cleanup = None
        self.offset_us = 0  # the wall clock minus CLOCK_BOOTTIME, in microseconds
        for line in (self.folder / "events").read_text().splitlines():
            self.read_event(json.loads(line))
        self.read_life()
        self.read_outcomes()
        self.read_host()

    @property
    def law(self):
        return self.plan["law"]

    @property
    def seed(self):
        return self.plan["seed"]

    @property
    def ran(self):
        """The contenders whose command was started, in the order of the starts."""
        return sorted((each for each in self.contenders.values() if each.starts), key=lambda each: each.start)

    @property
    def worst_stall(self):
        return max((until - begin for begin, until, _ in self.stalls), default=0)

    @property
    def slack(self):
        return BASE_SLACK + self.worst_stall

    def read_event(self, event):
        what = event["what"]
        who = self.contenders.get(event.get("contender"))
        if what == "begin":
            self.offset_us = event["wall_us"] - event["at"] // 1000
        elif what == "started":
            who.began = event["at"]
        elif what == "ended":
            who.ended, who.code = event["at"], event["code"]
        elif what == "stuck":
            self.stuck.append(who)
        elif what == "fault":
            self.faults.append(event)
            if event["class"] == "process":
                self.read_signal(who, event)
        elif what == "lag":
            self.stalls.append((event["from"], event["until"], "lag"))
        elif what == "contents":
            self.contents = event
        elif what == "cleanup":
            self.cleanup = event["at"]

    @staticmethod
    def read_signal(who, event):
        hits_wrapper = event["who"] in ("wrapper", "tree")
        if event["kind"] == "kill" and hits_wrapper:
            who.killed_at = min(who.killed_at or event["from"], event["from"])
        elif event["kind"] == "stop" and hits_wrapper:
            who.stops.append((event["from"], event["until"]))
        who.signals.append((event["from"], event["who"], event["kind"]))

    def read_life(self):
        for line in (self.folder / "life").read_text().splitlines():
            at, kind, id, pid, fence = line.split()
            who, at = self.contenders[id], int(at)
            if self.cleanup is not None and at > self.cleanup:
                continue
            who.lines.append((at, kind, int(pid)))
            if kind == "start":
                who.starts.append(at)
                who.fences.append(int(fence) if fence.isdigit() else 0)

    def read_outcomes(self):
        for who in self.contenders.values():
            path = self.folder / "out" / (who.id + ".outcome")
            if not path.exists():
                continue
            who.outcome_text = path.read_text()
            try:
                who.outcome = json.loads(who.outcome_text)
            except ValueError:
                who.outcome = {"outcome": "not JSON"}

    def read_host(self):
        for path in self.folder.glob("host.*"):
            if path.suffix == ".sync":
                continue
            for line in path.read_text().splitlines():
                begin, until, what = line.split()
                self.stalls.append((int(begin), int(until), what))
