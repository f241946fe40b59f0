# SPDX-License-Identifier: Apache-2.0
# "Cronlatch / Overview": what held, what skipped, what was stolen, and which job has not done its work.
from parts import (BY, OWN, PICKED, dashboard, grown, heatmap, ledger, panel, queries, query, row, series, stat, steps, timeline,
                   variable, words)

AGE = f'time() - ({ledger("cronlatch_last_success_timestamp_seconds")} > 0)'
LIMIT = f"min by ({BY}) (cronlatch_success_deadline_seconds{{{PICKED}}})"
PROBLEM = steps((None, "green"), (1, "red"))
DAY = "24h:30s"


def event(name, metric, color):
    return {"name": name, "datasource": {"type": "prometheus", "uid": "${datasource}"}, "enable": True, "iconColor": color, "hide": False,
            "expr": f"{grown(metric)} > 0", "step": "60s", "titleFormat": name, "textFormat": "{{namespace}}/{{cronjob}}, lock {{lock}}",
            "tagKeys": "namespace,cronjob"}


def in_a_day(metric, **more):
    return f"round(sum({grown(metric, DAY, **more)})) or vector(0)"


def status():
    return [
        row("Now"),
        stat("Gated CronJobs", "CronJobs that ask for a lock and are ready to be gated.",
             f'sum(max by (cluster) (cronlatch_gated_cronjobs{{{OWN}, state="gated"}}))'),
        stat("Held now", "Jobs whose live lease holds a lock at this moment.", f'count({ledger("cronlatch_lock_held")} == 1) or vector(0)',
             runbooks=["CronlatchLockHeldTooLong"]),
        stat("Overdue", "CronJobs without a real success for longer than their annotation alert-after allows. Skipped runs do not count.",
             f"count({AGE} > {LIMIT}) or vector(0)", thresholds=PROBLEM, runbooks=["CronlatchJobOverdue"]),
        stat("Skipped, 24 h", "Runs that found the lock held, in a day.", in_a_day("cronlatch_lock_skipped_total", more_labels="reason", matchers='reason="held"'), kind="instant",
             runbooks=["CronlatchMostlySkipping"]),
        stat("Stolen, 24 h", "Leases that ended unreleased and were taken over, in a day: their runs were killed.", in_a_day("cronlatch_lock_stolen_total"), kind="instant",
             thresholds=steps((None, "green"), (1, "orange")), runbooks=["CronlatchLockStolen"]),
        stat("Store", "Whether any replica of the operator reaches the store of the locks.", f"min(max by (endpoint) (cronlatch_store_up{{{OWN}}}))",
             mappings=words(_0=("down", "red"), _1=("up", "green")), thresholds=steps((None, "red"), (1, "green")), runbooks=["CronlatchRedisDown"]),
    ]


def outcomes():
    return [
        row("Outcomes"),
        series("What became of each attempt", "By the hour: locks granted, runs skipped by reason, leases stolen and lost, waits in vain, and runs that could "
               "not even start because the store did not answer or refused.", queries(
                   (f"sum({grown('cronlatch_lock_acquired_total')})", "acquired"),
                   (f"sum by (reason) ({grown('cronlatch_lock_skipped_total', more_labels='reason')})", "skipped: {{reason}}"),
                   (f"sum({grown('cronlatch_lock_stolen_total')})", "stolen"),
                   (f"sum({grown('cronlatch_lock_lost_total')})", "lost"),
                   (f"sum({grown('cronlatch_lock_wait_timeouts_total')})", "waited in vain"),
                   (f'sum by (reason) (increase(cronlatch_run_errors_total{{{OWN}, namespace=~"$namespace"}}[$__rate_interval]))', "not started: {{reason}}")),
               stacked=True, runbooks=["CronlatchLeaseLost", "CronlatchWaitTimeouts", "CronlatchRunErrors"]),
        series("How runs ended", "By the hour: runs by their outcome, as the store counted them.",
               queries((f"sum by (outcome) ({grown('cronlatch_runs_total', more_labels='outcome')})", "{{outcome}}")), stacked=True),
    ]


def jobs():
    columns = [
        ("Last success", "s", AGE), ("Last skip", "s", f'time() - ({ledger("cronlatch_last_skip_timestamp_seconds")} > 0)'),
        ("Held", "none", ledger("cronlatch_lock_held")), ("Until overdue", "s", f"{LIMIT} - ({AGE})"),
        ("Acquired", "short", f"round({grown('cronlatch_lock_acquired_total', '$__range:30s')})"),
        ("Skipped", "short", f"round(sum without (reason) ({grown('cronlatch_lock_skipped_total', '$__range:30s', 'reason')}))"),
        ("Stolen", "short", f"round({grown('cronlatch_lock_stolen_total', '$__range:30s')})"),
    ]
    targets = [query(expr, title, "table", chr(ord("A") + i)) for i, (title, _, expr) in enumerate(columns)]
    table = panel("table", "Each CronJob", "Time since the last real success and the last skip, whether it holds its lock now, the time that is left until "
                  "it is overdue (where alert-after is set), and what was counted in the time that is shown.", targets, (24, 9), unit="none",
                  options={"showHeader": True, "cellHeight": "sm", "footer": {"show": False}}, runbooks=["CronlatchJobOverdue"])
    letters = {f"Value #{target['refId']}": title for target, (title, _, _) in zip(targets, columns)}
    table["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": {"namespace": "Namespace", "cronjob": "CronJob", "lock": "Lock", **letters},
                                       "indexByName": {name: i for i, name in enumerate(["namespace", "cronjob", "lock", *letters])}}}]
    pick = [{"title": "This CronJob only", "url": "/d/cronlatch-overview?${datasource:queryparam}&var-namespace=${__data.fields.Namespace}&var-cronjob=${__data.fields.CronJob}&${__url_time_range}"}]
    table["fieldConfig"]["overrides"] = [
        {"matcher": {"id": "byName", "options": title}, "properties": [{"id": "unit", "value": unit}]} for title, unit, _ in columns
    ] + [
        {"matcher": {"id": "byName", "options": "Held"}, "properties": [{"id": "mappings", "value": words(_0=("", "text"), _1=("held", "blue"))}]},
        {"matcher": {"id": "byName", "options": "CronJob"}, "properties": [{"id": "links", "value": pick}]},
        {"matcher": {"id": "byName", "options": "Until overdue"}, "properties": [
            {"id": "thresholds", "value": steps((None, "red"), (0, "green"))}, {"id": "custom.cellOptions", "value": {"type": "color-text"}}]},
    ]
    return [row("CronJobs"), table]


def durations():
    return [
        row("Locks"),
        timeline("Who holds which lock", "When each job's lease held its lock.", queries((ledger("cronlatch_lock_held"), "{{namespace}}/{{cronjob}}: {{lock}}")),
                 mappings=words(_0=("free", "transparent"), _1=("held", "blue")), runbooks=["CronlatchLockHeldTooLong"]),
        heatmap("How long locks are held", "Runs by the time from the grant to the end of the command.",
                f"sum by (le) ({grown('cronlatch_lock_hold_duration_seconds_bucket', more_labels='le')})"),
        heatmap("How long runs wait", "Runs that waited for their lock, by the time from the first question to the grant.",
                f"sum by (le) ({grown('cronlatch_lock_wait_duration_seconds_bucket', more_labels='le')})"),
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
    return dashboard("cronlatch-overview", "Cronlatch / Overview", "What held its lock, what was skipped, what was stolen, and which CronJob has not done its work.",
                     variables, annotations, status() + outcomes() + jobs() + durations())
