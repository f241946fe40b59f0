# SPDX-License-Identifier: Apache-2.0
"""One contender of a run: a real `cronlatch run` with its command, and the signals that it receives from outside."""
import asyncio
import contextlib
import os
import signal
import time

LOCK = "chaos/lock"
AS_FIRST_PROCESS = ("unshare", "--pid", "--fork", "--mount-proc")
AS_OTHER_USER = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def processes_of(stage, run=None):
    """The live processes of the run's commands, (pid, contender), descendants included. A killed process has no argument
    list, and a wrapper begins with another word."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        words = read_proc(pid, "cmdline").split(b"\0")
        if len(words) > 4 and words[0] == stage["command"].encode() and words[2] == stage["life"].encode():
            if run in (None, words[3].decode()):
                found.append((int(pid), words[3].decode()))
    return found


def signal_all(pids, signo):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signo)


class Contender:
    def __init__(self, plan, stage):
        self.plan = plan
        self.stage = stage
        self.process = None
        self.stopped = False
        # Without the right to it, a contender runs like any other; chaos.py reports that.
        missing = os.environ.get("CHAOS_MISSING", "").split()
        self.kind = "plain" if plan["kind"] in missing else plan["kind"]

    @property
    def id(self):
        return self.plan["id"]

    def options(self, port):
        plan, stage = self.plan, self.stage
        yield from ("--lock", LOCK, "--store", f"rediss://cron@127.0.0.1:{port}", "--tls-ca", stage["ca"])
        yield from ("--log-format", "json", "--log-level", plan["log_level"], "--holder", self.id)
        yield from ("--outcome-file", os.path.join(stage["folder"], "out", self.id + ".outcome"))
        for key in ("on_busy", "on_store_down", "leftovers", "job"):
            yield from ("--" + key.replace("_", "-"), plan[key])
        for key in ("ttl", "wait_timeout", "min_hold", "max_run", "kill_after"):
            yield from ("--" + key.replace("_", "-"), f"{int(plan[key] * 1000)}ms" if plan[key] else "0")
        for key, option in (("once", "--once-per"), ("group", "--attempt-group")):
            if plan[key]:
                yield from (option, plan[key])
        if plan["password"] == "file":
            yield from ("--password-file", os.path.join(stage["folder"], "password"))

    def arguments(self, port):
        prefix = {"first": AS_FIRST_PROCESS, "user": AS_OTHER_USER, "plain": ()}[self.kind]
        command = self.plan["command"]
        gated = (self.stage["command"], "run", self.stage["life"], self.id, command["seconds"], command["exit"],
                 command["term"], command["descendants"], command["linger"])
        return [str(word) for word in (*prefix, self.stage["wrapper"], "run", *self.options(port), "--", *gated)]

    async def start(self, port):
        environment = {"PATH": os.environ["PATH"]}
        if self.plan["password"] == "variable":
            environment["CRONLATCH_PASSWORD"] = self.stage["password"]
        with open(os.path.join(self.stage["folder"], "out", self.id + ".log"), "wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.arguments(port), env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def is_running(self):
        return self.process is not None and self.process.returncode is None

    def wrapper_pid(self):
        """The process of cronlatch itself; None before it has started or after it has ended."""
        if not self.is_running:
            return None
        if self.kind != "first":
            return self.process.pid
        pid = self.process.pid
        for child in read_proc(pid, f"task/{pid}/children").split():
            if read_proc(int(child), "cmdline").startswith(self.stage["wrapper"].encode() + b"\0"):
                return int(child)
        return None

    def pids(self, who):
        wrapper = self.wrapper_pid()
        wrappers = [wrapper] if wrapper else []
        if who == "wrapper":
            return wrappers
        commands = [pid for pid, _ in processes_of(self.stage, self.id)]
        return commands if who == "command" else wrappers + commands

    def loses_descendants(self):
        """Whether descendants in other sessions survive the SIGKILL of the wrapper: docs/guarantees.md has this limit."""
        return self.kind != "first" and self.plan["command"]["descendants"] > 0

    def resume(self, pids):
        signal_all(pids, signal.SIGCONT)

    def proven_alive(self, pids):
        """(time, pid) of each process that is stopped, not killed, after this time."""
        for pid in pids:
            at = now()
            if b"State:\tT" in read_proc(pid, "status"):
                yield at, pid
