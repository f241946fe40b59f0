# SPDX-License-Identifier: Apache-2.0
# "Cronlatch / Operator": state of the operator: admission, store, leader, certificates, processes.
from parts import OWN as SCRAPED, dashboard, panel, queries, query, row, series, stat, steps, timeline, value_texts, variable

# Matchers of the replicas that the variable `instance` selects.
OWN = SCRAPED + ', instance=~"$instance"'
WEBHOOKS = 'cluster=~"$cluster", name=~".+[.]cronlatch[.]dev"'
CONDITIONS = ('cluster=~"$cluster", '
              'name=~".+[.]cronlatch[.]dev|.+-(mirrored-cronjobs|gated-jobs|gated-pods|operator-patches)"')
READS = OWN + ', command="show"'
PROBLEM = steps((None, "green"), (1, "red"))


def rate(metric, by, matchers=OWN):
    return f"sum by ({by}) (rate({metric}{{{matchers}}}[$__rate_interval]))"


def quantiles(metric, label=""):
    """The median and the 99th percentile of a histogram, for each value of the label."""
    by, legend = (f"le, {label}", "{{" + label + "}} ") if label else ("le", "")
    return [(f"histogram_quantile({q}, {rate(metric + '_bucket', by)})", legend + name) for q, name in ((0.5, "p50"), (0.99, "p99"))]


def quantile_of_reads():
    return f"histogram_quantile(0.5, {rate('cronlatch_store_command_duration_seconds_bucket', 'le', READS)})"


def in_a_day(metric, of_replicas):
    return f"round({of_replicas}(increase({metric}{{{OWN}}}[24h]))) or vector(0)"


def status():
    return [
        row("Status"),
        stat("Replicas", "Replicas of the operator that are scraped. Each replica answers admission requests.", f"count(cronlatch_build_info{{{OWN}}}) or vector(0)",
             thresholds=steps((None, "red"), (1, "orange"), (2, "green")), size=(3, 4), runbooks=["CronlatchDown"]),
        stat("Leaders", "Replicas that are the leader, the largest number of a release. The expected value is 1.", f"max(sum by (cluster, namespace, job) (cronlatch_leader{{{OWN}}}))",
             thresholds=steps((None, "red"), (1, "green"), (2, "red")), size=(3, 4), runbooks=["CronlatchNoLeader"]),
        stat("Store connected", "Replicas whose last request to the store succeeded.", f"sum(cronlatch_store_up{{{OWN}}})",
             thresholds=steps((None, "red"), (1, "green")), size=(3, 4), runbooks=["CronlatchRedisDown"]),
        stat("Certificate expires in", "Time until the first certificate in use expires.", f"min(cronlatch_certificate_expiry_timestamp_seconds{{{OWN}}}) - time()", unit="s",
             thresholds=steps((None, "red"), (86400, "orange"), (604800, "green")), size=(4, 4), runbooks=["CronlatchCertificateExpiring"]),
        stat("Invalid CronJobs", "CronJobs with invalid annotations; their Jobs are refused.",
             f'sum(max by (cluster) (cronlatch_gated_cronjobs{{{OWN}, state="invalid"}}))', thresholds=PROBLEM, size=(3, 4), runbooks=["CronlatchInvalidConfiguration"]),
        stat("Ungated Jobs, 24 h", "Jobs within one day that request a lock and run without it. The expected value is 0.", in_a_day("cronlatch_ungated_jobs_total", "sum"), thresholds=PROBLEM,
             size=(4, 4), kind="instant", runbooks=["CronlatchUngatedJobStarted"]),
        stat("Store resets, 24 h", "Locks whose counters were reset within one day: the store was flushed or lost its data. Each replica counts them.", in_a_day("cronlatch_store_resets_total", "max"),
             thresholds=steps((None, "green"), (1, "orange")), size=(4, 4), kind="instant", runbooks=["CronlatchCountersReset"]),
    ]


def admission():
    return [
        row("Admission"),
        series("Admission reviews", "Admission reviews that the operator answered, by resource and result.",
               queries((rate("cronlatch_admission_requests_total", "resource, result"), "{{resource}} {{result}}")), unit="reqps", size=(8, 8)),
        series("Admission latency", "Time from a complete request to its response, without the network, by resource.", queries(*quantiles("cronlatch_admission_duration_seconds", "resource")),
               unit="s", size=(8, 8)),
        series("API server metrics", "Refusals by the webhooks, failed calls to them, CronJobs that were admitted without them, and match conditions that could "
               "not be evaluated. Requires the metrics of the API server. no_error is a refusal by the webhook.", queries(
                   (rate("apiserver_admission_webhook_rejection_count", "error_type", WEBHOOKS), "refused: {{error_type}}"),
                   (f'{rate("apiserver_admission_webhook_fail_open_count", "cluster", WEBHOOKS)} or vector(0)', "failed open"),
                   (f'{rate("apiserver_admission_match_condition_evaluation_errors_total", "cluster", CONDITIONS)} or vector(0)', "condition errors")),
               unit="cps", size=(8, 8), runbooks=["CronlatchWebhookFailing", "CronlatchWebhookFailOpen", "CronlatchMatchConditionErrors"]),
    ]


