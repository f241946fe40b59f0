# SPDX-License-Identifier: Apache-2.0
# Simulates the runs of fleet.py for some days, with the rules of a lock: a run holds it, waits for it or is skipped. The
# counters are those of a store.
import heapq
import random
import statistics

import fleet


class Job:
    """What the store has recorded of a CronJob."""

    def __init__(self, cronjob):
        self.cronjob = cronjob
        self.counters = dict.fromkeys(("acquired", "skipped", "stolen", "released", "lost", "wait_timeouts", "succeeded", "failed"), 0)
        self.last_success = self.last_skip = 0
        self.held_until = None  # the lease ends, unless it is renewed; None: no grant
        self.running = False
        self.holds, self.waits = [], []
        self.errors = {}  # counted from pods, by reason

    def percentile(self, durations, number):
        return statistics.quantiles(durations, n=100)[number - 1] if len(durations) > 4 else None


class Day:
    """Runs from `begin` to `end`; step(now) executes everything until then."""

    def __init__(self, begin, seed=7):
        self.random = random.Random(seed)
        self.jobs = [Job(one) for one in fleet.FLEET]
        self.holders, self.waiting, self.events, self.number = {}, {}, [], 0
        for job in self.jobs:
            one = job.cronjob
            self.at(begin + one.at % one.every, self.start, job)
        self.at(fleet.NODE_FAILS, self.node_fails)
        self.at(fleet.OUTAGE[0] + fleet.TTL * 0.8, self.stop_all)

    def at(self, time, call, *arguments):
        self.number += 1
        heapq.heappush(self.events, (time, self.number, call, arguments))

    def step(self, now):
        while self.events and self.events[0][0] <= now:
            time, _, call, arguments = heapq.heappop(self.events)
            call(time, *arguments)

    @staticmethod
    def store_is_down(now):
        return fleet.OUTAGE[0] <= now < fleet.OUTAGE[1]

    def error(self, job, reason):
        job.errors[reason] = job.errors.get(reason, 0) + 1

    def start(self, now, job):
        one = job.cronjob
        self.at(now + one.every, self.start, job)
        if self.store_is_down(now):
            return self.error(job, "unreachable")
        if self.free(now, one.lock_name):
            self.grant(now, job)
        elif one.wait:
            self.waiting.setdefault(one.lock_name, []).append((now, job))
            self.at(now + one.wait, self.give_up, job, now)
        else:
            job.counters["skipped"] += 1
            job.last_skip = now
        return None

    def free(self, now, lock):
        holder = self.holders.get(lock)
        return holder is None or (not holder.running and holder.held_until <= now)

    def grant(self, now, job):
        lock = job.cronjob.lock_name
        before = self.holders.get(lock)
        if before is not None:  # its lease expired without a release
            before.counters["stolen"] += 1
            before.held_until = None
        self.holders[lock] = job
        job.running, job.held_until = True, now + fleet.TTL
        job.counters["acquired"] += 1
        took = self.random.lognormvariate(0, job.cronjob.spread) * job.cronjob.median
        self.at(now + took, self.end, job, job.counters["acquired"], took)

    def end(self, now, job, number, took):
        if not job.running or job.counters["acquired"] != number:
            return  # it was killed
        lock = job.cronjob.lock_name
        job.running, job.held_until = False, None
        del self.holders[lock]
        job.counters["released"] += 1
        job.holds.append(took)
        failed = self.random.random() < 0.01
        job.counters["failed" if failed else "succeeded"] += 1
        if not failed:
            job.last_success = now
        if self.waiting.get(lock):
            since, first = self.waiting[lock].pop(0)
            first.waits.append(now - since)
            self.grant(now, first)

    def give_up(self, now, job, since):
        queue = self.waiting.get(job.cronjob.lock_name, [])
        if (since, job) in queue:
            queue.remove((since, job))
            job.counters["wait_timeouts"] += 1

    def kill(self, now, job):
        job.running = False
        job.held_until = now + fleet.TTL

    def node_fails(self, now):
        for job in self.jobs:
            if job.cronjob.name == fleet.KILLED and job.running:
                self.kill(now, job)
                # Kubernetes deletes the pods of a node that does not answer for five minutes.
                self.at(now + 300, lambda _, one=job: self.error(one, "signal"))

    def stop_all(self, now):
        for job in self.jobs:
            if job.running:
                self.kill(now, job)
                job.held_until = now  # the next run takes the lock over: that is counted as stolen
