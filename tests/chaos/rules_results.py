# SPDX-License-Identifier: Apache-2.0
"""Rules about what each run reports: exit code, outcome, and the statistics in the store."""
import signal

from history import SECOND

# outcome: (exit codes, the fault that it needs; None: needs none)
NOT_STARTED = {"skipped": 0, "busy": 75, "store_down": 69}
# After a fault, its effect on a run can be reported this much later.
EFFECT = 8 * SECOND
SHORT_STOP = 3 * SECOND // 10


def was_disturbed(history, who, tls=False, until=None):
    """Whether a fault can have taken the store from this run."""
    for fault in history.faults:
        if fault["from"] > (until or who.ended) or fault["until"] + EFFECT < who.began:
            continue
        if tls:
            if fault["kind"] == "foreign":
                return True
        elif fault["class"] == "server" and fault["kind"] != "rotate":
            return True
        elif fault["class"] == "network" and who.plan["path"] in fault["paths"]:
            return True
        elif fault["class"] == "clock" and fault["step"] > 0.5:
            return True
        elif fault["class"] == "process" and fault.get("contender") == who.id and fault["kind"] == "stop":
            if fault["who"] != "command" and fault["until"] - fault["from"] > SHORT_STOP:
                return True
    return False


def received(who, kind, *targets):
    return any(each[1] in targets and each[2] == kind for each in who.signals)


def code_problem(history, who):
    """Why the exit code and the outcome are wrong for what happened; None when they are right."""
    outcome, code = who.outcome or {}, who.code
    kind, reason = outcome.get("outcome"), outcome.get("reason")
    if kind is None:
        return "no outcome"
    if outcome.get("exit_code") != code:
        return f"the outcome contains exit code {outcome.get('exit_code')}"
    if outcome.get("lock") != "chaos/lock" and kind != "usage":
        return f"the outcome contains the lock {outcome.get('lock')}"
    if kind == "ran":
        return ran_problem(who, code)
    if kind in NOT_STARTED and code != NOT_STARTED[kind]:
        return f"{kind} has another exit code"
    if kind == "skipped":
        return skipped_problem(history, who, reason)
    if kind == "busy":
        limited = who.plan["wait_timeout"] or who.plan["group"]
        return None if who.plan["on_busy"] == "fail" or limited else "a run without a limit gave up"
    if kind == "store_down":
        return None if was_disturbed(history, who) else "the store was available all the time"
    if kind == "refused":
        return None if code == 77 and was_disturbed(history, who, tls=True) else f"refused ({reason}) without a reason"
    if kind == "lost":
        return None if code == 79 and was_disturbed(history, who) else f"lost ({reason}) without a reason"
    if kind == "timed_out":
        return None if code == 124 and who.plan["max_run"] else "the run has no limit"
    if kind == "interrupted":
        return None if code == 128 + signal.SIGTERM and received(who, "term", "wrapper") else "no signal was sent"
    return f"the outcome {kind} is impossible here"


def ran_problem(who, code):
    if not who.starts:
        return "the command never started"
    allowed = {who.plan["command"]["exit"]}
    if received(who, "kill", "command"):
        allowed.add(128 + signal.SIGKILL)
    if received(who, "term", "wrapper", "command"):
        # A command that ignores TERM is killed only at the limits of the run.
        allowed.add(128 + signal.SIGTERM)
    return None if code in allowed else f"the command cannot have exited with {code}"


def skipped_problem(history, who, reason):
    if reason == "done":
        return None if who.plan["once"] else "the run has no identity"
    if who.plan["on_busy"] != "skip":
        return "on-busy is not skip"
    # The lock is busy for one lease, or one min-hold, after a command was last seen.
    rest = max(max(int(each.plan["min_hold"] * SECOND), each.ttl) for each in history.contenders.values())
    rest += history.slack
    others = [each for each in history.contenders.values() if each is not who and each.began is not None]
    busy = any(each.began <= who.ended and (each.ended is None or each.ended + rest >= who.began) for each in others)
    return None if busy else "no other run can have held the lock"


