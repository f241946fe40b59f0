# SPDX-License-Identifier: Apache-2.0
# "Cronlatch / Overview": locks held, runs skipped, leases stolen, and overdue CronJobs.
from parts import (BY, OWN, SELECTED, dashboard, explore, increase_of, lock_statistic, panel, queries, query, recorded_increase, row, series, stat,
                   steps, timeline, variable, value_texts)

# The last success, or the creation of a CronJob that never succeeded, as in the alert.
SINCE = f"(cronlatch_last_success_timestamp_seconds{{{SELECTED}}} > 0 or cronlatch_cronjob_created_timestamp_seconds{{{SELECTED}}})"
AGE = f"time() - max by ({BY}) {SINCE}"
# Each exporter computes the deadline for its own last success.
DUE = f"max by ({BY}) ({SINCE} + cronlatch_success_deadline_seconds{{{SELECTED}}})"
# A series begins with the first error of its reason: that value is its first increase.
ERRORS = f'cronlatch_run_errors_total{{{OWN}, namespace=~"$namespace", cronjob=~"$cronjob"}}'
PROBLEM = steps((None, "green"), (1, "red"))


def percentile(of, number):
    """The percentile of the hold or wait durations of each job."""
    return lock_statistic(f"cronlatch_lock_{of}_duration_percentile_seconds", matchers=f'percentile="{number}"')


def event(name, metric, color):
    return {"name": name, "datasource": {"type": "prometheus", "uid": "${datasource}"}, "enable": True, "iconColor": color, "hide": False,
            "expr": f"{increase_of(metric)} > 0", "step": "60s", "titleFormat": name, "textFormat": "{{namespace}}/{{cronjob}}, lock {{lock}}",
            "tagKeys": "namespace,cronjob"}


def in_a_day(metric, **more):
    # Without "or vector(0)": a Prometheus without the recording rules has no data, and not the value 0.
    return f"round(sum({recorded_increase(metric, '24h', **more)}))"


def status():
    return [
        row("Status"),
        stat("Gated CronJobs", "CronJobs that request a lock and have valid annotations in their Job template.",
             f'sum(max by (cluster) (cronlatch_gated_cronjobs{{{OWN}, state="gated"}}))'),
        stat("Locks held", "Leases that are currently alive, of all locks.", f'sum({lock_statistic("cronlatch_lock_held")}) or vector(0)',
             size=(5, 4), runbooks=["CronlatchLockHeldTooLong"]),
        stat("Overdue", "CronJobs without a success for two scheduled times and the usual duration of a run, or for longer than their annotation alert-after. Skipped runs do not count.",
             f"count(time() > {DUE}) or vector(0)", thresholds=PROBLEM, size=(5, 4), runbooks=["CronlatchJobOverdue"]),
        stat("Skipped, 24 h", "Runs within one day that were skipped because the lock was held.", in_a_day("cronlatch_lock_skipped_total", more_labels="reason", matchers='reason="held"'), kind="instant",
             size=(5, 4), runbooks=["CronlatchMostlySkipping"]),
        stat("Stolen, 24 h", "Leases within one day that expired without a release and were taken over: their runs were killed.", in_a_day("cronlatch_lock_stolen_total"), kind="instant",
             thresholds=steps((None, "green"), (1, "orange")), size=(5, 4), runbooks=["CronlatchLockStolen"]),
        stat("Ungated, 24 h", "Runs within one day that started without their lock because the store was unavailable (on-store-down=run).",
             in_a_day("cronlatch_lock_ungated_total"), kind="instant", thresholds=steps((None, "green"), (1, "orange")), size=(6, 4), runbooks=["CronlatchRanWithoutLock"]),
        stat("Restored, 24 h", "Records within one day that a holder restored because the store had lost them.",
             in_a_day("cronlatch_lock_restored_total"), kind="instant", thresholds=steps((None, "green"), (1, "orange")), size=(6, 4), runbooks=["CronlatchRecordRestored"]),
        stat("Age of the lock statistics", "Time since the leader last read the lock statistics. While the store is unavailable, all values of locks on this page are this old.",
             f"time() - max(cronlatch_ledger_read_timestamp_seconds{{{OWN}}} and on (cluster, job, instance) cronlatch_leader{{{OWN}}} == 1)", unit="s", thresholds=steps((None, "green"), (60, "orange"), (300, "red")), size=(6, 4),
             runbooks=["CronlatchRedisDown"]),
        stat("Store", "Whether at least one replica of the operator can connect to the store.", f"min(max by (endpoint) (cronlatch_store_up{{{OWN}}}))",
             mappings=value_texts(_0=("unavailable", "red"), _1=("available", "green")), thresholds=steps((None, "red"), (1, "green")), size=(6, 4), runbooks=["CronlatchRedisDown"]),
    ]


