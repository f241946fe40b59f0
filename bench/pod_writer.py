# SPDX-License-Identifier: Apache-2.0
# Writes gated CronJobs, Jobs and pods into an API server, in the place of its controllers and of kubelets.
#   pod_writer.py SERVER PKI cronjobs COUNT             gated CronJobs, as admission leaves them
#   pod_writer.py SERVER PKI pods FIRST COUNT GATED     pods that run, with a Job for each; GATED: value of their label
#   pod_writer.py SERVER PKI finish FIRST COUNT         finishes them as fast as the server accepts
#   pod_writer.py SERVER PKI finish FIRST COUNT RATE METRICS
#     finishes RATE per second, and reads the errors that the operator counts from its metrics at that address
# PKI has the certificate of the administrator. `finish` prints lines of name and value. The lag is the time from the
# answer to the status of a pod with an error, until the operator had counted as many errors as there were up to it.
# `writer_cpu` is the processor time of this program, in percent of one core.
import concurrent.futures
import datetime
import http.client
import json
import ssl
import sys
import threading
import time

THREADS = 16
ERROR_EVERY = 10  # one in ten pods has an outcome that the leader counts
LOOK_EVERY = 0.5  # seconds
MOST_LAG = 60  # seconds; errors that are not counted until then are missing
SETTLE = 6  # seconds; the operator counts every two seconds, so an error that is counted twice is seen
POD = {"restartPolicy": "Never"}
CONTAINER = {
    "name": "main", "image": "registry.example/billing/report:1.14.2",
    "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}
GATED_CONTAINER = CONTAINER | {
    "command": ["/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=bench/report",
                "--store=rediss://redis.example:6379", "--"],
    "args": ["/app/report", "--since", "yesterday"],
    "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "REGION", "value": "eu-central-1"}],
    "volumeMounts": [{"name": "cronlatch-bin", "mountPath": "/cronlatch-bin", "readOnly": True}]}
GATED_POD = POD | {"containers": [GATED_CONTAINER], "volumes": [{"name": "cronlatch-bin", "emptyDir": {}}]}
CRONJOBS = "/apis/batch/v1/namespaces/bench/cronjobs"
JOBS = "/apis/batch/v1/namespaces/bench/jobs"
PODS = "/api/v1/namespaces/bench/pods"


def is_error(i):
    return i % ERROR_EVERY == 0


def owned_by(kind, name, uid):
    return [{"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": uid,
             "controller": True, "blockOwnerDeletion": True}]


def cronjob(i):
    container = CONTAINER | {"command": ["/app/report"], "args": ["--since", "yesterday"]}
    return {"metadata": {"name": f"report-{i:07}", "annotations": {"cronlatch.dev/lock": "true"}},
            "spec": {"schedule": "0 2 * * *", "jobTemplate": {
                "metadata": {"annotations": {"cronlatch.dev/lock": "true", "cronlatch.dev/mirrored": "lock"}},
                "spec": {"template": {"spec": POD | {"containers": [container]}}}}}}


def job(i, owner):
    return {"metadata": {"name": f"report-job-{i:07}", "annotations": {"cronlatch.dev/lock": "true"},
                         "ownerReferences": owner},
            "spec": {"template": {"spec": GATED_POD}}}


def pod(i, owner, gated):
    return {"metadata": {"name": f"report-pod-{i:07}", "labels": {"cronlatch.dev/gated": gated},
                         "ownerReferences": owner},
            "spec": GATED_POD}


def finished(i):
    """The status that a kubelet writes."""
    outcome = {"v": 1, "outcome": "ran", "reason": "none", "lock": "bench/report", "fence": "7",
               "holder": f"bench/report-pod-{i:07}", "held_ms": 1200}
    if is_error(i):
        outcome |= {"outcome": "store_down", "reason": "unreachable"}
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    end = {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now, "message": json.dumps(outcome)}
    return {"status": {"phase": "Succeeded", "containerStatuses": [
        {"name": "main", "image": CONTAINER["image"], "imageID": "", "ready": False, "restartCount": 0,
         "state": {"terminated": end}}]}}


class ApiServer:
    def __init__(self, server, pki):
        self.server, self.thread = server, threading.local()
        self.tls = ssl.create_default_context(cafile=f"{pki}/ca.crt")
        self.tls.load_cert_chain(f"{pki}/admin.crt", f"{pki}/admin.key")

    def call(self, method, path, body=None, kind="application/json"):
        if not hasattr(self.thread, "connection"):
            self.thread.connection = http.client.HTTPSConnection(self.server, timeout=60, context=self.tls)
        sent = None if body is None else json.dumps(body)
        self.thread.connection.request(method, path, sent, {"Content-Type": kind})
        answer = self.thread.connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return text

    def create(self, path, body):
        """Returns the UID of the new object."""
        return json.loads(self.call("POST", path, body))["metadata"]["uid"]


def for_each(what, first, count, work):
    """work(number) for each number, in order of their start, in threads."""
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for done, _ in enumerate(pool.map(work, range(first, first + count)), 1):
            if done % 2000 == 0 or done == count:
                print(f"      {what}: {done} of {count}", file=sys.stderr, flush=True)


def create_pods(api, first, count, gated):
    owners = [owned_by("CronJob", item["metadata"]["name"], item["metadata"]["uid"])
              for item in json.loads(api.call("GET", CRONJOBS))["items"]]

    def create(i):
        body = job(i, owners[i % len(owners)])
        uid = api.create(JOBS, body)
        api.create(PODS, pod(i, owned_by("Job", body["metadata"]["name"], uid), gated))
    for_each("Jobs and pods", first, count, create)


class Writer:
    """Finishes pods. `errors` has the times at which the status of each error was answered."""

    def __init__(self, api, first, count, rate=None):
        self.api, self.first, self.count, self.rate = api, first, count, rate
        self.errors, self.last = [], 0
        self.begin = time.monotonic()

    def finish(self, i):
        if self.rate:
            time.sleep(max(0, self.begin + (i - self.first) / self.rate - time.monotonic()))
        self.api.call("PATCH", f"{PODS}/report-pod-{i:07}/status?fieldManager=kubelet", finished(i),
                      "application/strategic-merge-patch+json")
        self.last = time.monotonic()
        if is_error(i):
            self.errors.append(self.last)

    def run(self):
        for_each("finished", self.first, self.count, self.finish)


def counted_errors(metrics):
    """Zero while the operator does not answer."""
    try:
        connection = http.client.HTTPConnection(metrics, timeout=10)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
    except (OSError, http.client.HTTPException):
        return 0
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith("cronlatch_run_errors_total{"))


