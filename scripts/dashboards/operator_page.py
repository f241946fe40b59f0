# SPDX-License-Identifier: Apache-2.0
# "Cronlatch / Operator": whether the operator does its work: admissions, store, leader, certificates, the processes.
from parts import OWN, dashboard, panel, queries, query, row, series, stat, steps, timeline, variable, words

OURS = 'cluster=~"$cluster", name=~".+[.]cronlatch[.]dev"'
CONDITIONS = 'cluster=~"$cluster", name=~".+[.]cronlatch[.]dev|cronlatch-.+"'
PROBLEM = steps((None, "green"), (1, "red"))


def rate(metric, by, matchers=OWN):
    return f"sum by ({by}) (rate({metric}{{{matchers}}}[$__rate_interval]))"


def quantiles(metric):
    """Of a histogram: the middle and the slowest in a hundred."""
    return [(f"histogram_quantile({q}, {rate(metric + '_bucket', 'le')})", name) for q, name in ((0.5, "p50"), (0.99, "p99"))]


def in_a_day(metric, of_replicas):
    return f"round({of_replicas}(increase({metric}{{{OWN}}}[24h]))) or vector(0)"


def status():
    return [
        row("Now"),
        stat("Replicas", "Replicas of the operator that are scraped; each answers admissions.", f"count(cronlatch_build_info{{{OWN}}}) or vector(0)",
             thresholds=steps((None, "red"), (1, "orange"), (2, "green")), size=(3, 4), runbooks=["CronlatchDown"]),
        stat("Leaders", "Replicas that lead, in each cluster: one.", f"max(sum by (cluster) (cronlatch_leader{{{OWN}}}))",
             thresholds=steps((None, "red"), (1, "green"), (2, "red")), size=(3, 4), runbooks=["CronlatchNoLeader"]),
        stat("Reach the store", "Replicas whose last question to the store was answered.", f"sum(cronlatch_store_up{{{OWN}}})",
             thresholds=steps((None, "red"), (1, "green")), size=(3, 4), runbooks=["CronlatchRedisDown"]),
        stat("Certificate ends in", "Time until the first certificate in use ends.", f"min(cronlatch_certificate_expiry_timestamp_seconds{{{OWN}}}) - time()", unit="s",
             thresholds=steps((None, "red"), (86400, "orange"), (604800, "green")), size=(4, 4), runbooks=["CronlatchCertificateExpiring"]),
        stat("Invalid CronJobs", "CronJobs whose annotations cannot be understood; their Jobs are refused.",
             f'sum(max by (cluster) (cronlatch_gated_cronjobs{{{OWN}, state="invalid"}}))', thresholds=PROBLEM, size=(3, 4), runbooks=["CronlatchInvalidConfiguration"]),
        stat("Ungated Jobs, 24 h", "Jobs that ask for a lock and run without one, in a day: none.", in_a_day("cronlatch_ungated_jobs_total", "sum"), thresholds=PROBLEM,
             size=(4, 4), kind="instant", runbooks=["CronlatchUngatedJobStarted"]),
        stat("Store resets, 24 h", "Locks whose counters began anew in a day: the store was flushed or lost its data. Each replica sees them.", in_a_day("cronlatch_store_resets_total", "max"),
             thresholds=steps((None, "green"), (1, "orange")), size=(4, 4), kind="instant", runbooks=["CronlatchCountersReset"]),
    ]


def admission():
    return [
        row("Admission"),
        series("Reviews", "Admission reviews that the operator answered, by resource and answer.",
               queries((rate("cronlatch_admission_requests_total", "resource, result"), "{{resource}} {{result}}")), unit="reqps", size=(8, 8)),
        series("Time to answer", "From a complete request to its answer, without the network.", queries(*quantiles("cronlatch_admission_duration_seconds")),
               unit="s", size=(8, 8)),
        series("Seen by the API server", "Refusals and failed calls of our webhooks, CronJobs that were let through unseen, and match conditions that could not be "
               "evaluated. Needs the API server's own metrics; no_error is an answer of ours.", queries(
                   (rate("apiserver_admission_webhook_rejection_count", "error_type", OURS), "refused: {{error_type}}"),
                   (f'{rate("apiserver_admission_webhook_fail_open_count", "cluster", OURS)} or vector(0)', "failed open"),
                   (f'{rate("apiserver_admission_match_condition_evaluation_errors_total", "cluster", CONDITIONS)} or vector(0)', "condition errors")),
               unit="cps", size=(8, 8), runbooks=["CronlatchWebhookFailing", "CronlatchWebhookFailOpen", "CronlatchMatchConditionErrors"]),
    ]


