#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# samples.py MIDNIGHT: prints what Prometheus would have scraped from the operator during 25 hours, until 24:00 of the day
# that begins at MIDNIGHT (Unix time), as OpenMetrics text. The day before is simulated, too: counters do not begin at 0.
import bisect
import math
import os
import random
import re
import sys

import day
import fleet

SCRAPE = 60
BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]  # src/operator/metrics/metrics.cc
ENDPOINT = "cronlatch-redis.cronlatch.svc.cluster.local.:6379"
LEADER, OTHER, NEXT = "10.244.1.17:8080", "10.244.2.31:8080", "10.244.3.8:8080"
REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/reference/metrics.md")
# Metrics that have no samples on this day: no panel shows them alone, or the store is one server.
ABSENT = {f"cronlatch_{name}" for name in (
    "cronjob_created_timestamp_seconds", "events_suppressed", "ledger_left_out", "lock_acquired_timestamp_seconds",
    "lock_expires_timestamp_seconds", "lock_hold_duration_seconds", "lock_open", "lock_slots", "lock_wait_duration_seconds",
    "lock_waiters", "runs_long", "store_server_errors", "store_server_latency_seconds", "store_server_up", "store_switches")}
COUNTERS = ("acquired", "stolen", "released", "lost", "wait_timeouts", "revoked", "ungated", "restored")


class Series:
    """Samples by family, each in the order of time."""

    def __init__(self):
        self.families = {}

    def add(self, family, kind, time, value, suffix="", /, **labels):
        text = ",".join(f'{name}="{text}"' for name, text in sorted(labels.items()))
        self.families.setdefault(family, (kind, {}))[1].setdefault(f"{family}{suffix}{{{text}}}", []).append((time, value))

    def print(self, midnight):
        for family, (kind, series) in sorted(self.families.items()):
            print(f"# TYPE {family} {kind}")
            for name, samples in series.items():
                for time, value in samples:
                    print(f"{name} {value:.12g} {midnight + time}")
        print("# EOF")


class Histogram:
    def __init__(self):
        self.counts, self.sum = [0] * (len(BUCKETS) + 1), 0.0

    def observe(self, value):
        self.counts[bisect.bisect_left(BUCKETS, value)] += 1
        self.sum += value

    def write(self, series, family, time, **labels):
        total = 0
        for bound, count in zip([f"{bound:g}" for bound in BUCKETS] + ["+Inf"], self.counts):
            total += count
            series.add(family, "histogram", time, total, "_bucket", le=bound, **labels)
        series.add(family, "histogram", time, total, "_count", **labels)
        series.add(family, "histogram", time, self.sum, "_sum", **labels)