def outcomes():
    return [
        row("Outcomes"),
        series("Run attempts by result", "Per hour: locks granted, runs skipped by reason, leases stolen and lost, waits that timed out, and runs that could "
               "not start because of an error of the store, the configuration or the command.", queries(
                   (f"sum({increase_of('cronlatch_lock_acquired_total')})", "acquired"),
                   (f"sum by (reason) ({increase_of('cronlatch_lock_skipped_total', more_labels='reason')})", "skipped: {{reason}}"),
                   (f"sum({increase_of('cronlatch_lock_stolen_total')})", "stolen"),
                   (f"sum({increase_of('cronlatch_lock_lost_total')})", "lost"),
                   (f"sum({increase_of('cronlatch_lock_wait_timeouts_total')})", "timed out waiting"),
                   (f"sum by (reason) (({ERRORS} unless {ERRORS} offset $__rate_interval) or increase({ERRORS}[$__rate_interval]))", "not started: {{reason}}")),
               stacked=True, colors={"acquired": "green", "skipped: held": "yellow", "skipped: done": "light-yellow", "stolen": "purple", "lost": "dark-red",
                                     "timed out waiting": "blue"}, runbooks=["CronlatchLeaseLost", "CronlatchWaitTimeouts", "CronlatchRunErrors"]),
        series("Runs by outcome", "Per hour: runs by outcome, as counted in the store.",
               queries((f"sum by (outcome) ({increase_of('cronlatch_runs_total', more_labels='outcome')})", "{{outcome}}")), stacked=True,
               colors={"succeeded": "green", "skipped": "yellow", "busy": "blue", "failed": "red", "timed_out": "orange", "lost": "dark-red", "cannot_start": "dark-orange"}),
    ]


