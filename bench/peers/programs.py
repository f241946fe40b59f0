# SPDX-License-Identifier: Apache-2.0
# The programs of the comparison. Each one is a row of the table: its version, a short run, and clients that wait.
import os
import re
from dataclasses import dataclass
from typing import Callable

from harness import Agent, Commands, output


@dataclass
class Program:
    name: str
    version: str
    short: Callable[[str, list], list]  # (lock, command) -> the command line of a run
    clients: Callable[[str], object]  # (lock) -> Commands or Agent
    commands: Callable[[], int] | None = None  # executed by the server so far
    env: dict | None = None


def first(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else "?"


def waits_in_kernel(path):
    """Blocked requests for the lock of a file."""
    inode = f":{os.stat(path).st_ino} "
    with open("/proc/locks", encoding="ascii") as locks:
        return sum("->" in line and inode in line for line in locks)


def flock(stage, gate):
    path = lambda lock: os.path.join(stage, lock)

    def clients(lock):
        open(path(lock), "a").close()
        return Commands(gate, lambda command: ["/usr/bin/flock", path(lock), *command], lambda: waits_in_kernel(path(lock)))

    return Program("flock(1)", first(r"([\d.]+)$", output("/usr/bin/flock", "--version").strip()), lambda lock, command: ["/usr/bin/flock", path(lock), *command], clients)


def etcdctl(gate, server, binary):
    env = {**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": server.url}
    run = lambda lock, command: [binary, "lock", lock, *command]
    # Each client has a key below the name of the lock.
    waiting = lambda lock: lambda: output(binary, "get", "--prefix", lock + "/", "--keys-only", env=env).count(lock) - 1
    return Program("etcdctl lock", first(r"etcdctl version: (\S+)", output(binary, "version", env=env)), run,
                   lambda lock: Commands(gate, lambda command: run(lock, command), waiting(lock), env=env), server.commands, env)


def psql(gate, server):
    def run(lock, command):
        return [server.psql, "-X", "-q", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres",
                "-c", f"SELECT pg_advisory_lock(hashtext('{lock}'))", "-c", "\\! " + " ".join(command)]

    waiting = lambda: int(server.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
    return Program("psql, advisory lock", first(r"([\d.]+)", output(server.psql, "--version")), run,
                   lambda lock: Commands(gate, lambda command: run(lock, command), waiting), server.commands)


def library(name, version, argv, gate, server, env=None):
    line = lambda lock, mode, command: [*argv, str(server.port), lock, mode, *command]
    return Program(name, version, lambda lock, command: line(lock, "run", command),
                   lambda lock: Agent(line(lock, "wait", gate.command), env), server.commands, env)


def cronlatch(name, binary, store, gate, stage, commands=None):
    env = {key: value for key, value in os.environ.items() if not key.startswith("CRONLATCH_")}

    def run(lock, command, *options):
        return [binary, "run", "--isolated", "--store", store, "--lock", lock, *options, "--", *command]

    def clients(lock):
        log = os.path.join(stage, f"{lock}-{len(os.listdir(stage))}.log")
        granted = [0]

        def waiting():
            with open(log, "rb") as text:
                return text.read().count(b"waiting for lock") - granted[0]

        made = Commands(gate, lambda command: run(lock, command, "--on-busy", "wait"), waiting, log, env)
        forget = made.granted

        def count():
            granted[0] += 1
            forget()

        made.granted = count
        return made

    return Program(name, first(r"([\d.]+)", output(binary, "version")), run, clients, commands, env)