def was_killed(who):
    """Whether SIGKILL ended the run before it could report. unshare then exits with a code of its own."""
    return who.killed_at and (who.outcome is None or who.outcome.get("exit_code") != who.code)


def exit_code(history):
    """Each exit code and outcome is one that the exit codes of docs/reference allow for what happened to the run."""
    for who in history.contenders.values():
        if who.ended is None or was_killed(who):
            continue
        problem = code_problem(history, who)
        if problem:
            yield f"{who.id}: exit code {who.code}, outcome {who.kind}: {problem}", [f"ended: {who.ended} {who.outcome_text}"]


def stuck(history):
    """Every run ends, once the faults have ended."""
    for who in history.stuck:
        yield f"{who.id} did not end", [f"began: {who.began}"]


def l5_group(history):
    """L5: an attempt group that was granted the lock does not skip a busy lock afterwards."""
    if history.law == "loses":
        return
    for who in history.contenders.values():
        if who.kind != "skipped" or (who.outcome or {}).get("reason") != "held" or not who.plan["group"]:
            continue
        for other in history.ran:
            if other is not who and other.plan["group"] == who.plan["group"] and other.start < who.began:
                yield (f"{who.id} skipped, though {other.id} of its group was granted the lock",
                       [other.line(other.start), f"ended: {who.ended} {who.outcome_text}"])


def k3_once(history):
    """K3: a finished identity never runs again."""
    if history.law == "loses":
        return
    for first in history.ran:
        done = first.kind == "ran" and first.code == 0 and not first.outcome.get("not_marked") and not received(
            first, "term", "wrapper")
        if not done or not first.plan["once"]:
            continue
        for second in history.ran:
            same = second.plan["once"] == first.plan["once"] and second.plan["job"] == first.plan["job"]
            if same and second.start > first.ended:
                yield (f"{second.id} ran {first.plan['once']} again, after {first.id}",
                       [first.line(first.start), second.line(second.start)])


def counters(history):
    """The sums over all jobs of the counters `name|job`."""
    sums = {}
    for field, value in history.contents["stats"].items():
        name = field.partition("|")[0]
        if value.isdigit():
            sums[name] = sums.get(name, 0) + int(value)
    return sums


def c1_sum(history):
    """C1: acquired = released + stolen + revoked + open, for each job."""
    if history.contents is None:
        return
    stats, record = history.contents["stats"], history.contents["record"]
    for job in sorted({field.partition("|")[2] for field in stats}):
        count = {name: int(stats.get(f"{name}|{job}", 0)) for name in ("acquired", "released", "stolen", "revoked")}
        is_open = int(record.get("state") == "held" and record.get("job") == job)
        if count["acquired"] != count["released"] + count["stolen"] + count["revoked"] + is_open:
            yield f"the counters of {job} do not add up: {count}, open {is_open}", ["contents"]


def c2_counts(history):
    """C2: what each run reports is counted once."""
    if history.contents is None or history.law == "loses":
        return
    counted, everyone = counters(history), history.contenders.values()
    unknown = sum(1 for who in everyone if who.killed_at or who.outcome is None)
    # A signal can arrive after the store has decided to skip the run, and before its answer.
    interrupted = sum(1 for who in everyone if who.kind == "interrupted")
    reported = {
        "runs_skipped": sum(1 for who in everyone if who.kind == "skipped"),
        "acquired": len({who.fence for who in history.ran}),
    }
    for name, number in reported.items():
        count = counted.get(name, 0)
        too_many = name == "runs_skipped" and count > number + unknown + interrupted
        if count < number or too_many:
            yield f"{name} is {count}, but {number} runs report it ({unknown} reported nothing)", ["contents"]
    succeeded = sum(1 for who in everyone if who.kind == "ran" and who.code == 0)
    if counted.get("runs_succeeded", 0) > succeeded + unknown:
        yield f"runs_succeeded is {counted['runs_succeeded']}, but {succeeded} runs report it", ["contents"]


RULES = {"exit code": exit_code, "stuck": stuck, "L5": l5_group, "K3": k3_once, "C1": c1_sum, "C2": c2_counts}