def jobs():
    columns = [
        ("Last success", "s", AGE), ("Last skip", "s", f'time() - ({lock_statistic("cronlatch_last_skip_timestamp_seconds")} > 0)'),
        ("Held", "none", lock_statistic("cronlatch_lock_held")), ("Until overdue", "s", f"{DUE} - time()"),
        ("Run p50", "s", percentile("hold", 50)), ("Run p95", "s", percentile("hold", 95)),
        ("Acquired", "short", f"round({recorded_increase('cronlatch_lock_acquired_total', '$__range')})"),
        ("Skipped", "short", f"round(sum without (reason) ({recorded_increase('cronlatch_lock_skipped_total', '$__range', 'reason')}))"),
        ("Stolen", "short", f"round({recorded_increase('cronlatch_lock_stolen_total', '$__range')})"),
    ]
    targets = [query(expr, title, "table", chr(ord("A") + i)) for i, (title, _, expr) in enumerate(columns)]
    table = panel("table", "CronJob details", "Time since the last success (or since the creation, if there was none) and the last skip, whether the CronJob holds its lock, the time until it is overdue "
                  "(not if it is suspended, or with alert-after off), the median and the 95th percentile of the duration of its runs, and the counters within the selected time range.", targets, (24, 9), unit="none",
                  options={"showHeader": True, "cellHeight": "sm", "footer": {"show": False}}, runbooks=["CronlatchJobOverdue"])
    letters = {f"Value #{target['refId']}": title for target, (title, _, _) in zip(targets, columns)}
    table["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": {"namespace": "Namespace", "cronjob": "CronJob", "lock": "Lock", **letters},
                                       "indexByName": {name: i for i, name in enumerate(["namespace", "cronjob", "lock", *letters])}}}]
    pick = [{"title": "This CronJob only", "url": "/d/cronlatch-overview?${datasource:queryparam}&var-namespace=${__data.fields.Namespace}&var-cronjob=${__data.fields.CronJob}&${__url_time_range}"},
            {"title": "Its Jobs (kube-state-metrics)", "url": explore("datasource", '{__name__=~"kube_job_status_(active|succeeded|failed)", namespace="NAMESPACE", job_name=~"CRONJOB-[0-9]+"}')},
            {"title": "Its logs", "url": explore("logs", '{namespace="NAMESPACE", pod=~"CRONJOB-[0-9]+-.+"}')}]
    table["fieldConfig"]["overrides"] = [
        {"matcher": {"id": "byName", "options": title}, "properties": [{"id": "unit", "value": unit}]} for title, unit, _ in columns
    ] + [
        {"matcher": {"id": "byName", "options": "Held"}, "properties": [{"id": "mappings", "value": value_texts(_0=("", "text"), _1=("held", "blue"))}]},
        {"matcher": {"id": "byName", "options": "CronJob"}, "properties": [{"id": "links", "value": pick}]},
        *({"matcher": {"id": "byName", "options": title}, "properties": [{"id": "custom.width", "value": width}]}
          for title, width in (("Namespace", 85), ("CronJob", 115), ("Lock", 150))),
        {"matcher": {"id": "byName", "options": "Until overdue"}, "properties": [
            {"id": "thresholds", "value": steps((None, "red"), (0, "green"))}, {"id": "custom.cellOptions", "value": {"type": "color-text"}}]},
    ]
    return [row("CronJobs"), table]


def durations():
    return [
        row("Locks"),
        timeline("Lock holders", "Periods in which the lease of each job held its lock.", queries((lock_statistic("cronlatch_lock_held"), "{{namespace}}/{{cronjob}}: {{lock}}")), size=(24, 12),
                 mappings=value_texts(_0=("free", "transparent"), _1=("held", "blue")), runbooks=["CronlatchLockHeldTooLong"]),
        series("Run duration, 95th percentile", "The 20 jobs with the longest runs: time from the grant to the end of the command that 95 of 100 runs do not exceed, over all recorded runs.",
               queries((f"topk(20, {percentile('hold', 95)})", "{{namespace}}/{{cronjob}}: {{lock}}")), unit="s", runbooks=["CronlatchLockHeldTooLong"]),
        series("Wait for the lock, 95th percentile", "The 20 jobs with the longest waits: time from the first request to the grant that 95 of 100 waiting runs do not exceed, over all recorded runs.",
               queries((f"topk(20, {percentile('wait', 95)})", "{{namespace}}/{{cronjob}}: {{lock}}")), unit="s", runbooks=["CronlatchWaitTimeouts"]),
    ]


def page():
    known = f"cronlatch_lock_acquired_total{{{OWN}"
    variables = [
        variable("job", "Scrape job", 'label_values(cronlatch_lock_acquired_total{cluster=~"$cluster"}, job)'),
        variable("namespace", "Namespace", f"label_values({known}}}, namespace)"),
        variable("cronjob", "CronJob", f'label_values({known}, namespace=~"$namespace"}}, cronjob)'),
        variable("lock", "Lock", f'label_values({known}, namespace=~"$namespace", cronjob=~"$cronjob"}}, lock)'),
    ]
    annotations = [event("Stolen", "cronlatch_lock_stolen_total", "orange"), event("Lost", "cronlatch_lock_lost_total", "red")]
    return dashboard("cronlatch-overview", "Cronlatch / Overview", "Locks held, runs skipped, leases stolen, and overdue CronJobs.",
                     variables, annotations, status() + outcomes() + jobs() + durations())
