# SPDX-License-Identifier: Apache-2.0
# Jobs for policy_mode_test.sh, by name. `yes-`: the policy gates it. `no-`: the policy leaves it to the webhook. `any-`: each
# annotation with each of the values; whatever the policy does, its result must be that of the operator.
def job: {
  apiVersion: "batch/v1", kind: "Job",
  metadata: {namespace: "demo", annotations: {"cronlatch.dev/lock": "true"},
    ownerReferences: [{apiVersion: "batch/v1", kind: "CronJob", name: "nightly", controller: true, uid: "3f0a"}]},
  spec: {template: {spec: {restartPolicy: "Never", containers: [{name: "main", image: "busybox:1", command: ["sh", "-c", "echo $(X) $$"]}]}}}};
def with($values): .metadata.annotations += ($values | with_entries(.key |= "cronlatch.dev/" + .));
def scheduled($at): .metadata.annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = $at;
def pod(f): .spec.template.spec |= f;
def main(f): .spec.template.spec.containers[0] |= f;
# $terms: for each term of the required node affinity its expressions [KEY, OPERATOR, VALUE...].
def affinity($terms): pod(.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms
  = [$terms[] | {matchExpressions: [.[] | {key: .[0], operator: .[1]} + if .[2:] == [] then {} else {values: .[2:]} end]}]);
def gate: ["/cronlatch-bin/cronlatch", "run", "--isolated", "--lock=other/x", "--"];