class Replica:
    """One process of the operator: what it alone exports."""

    def __init__(self, instance, started, seed):
        self.labels = {"job": "cronlatch", "instance": instance, "namespace": "cronlatch"}
        self.started, self.random = started, random.Random(seed)
        self.admissions = {(resource, result): 0 for resource in ("cronjob", "job") for result in ("mutated", "skipped", "denied", "error")}
        self.latency = {resource: Histogram() for resource in ("cronjob", "job")}
        self.lookups, self.lookup_time = dict.fromkeys(("index", "cache", "registry", "error"), 0), Histogram()
        self.requests = dict.fromkeys([("head", "ok"), ("manifest", "ok"), ("config", "ok"), ("head", "busy")], 0)
        self.commands = {command: Histogram() for command in ("show", "list")}
        self.cpu, self.memory, self.read = 0.0, 24e6, started

    def observe(self, histogram, median, spread=0.45):
        histogram.observe(self.random.lognormvariate(0, spread) * median)

    def admit(self, resource, result):
        self.admissions[resource, result] += 1
        self.observe(self.latency[resource], 0.0012 if resource == "job" else 0.0017)
        if resource == "job":
            self.lookups["cache"] += 1

    def scrape(self, now, jobs_started, leads):
        down = day.Day.store_is_down(now)
        for _ in range(jobs_started):
            self.admit("job", "mutated")
        if self.random.random() < 0.1:
            self.admit("job", "skipped")
        if any(abs(now - time) < SCRAPE for time in fleet.DEPLOYED):
            for _ in range(3):
                self.admit("cronjob", "mutated")
            self.lookups["registry"] += 2
            for kind in ("head", "manifest", "config"):
                self.requests[kind, "ok"] += 2
        if any(now - SCRAPE < time <= now for time in fleet.DENIED):
            self.admit("cronjob", "denied")
        if self.random.random() < 0.2:
            failing = fleet.REGISTRY_FAILS[0] <= now < fleet.REGISTRY_FAILS[1]
            self.lookups["error" if failing else "registry"] += 1
            self.requests["head", "busy" if failing else "ok"] += 1
            self.observe(self.lookup_time, 2.2 if failing else 0.18)
        if fleet.REGISTRY_FAILS[0] <= now < fleet.REGISTRY_FAILS[1] and self.random.random() < 0.4:
            self.lookups["error"] += 1
            self.observe(self.lookup_time, 2.2)
        if not down:
            self.read = now - self.random.uniform(1, 9)
            for command, median in (("show", 0.0007), ("list", 0.0021)):
                for _ in range(6 if command == "show" or leads else 0):
                    self.observe(self.commands[command], median * (1 + 0.3 * math.sin(now / 9000)))
        self.cpu += SCRAPE * (0.0035 + 0.001 * leads + 0.0006 * jobs_started) * self.random.uniform(0.9, 1.1)
        self.memory += (27e6 + 3e6 * leads - self.memory) * 0.02 + self.random.uniform(-6e4, 6e4)

    def write(self, series, time, leads):
        down, labels = day.Day.store_is_down(time), self.labels

        def gauge(name, value, **more):
            series.add("cronlatch_" + name, "gauge", time, value, **labels, **more)

        def counter(name, value, **more):
            series.add("cronlatch_" + name, "counter", time, value, "_total", **labels, **more)

        gauge("build_info", 1, version="0.1.0")
        gauge("leader", int(leads))
        gauge("store_up", int(not down), endpoint=ENDPOINT)
        gauge("store_quarantine_seconds", 0)
        gauge("ledger_read_timestamp_seconds", DAY_BEGINS + self.read)
        gauge("certificate_expiry_timestamp_seconds", DAY_BEGINS + 61 * fleet.DAY, use="serving")
        counter("store_resets", 0)
        for (resource, result), value in self.admissions.items():
            counter("admission_requests", value, resource=resource, result=result)
        for resource, histogram in self.latency.items():
            histogram.write(series, "cronlatch_admission_duration_seconds", time, resource=resource, **labels)
        for result, value in self.lookups.items():
            counter("entrypoint_lookups", value, result=result)
        for (kind, result), value in self.requests.items():
            counter("registry_requests", value, registry="registry.example.com", kind=kind, result=result)
        self.lookup_time.write(series, "cronlatch_entrypoint_lookup_duration_seconds", time, **labels)
        for command, histogram in self.commands.items():
            histogram.write(series, "cronlatch_store_command_duration_seconds", time, command=command, **labels)
        series.add("process_cpu_seconds", "counter", time, self.cpu, "_total", **labels)
        series.add("process_resident_memory_bytes", "gauge", time, self.memory, **labels)
        series.add("process_open_fds", "gauge", time, 21 + 3 * leads + self.random.randrange(4), **labels)
        series.add("process_max_fds", "gauge", time, 65536, **labels)
        series.add("process_start_time_seconds", "gauge", time, DAY_BEGINS + self.started, **labels)
        if leads:
            for state, value in (("gated", len(fleet.FLEET)), ("pending", 0), ("invalid", 0)):
                gauge("gated_cronjobs", value, state=state)
            series.add("cronlatch_ungated_jobs", "counter", time, 0, "_total", job="cronlatch", instance=labels["instance"], namespace="shop")


def write_locks(series, time, snapshot, errors, instance):
    """The lock statistics, as the leader last read them; errors are those of pods."""
    for key, values in snapshot.items():
        labels = dict(zip(("namespace", "cronjob", "lock"), key), job="cronlatch", instance=instance)
        for name in COUNTERS:
            series.add(f"cronlatch_lock_{name}", "counter", time, values.get(name, 0), "_total", **labels)
        for reason in ("held", "done"):
            series.add("cronlatch_lock_skipped", "counter", time, values["skipped"] if reason == "held" else 0, "_total", reason=reason, **labels)
        for outcome in ("succeeded", "failed", "skipped"):
            series.add("cronlatch_runs", "counter", time, values[outcome], "_total", outcome=outcome, **labels)
        for name, value in values["gauges"].items():
            family, _, percentile = name.partition("@")
            series.add("cronlatch_" + family, "gauge", time, value, **labels, **({"percentile": percentile} if percentile else {}))
        for reason, value in errors[key].items():
            series.add("cronlatch_run_errors", "counter", time, value, "_total", reason=reason, **labels)