def images():
    return [
        row("Images of containers without a command"),
        series("Look-ups", "How it was found out what an image runs: told by the image index, remembered (cache), asked of its registry, or not at all (error).",
               queries((rate("cronlatch_entrypoint_lookups_total", "result"), "{{result}}")), unit="cps", size=(12, 7)),
        series("Time a registry takes", "One look-up of one image, failures included. Admissions do not wait for those that look ahead.",
               queries(*quantiles("cronlatch_entrypoint_lookup_duration_seconds")), unit="s", size=(12, 7)),
    ]


def store():
    return [
        row("Store"),
        timeline("Store, as each replica sees it", "Whether the last question of the replica was answered.",
                 queries((f"max by (cluster, instance, endpoint) (cronlatch_store_up{{{OWN}}})", "{{instance}}: {{endpoint}}")), size=(12, 7),
                 mappings=words(_0=("down", "red"), _1=("up", "green")), runbooks=["CronlatchRedisDown"]),
        series("Time the store takes", "Duration of the operator's questions to the store.", queries(*quantiles("cronlatch_store_command_duration_seconds")), unit="s", size=(12, 7)),
    ]


def leading():
    return [
        row("Leader and certificates"),
        timeline("Leader", "Which replica leads.", queries((f"max by (cluster, instance) (cronlatch_leader{{{OWN}}})", "{{instance}}")), size=(8, 7),
                 mappings=words(_0=("follows", "transparent"), _1=("leads", "blue")), runbooks=["CronlatchNoLeader"]),
        series("CronJobs by state", "CronJobs that ask for a lock: gated, pending (what the leader has yet to mirror), invalid.",
               queries((f"sum by (state) (max by (cluster, state) (cronlatch_gated_cronjobs{{{OWN}}}))", "{{state}}")), size=(8, 7)),
        series("Certificates end in", "Time until each certificate in use ends; it is renewed long before.",
               queries((f"min by (cluster, use) (cronlatch_certificate_expiry_timestamp_seconds{{{OWN}}}) - time()", "{{use}}")), unit="s", size=(8, 7),
               runbooks=["CronlatchCertificateExpiring"]),
    ]


def processes():
    # Every program exports these names: only ours count.
    ours = f"on (cluster, job, instance) group_left () max by (cluster, job, instance) (cronlatch_build_info{{{OWN}}})"
    of_versions = f"on (cluster, job, instance) group_left (version) max by (cluster, job, instance, version) (cronlatch_build_info{{{OWN}}})"

    def each(value):
        return f"max by (cluster, instance) ({value} * {ours})"

    table = panel("table", "What runs", "Version of each replica, and when it started.", [
        query(f"max by (cluster, instance, version) (process_start_time_seconds{{{OWN}}} * {of_versions}) * 1000", "", "table")], (6, 7),
                  unit="dateTimeAsIso", options={"showHeader": True, "cellHeight": "sm", "footer": {"show": False}})
    table["transformations"] = [{"id": "organize", "options": {
        "excludeByName": {"Time": True, "cluster": True}, "renameByName": {"instance": "Replica", "version": "Version", "Value": "Started"},
        "indexByName": {"instance": 0, "version": 1, "Value": 2}}}]
    return [
        row("Processes"),
        series("CPU", "Processor time of each replica, in cores.",
               queries((each(f"rate(process_cpu_seconds_total{{{OWN}}}[$__rate_interval])"), "{{instance}}")), unit="percentunit", size=(6, 7)),
        series("Memory", "Resident memory of each replica.", queries((each(f"process_resident_memory_bytes{{{OWN}}}"), "{{instance}}")), unit="bytes", size=(6, 7)),
        series("File descriptors", "Open descriptors of each replica, as a part of those that it may open.",
               queries((each(f"process_open_fds{{{OWN}}} / process_max_fds{{{OWN}}}"), "{{instance}}")), unit="percentunit", size=(6, 7)),
        table,
    ]


def page():
    return dashboard("cronlatch-operator", "Cronlatch / Operator", "Whether the operator does its work: admissions, store, leader, certificates, processes.",
                     [variable("job", "Scrape job", 'label_values(cronlatch_build_info{cluster=~"$cluster"}, job)')], [],
                     status() + admission() + images() + store() + leading() + processes())