def shapes: {
  "yes-plain": job,
  "yes-args": (job | main(.args = ["a", "b"])),
  "yes-named-lock": (job | with({lock: "Nightly_1.a/b"})),
  "yes-without-cronjob": (job | with({lock: "x"}) | del(.metadata.ownerReferences)),
  "yes-other-owner": (job | with({lock: "x"}) | .metadata.ownerReferences[0] += {kind: "Workflow", apiVersion: "argoproj.io/v1alpha1"}),
  "yes-on-pods": (job | .spec.template.metadata.annotations = .metadata.annotations | del(.metadata.annotations)),
  "yes-on-job-and-pods": (job | with({ttl: "3m"}) | .spec.template.metadata.annotations = .metadata.annotations),
  "yes-copied": (job | with({mirrored: "lock,ttl", ttl: "10m"})),
  "yes-other-metadata": (job | .metadata.annotations.a = "b" | .spec.template.metadata = {labels: {app: "x"}, annotations: {c: "d"}}),
  "yes-scheduled": (job | scheduled("2026-11-21T03:00:00+01:00")),
  "yes-once": (job | with({"once-per-schedule": "true"}) | scheduled("2026-11-21T02:00:00Z")),
  "yes-once-by-hand": (job | with({"once-per-schedule": "true"})),
  "yes-once-off": (job | with({"once-per-schedule": "false"}) | scheduled("2026-11-21T02:00:00Z")),
  "yes-once-without-cronjob": (job | with({lock: "x", "once-per-schedule": "true"}) | del(.metadata.ownerReferences)),
  "yes-once-long-grace": (job | with({"once-per-schedule": "true"}) | pod(.terminationGracePeriodSeconds = 200000)),
  "yes-once-grace-90s": (job | with({"once-per-schedule": "true"}) | pod(.terminationGracePeriodSeconds = 90)),
  "yes-once-grace-2h": (job | with({"once-per-schedule": "true"}) | pod(.terminationGracePeriodSeconds = 7200)),
  "yes-once-no-grace": (job | with({"once-per-schedule": "true"}) | pod(.terminationGracePeriodSeconds = 0)),
  "yes-message-path": (job | main(.terminationMessagePath = "/tmp/$x")),
  "yes-as-root": (job | pod(.securityContext = {runAsUser: 0})),
  "yes-as-user": (job | pod(.securityContext = {runAsUser: 1000, fsGroup: 1})),
  "yes-full": (job | pod(.volumes = [{name: "v", emptyDir: {}}] | .initContainers = [{name: "first", image: "i"}] | .imagePullSecrets = [{name: "own"}])
    | main(.env = [{name: "A", value: "b"}] | .volumeMounts = [{name: "v", mountPath: "/v"}])),
  "yes-pull-secret-there": (job | pod(.imagePullSecrets = [{name: "mirror"}])),
  "yes-two-containers": (job | with({container: "main"}) | pod(.containers += [{name: "side", image: "i"}])),
  "yes-second-container": (job | with({container: "second"}) | pod(.containers += [{name: "second", image: "i", command: ["x"]}])),
  "yes-default-container": (job | pod(.containers += [{name: "second", image: "i", command: ["x"]}])
    | .spec.template.metadata.annotations["kubectl.kubernetes.io/default-container"] = "second"),
  "yes-default-container-missing": (job | .spec.template.metadata.annotations["kubectl.kubernetes.io/default-container"] = "gone"),
  "yes-deadline": (job | .spec.activeDeadlineSeconds = 60),
  "yes-linux": (job | pod(.os.name = "linux" | .nodeSelector = {"kubernetes.io/os": "linux"})),
  "yes-affinity-not-windows": (job | affinity([[["kubernetes.io/os", "NotIn", "windows"]]])),
  "yes-affinity-not-windows-beta": (job | affinity([[["beta.kubernetes.io/os", "NotIn", "windows"]]])),
  "yes-affinity-linux-or-windows": (job | affinity([[["kubernetes.io/os", "In", "linux", "windows"]]])),
  "yes-affinity-windows-in-one-term": (job | affinity([[["kubernetes.io/os", "In", "windows"]], [["kubernetes.io/os", "In", "linux"]]])),
  "yes-affinity-any-os": (job | affinity([[["kubernetes.io/os", "Exists"]]])),
  "yes-affinity-of-another-label": (job | affinity([[["pool", "In", "windows"]]])),
  "yes-all-options": (job | with({ttl: "5m", "on-busy": "wait", "wait-timeout": "10m", slots: "3", "min-hold": "1m", "max-run": "1h", "kill-after": "20s",
    leftovers: "wait", guardian: "off", "warn-after": "30m", "on-lost": "term", "on-store-down": "wait", "once-ttl": "7d", "store-secret": "my-store",
    "alert-after": "26h", container: "main", "lock-scope": "namespace"})),
  "yes-other-units": (job | with({ttl: "120s", "max-run": "120m", "min-hold": "24h", "warn-after": "3661s"})),
  "yes-template-replace": (job | .spec.podReplacementPolicy = "TerminatingOrFailed"),
  "yes-poststop": (job | main(.lifecycle = {preStop: {exec: {command: ["x"]}}})),
  "yes-own-cronlatch": (job | main(.command = ["cronlatch", "run", "--", "x"])),

  "no-command": (job | main(del(.command))),
  "no-empty-command": (job | main(.command = [])),
  "no-annotated-command": (job | with({command: "[\"x\"]"})),
  "no-own-lock-without-cronjob": (job | del(.metadata.ownerReferences)),
  "no-two-containers": (job | pod(.containers += [{name: "side", image: "i"}])),
  "no-unknown-container": (job | with({container: "gone"})),
  "no-init-container": (job | with({container: "first"}) | pod(.initContainers = [{name: "first", image: "i", command: ["x"]}])),
  "no-post-start": (job | main(.lifecycle = {postStart: {exec: {command: ["x"]}}})),
  "no-parallelism": (job | .spec.parallelism = 2),
  "no-completions": (job | .spec.completions = 2 | with({"on-busy": "wait"})),
  "no-manual-selector": (job | .spec.manualSelector = true | .spec.selector.matchLabels = {a: "b"} | .spec.template.metadata.labels = {a: "b"}),
  "no-windows": (job | pod(.os.name = "windows")),
  "no-windows-selector": (job | pod(.nodeSelector = {"kubernetes.io/os": "windows"})),
  "no-windows-selector-beta": (job | pod(.nodeSelector = {"beta.kubernetes.io/os": "windows"})),
  "no-windows-affinity": (job | affinity([[["kubernetes.io/os", "In", "windows"]]])),
  "no-windows-affinity-beta": (job | affinity([[["kubernetes.io/arch", "In", "amd64"], ["beta.kubernetes.io/os", "In", "windows"]]])),
  "no-windows-affinity-in-each-term": (job | affinity([[["kubernetes.io/os", "In", "windows"]], [["zone", "Exists"], ["kubernetes.io/os", "In", "windows"]]])),
  "no-volume": (job | pod(.volumes = [{name: "cronlatch-store", emptyDir: {}}])),
  "no-bin-volume": (job | pod(.volumes = [{name: "cronlatch-bin", emptyDir: {}}])),
  "no-init-container-of-the-gate": (job | pod(.initContainers = [{name: "cronlatch-install", image: "i", command: ["x"]}])),
  "no-container-of-that-name": (job | with({container: "main"}) | pod(.containers += [{name: "cronlatch-install", image: "i"}])),
  "no-mount": (job | pod(.volumes = [{name: "v", emptyDir: {}}]) | main(.volumeMounts = [{name: "v", mountPath: "/cronlatch-bin"}])),
  "no-mount-with-slash": (job | pod(.volumes = [{name: "v", emptyDir: {}}]) | main(.volumeMounts = [{name: "v", mountPath: "/cronlatch-bin/"}])),
  "no-mount-with-slashes": (job | pod(.volumes = [{name: "v", emptyDir: {}}]) | main(.volumeMounts = [{name: "v", mountPath: "/var//run/secrets/cronlatch"}])),
  "no-env": (job | main(.env = [{name: "CRONLATCH_HOLDER", value: "x"}])),
  "no-wait-beyond-deadline": (job | with({"on-busy": "wait", "wait-timeout": "10m"}) | .spec.activeDeadlineSeconds = 60),
  "no-wait-and-pod-deadline": (job | with({"on-busy": "wait", "wait-timeout": "1m"}) | pod(.activeDeadlineSeconds = 600)),
  "no-skip-command": (job | with({"skip-command": "[\"x\"]"})),
  "no-cluster-lock": (job | with({lock: "x", "lock-scope": "cluster"})),
  "no-unknown-annotation": (job | with({tttl: "5m"})),
  "no-platform-option": (job | with({store: "redis://x"})),
  "no-places-differ": (job | with({ttl: "3m"}) | .spec.template.metadata.annotations["cronlatch.dev/ttl"] = "4m"),
  "no-more-on-pods": (job | .spec.template.metadata.annotations["cronlatch.dev/ttl"] = "4m"),
  "no-lock-false-on-pods": (job | .spec.template.metadata.annotations["cronlatch.dev/lock"] = "false"),
  "no-gated": (job | main(.command = gate + ["x"])),
  "no-gated-and-marked": (job | with({"gated-by-policy": "main"}) | main(.command = gate + ["x"])),
  "no-marked": (job | with({"gated-by-policy": "main"}) | main(del(.command))),
  "no-gate-in-args": (job | main(.args = gate)),
  "no-gate-behind-program": (job | main(.command = ["vault-env"] + gate)),
  "no-bad-timestamp": (job | scheduled("yesterday")),
  "no-impossible-timestamp": (job | scheduled("2026-13-45T02:00:00Z")),
  "no-long-lock": (job | with({lock: ("x" * 200)})),
  "no-short-ttl": (job | with({ttl: "5s"})),
  "no-lock-false": (job | with({lock: "false"})),
  "no-annotation": (job | .metadata.annotations = {a: "b"})
};