def images():
    return [
        row("Images of containers without a command"),
        series("Image lookups", "Source of the command of an image: the image index, the cache, its registry, or none (error).",
               queries((rate("cronlatch_entrypoint_lookups_total", "result"), "{{result}}")), unit="cps", size=(8, 7)),
        series("Requests to registries", "Requests to each registry by result; busy: the registry limits requests.",
               queries((rate("cronlatch_registry_requests_total", "registry, result"), "{{registry}} {{result}}")), unit="reqps", size=(8, 7)),
        series("Registry latency", "Duration of the lookup of one image, failures included. Admission does not wait for lookups that are made in advance.",
               queries(*quantiles("cronlatch_entrypoint_lookup_duration_seconds")), unit="s", size=(8, 7)),
    ]


def store():
    return [
        row("Store"),
        timeline("Store availability by replica", "Whether the replica's last request to the store succeeded, and to each server of a quorum.",
                 queries((f"max by (cluster, instance, endpoint) (cronlatch_store_up{{{OWN}}} or cronlatch_store_server_up{{{OWN}}})", "{{instance}}: {{endpoint}}")), size=(24, 7),
                 mappings=value_texts(_0=("unavailable", "red"), _1=("available", "green")), runbooks=["CronlatchRedisDown", "CronlatchStoreServerDown"]),
        series("Store latency", "Duration of the operator's requests to the store: show reads one lock, list all.", queries(*quantiles("cronlatch_store_command_duration_seconds", "command")), unit="s", size=(8, 7)),
        series("Latency by server", "Duration of the last read of one lock from each server of a quorum; with another store the median of all such reads.",
               queries((f"max by (endpoint) (cronlatch_store_server_latency_seconds{{{OWN}}}) or " + quantile_of_reads(), "{{endpoint}}")), unit="s", size=(8, 7),
               runbooks=["CronlatchStoreServerDown"]),
        series("Store quarantine", "Time until the store grants locks again after a failover or a restart, with the option strict.",
               queries((f"max by (cluster) (cronlatch_store_quarantine_seconds{{{OWN}}})", "{{cluster}}")), unit="s", size=(8, 7), runbooks=["CronlatchStoreQuarantine"]),
    ]


def leading():
    return [
        row("Leader and certificates"),
        timeline("Leader", "The replica that is the leader.", queries((f"max by (cluster, instance) (cronlatch_leader{{{OWN}}})", "{{instance}}")), size=(8, 7),
                 mappings=value_texts(_0=("follower", "transparent"), _1=("leader", "blue")), runbooks=["CronlatchNoLeader"]),
        series("CronJobs by state", "CronJobs that request a lock: gated, pending (the annotations are not yet in the Job template), invalid.",
               queries((f"sum by (state) (max by (cluster, state) (cronlatch_gated_cronjobs{{{OWN}}}))", "{{state}}")), size=(8, 7)),
        series("Certificates expire in", "Time until each certificate in use expires. Certificates are renewed long before that.",
               queries((f"min by (cluster, use) (cronlatch_certificate_expiry_timestamp_seconds{{{OWN}}}) - time()", "{{use}}")), unit="s", size=(8, 7),
               runbooks=["CronlatchCertificateExpiring"]),
    ]


def processes():
    # Every program exports these names. The join selects the operator's processes.
    operators = f"on (cluster, job, instance) group_left () max by (cluster, job, instance) (cronlatch_build_info{{{OWN}}})"
    of_versions = f"on (cluster, job, instance) group_left (version) max by (cluster, job, instance, version) (cronlatch_build_info{{{OWN}}})"

    def each(value):
        return f"max by (cluster, instance) ({value} * {operators})"

    table = panel("table", "Versions", "Version and start time of each replica.", [
        query(f"max by (cluster, instance, version) (process_start_time_seconds{{{OWN}}} * {of_versions}) * 1000", "", "table")], (9, 7),
                  unit="dateTimeAsIso", options={"showHeader": True, "cellHeight": "sm", "footer": {"show": False}})
    table["transformations"] = [{"id": "organize", "options": {
        "excludeByName": {"Time": True, "cluster": True}, "renameByName": {"instance": "Replica", "version": "Version", "Value": "Started"},
        "indexByName": {"instance": 0, "version": 1, "Value": 2}}}]
    return [
        row("Processes"),
        series("CPU", "Processor time of each replica, in cores.",
               queries((each(f"rate(process_cpu_seconds_total{{{OWN}}}[$__rate_interval])"), "{{instance}}")), unit="none", size=(5, 7)),
        series("Memory", "Resident memory of each replica.", queries((each(f"process_resident_memory_bytes{{{OWN}}}"), "{{instance}}")), unit="bytes", size=(5, 7)),
        series("File descriptors", "Open descriptors of each replica, as a share of its limit.",
               queries((each(f"process_open_fds{{{OWN}}} / process_max_fds{{{OWN}}}"), "{{instance}}")), unit="percentunit", size=(5, 7)),
        table,
    ]


def page():
    return dashboard("cronlatch-operator", "Cronlatch / Operator", "State of the operator: admission, store, leader, certificates, processes.",
                     [variable("job", "Scrape job", 'label_values(cronlatch_build_info{cluster=~"$cluster"}, job)'),
                      variable("instance", "Replica", f"label_values(cronlatch_build_info{{{SCRAPED}}}, instance)")], [],
                     status() + admission() + images() + store() + leading() + processes())