def snapshot_of(jobs, now):
    found = {}
    for job in jobs:
        one = job.cronjob
        gauges = {"lock_held": int(job.running or (job.held_until or -math.inf) > now),
                  "success_deadline_seconds": 2 * one.every + (job.percentile(job.holds, 95) or 0)}
        for name, value in (("last_success", job.last_success), ("last_skip", job.last_skip)):
            gauges[name + "_timestamp_seconds"] = DAY_BEGINS + value if value else 0
        for of, durations in (("hold", job.holds), ("wait", job.waits)):
            for number in (50, 95):
                if (value := job.percentile(durations, number)) is not None:
                    gauges[f"lock_{of}_duration_percentile_seconds@{number}"] = value
        found[one.namespace, one.name, one.lock_name] = {**job.counters, "gauges": gauges}
    return found


def write_others(series):
    """Every other metric of the reference: one series of the leader, so that a new panel is not empty."""
    for row in re.finditer(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", open(REFERENCE, encoding="utf-8").read(), re.MULTILINE):
        name, kind, labels = row[1], row[2], dict.fromkeys(re.findall(r"`(\w+)`", row[3]), "example")
        family = name.removesuffix("_total")
        if family in series.families or family in ABSENT:
            continue
        labels |= {"job": "cronlatch", "instance": OTHER, "namespace": "shop", "cronjob": "example", "lock": "shop/example"}
        histogram = Histogram()
        for number, now in enumerate(range(-fleet.HOUR, fleet.DAY + 1, SCRAPE)):
            if kind == "histogram":
                histogram.observe(0.1)
                histogram.write(series, family, now, **labels)
            elif kind == "counter":
                series.add(family, kind, now, number, "_total", **labels)
            else:
                series.add(family, kind, now, 1, **labels)


def main():
    series, simulated = Series(), day.Day(-20 * fleet.DAY)
    old, steady, new = Replica(LEADER, -9 * fleet.DAY, 1), Replica(OTHER, -9 * fleet.DAY + 40, 2), Replica(NEXT, fleet.NODE_FAILS + 260, 3)
    requests_refused, started, snapshot, snapshot_at = 0, 0, {}, -math.inf
    for now in range(-fleet.DAY, fleet.DAY + 1, SCRAPE):
        simulated.step(now)
        replicas = [(old, now < fleet.NODE_FAILS), (steady, now >= fleet.NODE_FAILS + SCRAPE), (new, False)]
        alive = [one for one in replicas if (one[0] is not old or now < fleet.NODE_FAILS) and now >= one[0].started]
        if fleet.NODE_FAILS <= now < fleet.NODE_FAILS + SCRAPE:  # each leader counts the errors of pods from 0
            for job in simulated.jobs:
                job.errors.clear()
        before, started = started, sum(job.counters["acquired"] + job.counters["skipped"] for job in simulated.jobs)
        for number, (replica, leads) in enumerate(alive):
            replica.scrape(now, (started - before + number) // len(alive) if before else 0, leads)
        if not day.Day.store_is_down(now):
            snapshot = snapshot_of(simulated.jobs, now)
        if any(now - SCRAPE < time <= now for time in fleet.DENIED):
            requests_refused += 1
        if now < -fleet.HOUR:
            continue
        for replica, leads in alive:
            replica.write(series, now, leads)
            if leads:
                errors = {key: job.errors for key, job in zip(snapshot, simulated.jobs)}
                write_locks(series, now, snapshot, errors, replica.labels["instance"])
        series.add("apiserver_admission_webhook_rejection_count", "gauge", now, requests_refused, error_type="no_error", instance="10.0.0.5:6443",
                   job="apiserver", name="cronjobs.cronlatch.dev", operation="UPDATE", type="admit")
    write_others(series)
    series.print(DAY_BEGINS)


if __name__ == "__main__":
    DAY_BEGINS = int(sys.argv[1])
    main()