def texts: ["", "x", "X_1.a/b", "a b", "$(HOME)", "ä", "x\ny", "true", "TRUE", "false", "Off", "1", "-a", "[\"a\"]"];
def durations: ["0", "01s", "1s", "5s", "29s", "30s", "59s", "60s", "90s", "500ms", "1m", "60m", "61m", "1h", "1h30m", "24h", "2d", "7d", "8d", "365d", "366d",
  "36500d", "99999999d", "999999999d", "-1m", "1.5h", "1M", "1m ", "1"];
def values_of: {lock: [], command: [], container: ["main"], "store-secret": ["cronlatch-store", "a.b", ("a" * 63), ("a" * 64)], "skip-command": ["[]"],
  slots: ["0", "01", "2", "999", "1000", "1001"], "on-busy": ["skip", "wait", "fail"], leftovers: ["end", "wait", "leave"], guardian: ["auto", "off"],
  "on-lost": ["kill", "term", "warn"], "on-store-down": ["fail", "wait", "run"], "lock-scope": ["namespace", "cluster"], "once-per-schedule": []}
  + ([("ttl", "wait-timeout", "min-hold", "max-run", "kill-after", "warn-after", "once-ttl", "alert-after") | {key: ., value: durations}] | from_entries);
def values: [values_of | to_entries[] | .key as $key | (.value + texts) | to_entries[]
  | {key: "any-\($key)-\(.key)", value: (.value as $v | job | with({($key): $v}))}] | from_entries;

(shapes + values) | to_entries | map(.key as $name | .value | .metadata.name = $name)
