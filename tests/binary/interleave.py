#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Contenders of several programs start at random times for one key; a log of their commands shows whether two overlapped.

    interleave.py run DIR PORT CRONLATCH DOUBLES TRIALS SEED   TRIALS interleavings; DIR gets one log for each
    interleave.py judge DIR                                    exit code 1 for an overlap, or when a program never ran

A command appends `S PROGRAM PID` to the log of its trial when it starts, and `E PROGRAM PID` when it ends, each by one write.
The judge reads these lines, and nothing else.
"""
import concurrent.futures
import os
import random
import subprocess
import sys
import time

# Appends a line, waits, appends a line. With three contenders of 30 ms, each start lies within the run of another.
COMMAND = 'echo "S $1 $$" >>"$0"; sleep "$2"; echo "E $1 $$" >>"$0"'
# Two programs that share the key, each of them twice.
PAIRS = [("cronlock", "native"), ("golock", "native"), ("redlock", "native"), ("cronlock", "as"), ("golock", "as")]


def contender(plan, kind, program, trial):
    """The command line and the environment of one contender."""
    log = os.path.join(plan["dir"], f"{trial}.log")
    key = f"cronlock.k{trial}"
    work = ["/bin/sh", "-c", COMMAND, log, kind, f"{plan['random'].uniform(0.005, 0.05):.3f}"]
    environment = {"PATH": "/usr/bin:/bin", "CRONLOCK_HOST": "127.0.0.1", "CRONLOCK_PORT": plan["port"],
                   "CRONLOCK_KEY": f"k{trial}", "CRONLOCK_GRACE": "0", "CRONLOCK_CONFIG": "/dev/null"}
    if kind == "native":
        options = ["run", "--isolated", "--store", f"redis://127.0.0.1:{plan['port']}", "--key-format", program,
                   "--foreign-key", key, "--log-level", "warn"]
        return [plan["cronlatch"], *options, "--", *work], environment
    if kind == "as":
        return [plan["cronlatch"], "as", program, *work], environment
    arguments = [f"127.0.0.1:{plan['port']}", key] if program == "redlock" else []
    return [os.path.join(plan["doubles"], program), *arguments, *work], environment


def interleave(plan, trial):
    program, ours = PAIRS[trial % len(PAIRS)]
    starts = sorted((plan["random"].uniform(0, 0.06), kind) for kind in (program, program, ours, ours))
    children = []
    began = time.monotonic()
    for at, kind in starts:
        time.sleep(max(0, began + at - time.monotonic()))
        argv, environment = contender(plan, kind, program, trial)
        children.append(subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL))
    return [child.wait() for child in children]


def run(directory, port, cronlatch, doubles, trials, seed):
    plan = {"dir": directory, "port": port, "cronlatch": cronlatch, "doubles": doubles, "random": random.Random(int(seed))}
    codes = {}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for ended in pool.map(lambda trial: interleave(plan, trial), range(int(trials))):
            for code in ended:
                codes[code] = codes.get(code, 0) + 1
    print("exit codes:", " ".join(f"{code}: {times}" for code, times in sorted(codes.items())))
    unexpected = set(codes) - {0, 9, 200}  # ran; a busy lock of redlock, of the others
    if unexpected:
        print("unexpected exit codes:", *sorted(unexpected))
    return 1 if unexpected else 0


def overlaps(lines):
    """The line that started inside another run; None when there is none."""
    running = None
    for line in lines:
        event, *who = line.split()
        if event == "S":
            if running is not None:
                return line
            running = who
        elif running == who:
            running = None
    return None


def judge(directory):
    runs, status = {}, 0
    names = sorted(name for name in os.listdir(directory) if name.endswith(".log"))
    for name in names:
        with open(os.path.join(directory, name), encoding="utf-8") as text:
            lines = text.read().splitlines()
        found = overlaps(lines)
        if found is not None:
            print(f"{name}: overlap at {found!r} in {lines}")
            status = 1
        for line in lines:
            if line.startswith("S "):
                kind = line.split()[1]
                runs[kind] = runs.get(kind, 0) + 1
    print(f"{len(names)} keys;", ", ".join(f"{kind} ran {times} times" for kind, times in sorted(runs.items())))
    missing = {"cronlock", "golock", "redlock", "native", "as"} - set(runs)
    if missing:
        print("never ran:", *sorted(missing))
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(run(*sys.argv[2:]) if sys.argv[1] == "run" else judge(sys.argv[2]))
