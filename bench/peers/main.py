#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ./dev bench peers: cronlatch and other programs that lock, in one session. Short runs of all programs alternate; the
# hand-offs alternate by blocks, because hundreds of clients of each wait. Prints ratios against flock(1).
import argparse
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time

import programs
import servers
from harness import Gate, seconds_of, wait_until

# Clients that start at once. 500 new sessions of PostgreSQL in one second are a test of its logins, not of the hand-off.
JOIN_AT_ONCE = 50


def short_runs(all_programs, runs):
    """Seconds of `true` under each lock, and of `true` alone, by name."""
    rows = {"the command alone": (lambda lock, command: command, None), **{one.name: (one.short, one.env) for one in all_programs}}
    took = {name: [] for name in rows}
    names = list(rows)
    for i in range(runs + 1):  # the first one is not counted: files are read, connections of servers are created
        for name in names[i % len(names):] + names[:i % len(names)]:
            argv_of, env = rows[name]
            seconds = seconds_of(argv_of("short", ["/bin/true"]), env)
            if i > 0:
                took[name].append(seconds)
    return {name: statistics.median(all_seconds) for name, all_seconds in took.items()}


def hand_offs(program, gate, waiters, count, lock):
    """(seconds, commands) of each hand-off to the next of that many clients, and the memory of a client in kB."""
    clients, found, held = program.clients(lock), [], None
    try:
        clients.join()
        held = gate.next()
        for first in range(0, waiters, JOIN_AT_ONCE):
            joined = min(waiters, first + JOIN_AT_ONCE)
            for _ in range(first, joined):
                clients.join()
            wait_until(f"{program.name}: {joined} clients wait", lambda: clients.waiting() >= joined)
        for _ in range(count):
            wait_until(f"{program.name}: {waiters} clients wait", lambda: clients.waiting() >= waiters)
            memory = clients.memory_kb()
            before = program.commands() if program.commands else 0
            start = time.perf_counter()
            held.close()
            held = gate.next()
            seconds = time.perf_counter() - start
            found.append((seconds, program.commands() - before if program.commands else None))
            clients.granted()
            clients.join()
        return found, memory
    finally:
        clients.stop()
        if held:
            held.close()


def all_hand_offs(all_programs, gate, options):
    found = {one.name: {n: [] for n in options.waiters} for one in all_programs}
    memory = {}
    for block in range(options.blocks):
        for waiters in options.waiters:
            for i in range(len(all_programs)):
                one = all_programs[(i + block) % len(all_programs)]
                print(f"block {block + 1}: {waiters} clients of {one.name}", file=sys.stderr)
                rows, memory_kb = hand_offs(one, gate, waiters, options.hand_offs, f"line-{block}-{waiters}-{i}")
                found[one.name][waiters] += rows
                memory.setdefault(one.name, memory_kb)  # of the smallest number of clients
    return found, memory


def table(all_programs, short, found, memory, waiters):
    base = short["flock(1)"]
    middle = lambda rows, i: statistics.median(row[i] for row in rows)
    base_of = {n: middle(found["flock(1)"][n], 0) for n in waiters}
    print("\n| program | version | short run | memory, MB |" + "".join(f" hand-off, {n} |" for n in waiters) + "".join(f" commands, {n} |" for n in waiters))
    print("|---|---|---:|---:|" + "---:|" * (2 * len(waiters)))
    print(f"| the command alone | | {short['the command alone'] / base:.2f} | |" + " |" * (2 * len(waiters)))
    for one in all_programs:
        cells = [f"{short[one.name] / base:.2f}", f"{memory[one.name] / 1024:.0f}"]
        cells += [f"{middle(found[one.name][n], 0) / base_of[n]:.1f}" for n in waiters]
        cells += [f"{middle(found[one.name][n], 1):.0f}" if one.commands else "" for n in waiters]
        print(f"| {one.name} | {one.version} | " + " | ".join(cells) + " |")
    print(f"\nflock(1): a short run takes {base * 1e3:.2f} ms, a hand-off "
          + ", ".join(f"{base_of[n] * 1e3:.2f} ms with {n}" for n in waiters) + " clients that wait.")


def found_programs(options, stage, gate, running):
    """The programs that are installed; the others are named."""
    def folder(name):
        path = os.path.join(stage, name)
        os.mkdir(path)
        if name == "postgres" and os.getuid() == 0:
            shutil.chown(path, "postgres")
        return path

    def start(server):
        running.append(server)
        return server

    at = lambda *parts: os.path.join(options.build, *parts)
    redis = start(servers.Redis(folder("redis")))
    postgres_user = "postgres" if os.getuid() == 0 else None
    postgres = start(servers.Postgres(folder("postgres"), options.postgres, postgres_user)) if options.postgres else None
    state = folder("state")
    found = [programs.flock(stage, gate),
             programs.cronlatch("cronlatch, file store", options.cronlatch, f"file://{state}", gate, stage),
             programs.cronlatch("cronlatch, Redis", options.cronlatch, f"redis://127.0.0.1:{redis.port}", gate, stage, redis.commands)]
    if postgres:
        url = f"postgres://postgres@127.0.0.1:{postgres.port}/cronlatch?sslmode=disable"
        programs.output(options.cronlatch, "store", "init", "--isolated", "--store", url)
        found += [programs.cronlatch("cronlatch, PostgreSQL", options.cronlatch, url, gate, stage, postgres.commands), programs.psql(gate, postgres)]
    if os.path.exists(at("etcd/usr/bin/etcd")):
        etcd = start(servers.Etcd(folder("etcd"), at("etcd/usr/bin/etcd")))
        found.append(programs.etcdctl(gate, etcd, at("etcd/usr/bin/etcdctl")))
    if os.path.exists(at("redlock/node_modules/redlock")):
        found.append(programs.library("redlock (node)", "4.2.0", [shutil.which("node"), at("redlock/agent.js")], gate, redis))
    if os.path.exists(at("python/redis")):
        found.append(programs.library("redis-py Lock", "6.4.0", [sys.executable, at("redis_py_agent.py")], gate, redis,
                                      {**os.environ, "PYTHONPATH": at("python")}))
    if os.path.exists(at("redsync")):
        found.append(programs.library("redsync", "4.13.0", [at("redsync")], gate, redis))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, help="the folder of the peers")
    parser.add_argument("--cronlatch", required=True)
    parser.add_argument("--postgres", default="", help="the folder of its programs")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--hand-offs", type=int, default=5)
    parser.add_argument("--waiters", type=int, nargs="+", default=[1, 50, 500])
    options, running = parser.parse_args(), []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: terminated"))  # the servers are stopped below
    stage = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)  # the disk is not measured
    os.chmod(stage, 0o755)  # the user of PostgreSQL
    try:
        gate = Gate(os.path.join(stage, "gate"), os.path.join(options.build, "hold"))
        found = found_programs(options, stage, gate, running)
        short = short_runs(found, options.runs)
        rows, memory = all_hand_offs(found, gate, options)
        table(found, short, rows, memory, options.waiters)
    finally:
        for server in reversed(running):
            server.stop()
        shutil.rmtree(stage, ignore_errors=True)


if __name__ == "__main__":
    main()
