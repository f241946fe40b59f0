# SPDX-License-Identifier: Apache-2.0
"""The plan of one run: which contenders start when, and which faults happen when. The same seed gives the same plan; the
machine's timing still differs from run to run.

A plan has one law, because the guarantees differ:
  keeps    the store keeps what it acknowledged: every rule applies
  clock    so it does; the store's clock steps back, or forward by at most 0.4 s: every rule applies
  forward  the store's clock steps far forward, once: an overlap may follow for one lease
  loses    the store restarts without its data: an overlap may follow for one lease
"""
import random

# The guardian covers two situations outside of a PID namespace: the wrapper is killed while the command has descendants
# in other sessions, and the wrapper alone is stopped for long. False: plans for a wrapper without a guardian. In a PID
# namespace the kernel covers the former, and nothing the latter.
GUARDIAN = True

SECONDS = 12  # the time in which contenders start and faults happen
LAWS = {"keeps": 60, "clock": 15, "forward": 10, "loses": 15}
PATHS = 2  # each contender has one of two paths (proxies) to the store
# A stop within the budget for scheduling (A3) never excuses an overlap.
SHORT_STOP = 0.6


def pick(rng, weights):
    return rng.choices(list(weights), list(weights.values()))[0]


def seconds(rng, low, high):
    return round(rng.uniform(low, high), 2)


def contender(rng, number):
    on_busy = pick(rng, {"wait": 8, "skip": 2, "fail": 1})
    kind = pick(rng, {"first": 4, "plain": 4, "user": 3})
    # Without a guardian, a contender with descendants outside of a PID namespace is never killed: it is one of few.
    covered = kind == "first" or GUARDIAN
    descendants = pick(rng, {0: 5, 1: 3, 2: 2} if covered else {0: 8, 1: 1, 2: 1})
    return {
        "id": f"c{number}",
        "at": seconds(rng, 0, 0.5) if number < 2 else seconds(rng, 0.2, SECONDS - 2),
        "kind": kind,
        "path": rng.randrange(PATHS),
        "ttl": pick(rng, {5: 3, 6: 1}),
        "on_busy": on_busy,
        "wait_timeout": seconds(rng, 2, 9) if on_busy == "wait" and rng.random() < 0.3 else 0,
        "on_store_down": pick(rng, {"fail": 3, "wait": 1}),
        "min_hold": seconds(rng, 0.5, 2.5) if rng.random() < 0.15 else 0,
        "max_run": seconds(rng, 0.5, 2.5) if rng.random() < 0.1 else 0,
        "kill_after": seconds(rng, 0, 1.5),
        "leftovers": pick(rng, {"end": 3, "wait": 1}),
        "once": f"tick-{rng.randrange(2)}" if rng.random() < 0.15 else None,
        "group": f"group-{rng.randrange(2)}" if rng.random() < 0.15 else None,
        "job": f"job-{rng.randrange(2)}",
        "password": pick(rng, {"variable": 1, "file": 1}),
        "log_level": pick(rng, {"info": 1, "debug": 1}),
        "command": {
            "seconds": seconds(rng, 0.1, 1.5) if rng.random() < 0.5 else seconds(rng, 1.5, 5),
            "exit": pick(rng, {0: 5, 3: 1, 75: 1}),
            "term": pick(rng, {"obey": 3, "ignore": 2}),
            "descendants": descendants,
            "linger": seconds(rng, 0, 1.5) if descendants else 0,
        },
    }


def process_fault(rng):
    kind = pick(rng, {"kill": 5, "stop": 4, "term": 1})
    target = pick(rng, {"holder": 4, "waiter": 1})
    if kind == "term":
        return {"kind": kind, "target": target, "who": "wrapper"}
    who = pick(rng, {"wrapper": 3, "command": 2, "tree": 2})
    fault = {"kind": kind, "target": target, "who": who}
    if kind == "stop":
        long = who != "wrapper" or GUARDIAN
        fault["seconds"] = seconds(rng, 0.5, 8) if long else seconds(rng, 0.05, SHORT_STOP - 0.1)
    return fault


def network_fault(rng):
    kind = pick(rng, {"refuse": 2, "close": 2, "cut": 3, "delay": 2, "hole": 3, "up": 2, "down": 2, "slow": 1})
    fault = {"kind": kind, "paths": pick(rng, {(0,): 2, (1,): 2, (0, 1): 2})}
    if kind != "cut":
        fault["seconds"] = seconds(rng, 0.2, 2.5) if rng.random() < 0.5 else seconds(rng, 2.5, 7)
    if kind == "delay":
        fault["delay"] = seconds(rng, 0.02, 0.9)
    if kind == "slow":
        fault["bytes"] = rng.choice([4, 16, 64])
    if kind in ("hole", "up", "down"):
        fault["then"] = rng.choice(["deliver", "drop"])
    return fault


def server_fault(rng):
    kind = pick(rng, {"restart": 3, "pause": 3, "rotate": 1, "foreign": 1})
    fault = {"kind": kind}
    if kind != "rotate":
        fault["seconds"] = seconds(rng, 0.05, 1.5) if rng.random() < 0.6 else seconds(rng, 1.5, 7)
    return fault


def clock_fault(law, rng):
    if law == "forward":
        return {"kind": "step", "step": seconds(rng, 0.6, 4) if rng.random() < 0.5 else rng.choice([60, 3600])}
    if rng.random() < 0.3:
        return {"kind": "step", "step": seconds(rng, 0.05, 0.4)}
    return {"kind": "step", "step": -seconds(rng, 0.1, 8) if rng.random() < 0.6 else -rng.choice([60, 3600])}


def faults(law, rng):
    makers = {"process": process_fault, "network": network_fault, "server": server_fault}
    weights = {"process": 5, "network": 4, "server": 2}
    planned = []
    for _ in range(rng.randint(2, 5)):
        group = pick(rng, weights)
        planned.append({"class": group, **makers[group](rng)})
    # The bound of A2 is for all forward steps within one lease: there is one step only.
    if law in ("clock", "forward"):
        planned.append({"class": "clock", **clock_fault(law, rng)})
    if law == "loses":
        planned.append({"class": "server", "kind": "empty", "seconds": seconds(rng, 0, 1)})
    for fault in planned:
        fault["at"] = seconds(rng, 0.8, SECONDS)
    return sorted(planned, key=lambda fault: fault["at"])


def make(seed):
    rng = random.Random(f"chaos {seed}")
    law = pick(rng, LAWS)
    count = rng.randint(5, 8)
    return {
        "seed": seed,
        "law": law,
        "guardian": GUARDIAN,
        "contenders": [contender(rng, number) for number in range(count)],
        "faults": faults(law, rng),
    }