def follow(writer, metrics):
    """Errors that the operator counted, and the longest lag. An error that it did not count lags until the end."""
    expected = sum(map(is_error, range(writer.first, writer.first + writer.count)))
    counted, reached, end = 0, [], None
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        run = pool.submit(writer.run)
        while end is None or time.monotonic() < end:
            time.sleep(LOOK_EVERY)
            counted = counted_errors(metrics)
            now = time.monotonic()
            reached += [now] * (counted - len(reached))
            if end is None and run.done():
                run.result()  # raises the error of a request
                end = now + MOST_LAG
            if end is not None and counted >= expected:
                end = min(end, now + SETTLE)
    reached += [now] * (len(writer.errors) - len(reached))
    return counted, max((then - answered for answered, then in zip(sorted(writer.errors), reached)), default=0)


def finish(api, first, count, rate=None, metrics=None):
    writer = Writer(api, int(first), int(count), float(rate) if rate else None)
    if metrics:
        counted, lag = follow(writer, metrics)
        print(f"errors {len(writer.errors)}\ncounted {counted}\nlag_max_ms {lag * 1000:.0f}")
    else:
        writer.run()
    took = writer.last - writer.begin
    print(f"rate {writer.count / took:.0f}\nwriter_cpu {100 * time.process_time() / took:.0f}")


def main(server, pki, command, *words):
    api = ApiServer(server, pki)
    if command == "cronjobs":
        for_each("CronJobs", 0, int(words[0]), lambda i: api.create(CRONJOBS, cronjob(i)))
    elif command == "pods":
        create_pods(api, int(words[0]), int(words[1]), words[2])
    else:
        finish(api, *words)


main(*sys.argv[1:])
