# SPDX-License-Identifier: Apache-2.0
"""Rules about which commands may live when: S1, S2, S4, S5, L0, L2 of docs/guarantees.md."""
from history import SECOND

AFTER_RESUME = SECOND // 10  # S1 without A3: how long a resumed tree may run
AFTER_KILL = SECOND // 10
LONG_STOP = 9 * SECOND // 10  # a stop of the wrapper beyond the budget for scheduling
ANSWER_WINDOW = 5 * SECOND  # connect-timeout
LONGEST_PAUSE = 13 * SECOND  # on-store-down=wait: between two windows


def seconds(length):
    return f"{length / SECOND:.3f} s"


def breaks_assumption(history, fault):
    """Whether the store lost data (A1), or its clock stepped too far forward (A2)."""
    if fault["class"] == "server" and fault["kind"] == "empty":
        return True
    return fault["class"] == "clock" and fault["step"] > 0.5


def failed_at(fault):
    """A grant before this time is one of the data, or of the clock, that the store then lost."""
    return fault.get("lost", fault["until"])


def granted_before(history, who, fault):
    """By the fencing token, which is not smaller than the store's time at the grant. No plan combines a large step with an
    earlier one, so that the store's clock was the machine's until then."""
    return who.fence <= failed_at(fault) // 1000 + history.offset_us


def is_excused(history, first, second, begin, end):
    """One was granted before the store failed it, and ends within its own lease; the other was granted after it."""
    for fault in filter(lambda each: breaks_assumption(history, each), history.faults):
        before = [granted_before(history, each, fault) for each in (first, second)]
        old = first if before[0] else second
        if before[0] != before[1] and begin >= fault["from"] and end <= failed_at(fault) + old.ttl:
            return True
    return False


def lives(history, who):
    """The intervals in which the command was alive and may not overlap with others. Without A3, a tree that was stopped
    together with its wrapper may run for a moment after it was resumed, and that of a stopped wrapper without a guardian
    runs on. The first process of a PID namespace has none: only a process outside of the namespace can stop it."""
    has_guardian = history.plan["guardian"] and who.plan["kind"] != "first"
    pieces, begin = [], who.start
    for stopped, resumed in sorted(who.stops):
        if resumed - stopped <= LONG_STOP or (has_guardian and not is_tree_stop(who, stopped)):
            continue
        before = [at for at, _, _ in who.lines if begin <= at < stopped]
        if before:
            pieces.append((begin, max(before)))
        begin = max(begin, resumed + AFTER_RESUME + history.slack)
    if who.last >= begin:
        pieces.append((begin, who.last))
    return pieces


def is_tree_stop(who, at):
    return any(each == (at, "tree", "stop") for each in who.signals)


def s1_overlap(history):
    """S1: two commands never live at the same time."""
    ran = history.ran
    for position, first in enumerate(ran):
        for second in ran[position + 1:]:
            for one in lives(history, first):
                for other in lives(history, second):
                    begin, end = max(one[0], other[0]), min(one[1], other[1])
                    if begin <= end and not is_excused(history, first, second, begin, end):
                        yield (f"{first.id} and {second.id} live together for at least {seconds(end - begin)}",
                               [first.line(first.start), second.line(second.start), f"life: {begin} to {end}"])


def s2_fence(history):
    """S2: every command has a fencing token, no two the same, rising in the order of the grants."""
    highest = None
    for who in history.ran:
        if who.fence == 0:
            yield f"{who.id} was started without a fencing token", [who.line(who.start)]
        elif highest and who.fence <= highest.fence:
            late = any(breaks_assumption(history, each) and granted_before(history, who, each)
                       and who.start <= failed_at(each) + who.ttl for each in history.faults)
            if who.fence == highest.fence or not late:
                yield (f"{who.id} has the token {who.fence}, after {highest.id} with {highest.fence}",
                       [highest.line(highest.start), who.line(who.start)])
        else:
            highest = who


def s4_start(history):
    """S4: a command starts once, and never for a run that reports that it did not start it."""
    for who in history.ran:
        if len(who.starts) > 1:
            yield f"{who.id} started its command {len(who.starts)} times", [who.line(at) for at in who.starts]
        if who.kind in ("skipped", "busy", "store_down", "refused", "interrupted", "cannot_start", "usage"):
            yield f"{who.id} reports {who.kind}, but its command was started", [who.line(who.start)]


def s5_orphan(history):
    """S5: no process of a command outlives its run. After SIGKILL of the run it has a moment."""
    for who in history.ran:
        if who.ended is None:
            continue
        limit = who.killed_at + AFTER_KILL + history.slack if who.killed_at else who.ended
        if who.last > max(limit, who.ended if not who.killed_at else 0):
            yield (f"a process of {who.id} lived {seconds(who.last - limit)} longer than its run",
                   [f"ended: {who.ended}", who.line(who.last)])


def l0_min_hold(history):
    """L0: the lock stays closed for the min-hold, by the store's own clock."""
    if history.law != "keeps":
        return
    for first, second in zip(history.ran, history.ran[1:]):
        same_group = first.plan["group"] and first.plan["group"] == second.plan["group"]
        distance = (second.fence - first.fence) * 1000
        if not same_group and 0 < distance < int(first.plan["min_hold"] * SECOND):
            yield (f"{second.id} was granted the lock {seconds(distance)} after {first.id}, whose min-hold is "
                   f"{first.plan['min_hold']} s", [first.line(first.start), second.line(second.start)])


def disturbs(fault, waiter):
    """Whether a fault can delay this waiter, or moves the time at which it may be granted the lock."""
    if fault["class"] == "process":
        return True
    return fault["class"] != "network" or waiter.plan["path"] in fault["paths"]


def quiet_times(history, waiter):
    """The intervals in which no fault is in effect, or has been shortly before, while the waiter waits."""
    begin = waiter.began + SECOND // 2
    end = min(waiter.start or waiter.ended or history.cleanup, waiter.ended or history.cleanup)
    recovery = LONGEST_PAUSE if waiter.plan["on_store_down"] == "wait" else ANSWER_WINDOW + SECOND
    faults = sorted((f for f in history.faults if disturbs(f, waiter)), key=lambda each: each["from"])
    for fault in faults:
        if fault["from"] > begin:
            yield begin, min(end, fault["from"])
        own = fault["class"] == "process" and fault.get("contender") != waiter.id
        begin = max(begin, fault["until"] + (0 if own or fault["class"] == "clock" else recovery))
    yield begin, end


def l2_gap(history):
    """L2: a waiting run starts within T + 1 s after the last holder crashed (L7: or the store's clock stepped)."""
    ttl = max(each.ttl for each in history.contenders.values())
    limit = ttl + SECOND + history.slack + max(int(c.plan["min_hold"] * SECOND) for c in history.contenders.values())
    for waiter in history.contenders.values():
        if waiter.plan["on_busy"] != "wait" or waiter.plan["once"] or waiter.began is None:
            continue
        for begin, end in quiet_times(history, waiter):
            for who in history.ran:
                if who is not waiter and who.start < end and who.last > begin:
                    if who.start - begin > limit:
                        break
                    begin = max(begin, who.last)
            if end - begin > limit:
                yield f"{waiter.id} waited {seconds(end - begin)} for a lock that no command had", [f"from: {begin}"]


RULES = {"S1": s1_overlap, "S2": s2_fence, "S4": s4_start, "S5": s5_orphan, "L0": l0_min_hold, "L2": l2_gap}
