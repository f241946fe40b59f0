# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions of the scenarios: checks, which print one line each (ok, FAIL, skip; output follows a FAIL); waits for
# conditions, with a time limit; actions on CronJobs and Jobs. Each scenario has its own namespace, named after its file.
# Sourced by tests/cluster/scenarios/*.sh; the cluster is already running.
# shellcheck disable=SC2034  # the scenarios use some of these variables

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/cluster_common.sh
source "$ROOT/scripts/cluster_common.sh"
# shellcheck source=scripts/cluster_pki.sh
source "$ROOT/scripts/cluster_pki.sh"
# shellcheck source=scripts/cluster_node.sh
source "$ROOT/scripts/cluster_node.sh"
# shellcheck source=scripts/cluster_images.sh
source "$ROOT/scripts/cluster_images.sh"
# shellcheck source=scripts/cluster_product.sh
source "$ROOT/scripts/cluster_product.sh"
# shellcheck source=scripts/cluster_up.sh
source "$ROOT/scripts/cluster_up.sh"

SUBJECT=$(basename -- "$0" .sh)
NS=$(tr _ - <<<"$SUBJECT")
FAILED=0
PATIENCE=${PATIENCE:-120}  # time limit in seconds of a wait that takes seconds; only a hang reaches it

use_cluster "${CLUSTER:-test}"

ok() { printf 'ok    %s: %s\n' "$SUBJECT" "$1"; }
skip() { printf 'skip  %s: %s (%s)\n' "$SUBJECT" "$1" "$2"; }
fail() {
  printf 'FAIL  %s: %s\n' "$SUBJECT" "$1"
  FAILED=1
}
show() { sed 's/^/      | /' | head -n 60; }

# tests/cluster/fixture.sh writes the reason why no cluster runs.
if [ -s "$ROOT/build/test-results/cluster/skipped.$NAME" ]; then
  skip "all checks" "$(cat "$ROOT/build/test-results/cluster/skipped.$NAME")"
  exit 0
fi
read_addresses

# check SENTENCE COMMAND...: passes when the command succeeds; otherwise prints its output.
check() {
  local sentence=$1 seen
  shift
  if seen=$("$@" 2>&1); then ok "$sentence"; else fail "$sentence" && printf '%s\n' "$seen" | show; fi
}

# refuses SENTENCE COMMAND...: the command must fail.
refuses() {
  local sentence=$1 seen
  shift
  if seen=$("$@" 2>&1); then fail "$sentence" && printf '%s\n' "$seen" | show; else ok "$sentence"; fi
}

# becomes [-t SECONDS] SENTENCE COMMAND...: passes when the command succeeds within the time limit; otherwise prints the
# output of the command, the objects of the namespace and its Events.
becomes() {
  local seconds=$PATIENCE sentence
  if [ "$1" = -t ]; then
    seconds=$2
    shift 2
  fi
  sentence=$1
  shift
  if await "$seconds" "$@" >/dev/null 2>&1; then
    ok "$sentence"
  else
    fail "$sentence (waited $seconds s)"
    { "$@" || true; k get cronjobs,jobs,pods -o wide; k get events --sort-by=.metadata.creationTimestamp; } 2>&1 | show
  fi
}

# Like becomes, but a failure ends the scenario.
needs() {
  becomes "$@"
  [ $FAILED -eq 0 ] || finish
}

finish() { exit "$FAILED"; }

k() { kubectl -n "$NS" "$@"; }
client() { kubectl -n store exec deploy/client -- cronlatch "$@"; }

# fresh_namespace [LABEL=VALUE...]: creates the namespace, restricted, with the store's Secret. It is deleted when the
# scenario ends.
fresh_namespace() {
  kubectl delete namespace "$NS" --ignore-not-found --wait --timeout=90s >/dev/null
  kubectl create namespace "$NS" >/dev/null
  kubectl label namespace "$NS" pod-security.kubernetes.io/enforce=restricted "$@" >/dev/null
  store_secret "$NS"
  trap 'kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
}

# An unused port in the cluster's network. It is below the kernel's ephemeral ports, so that a server can be restarted at
# the same port.
free_port() {
  in_cluster python3 -c 'import random, socket
while True:
    port = random.randrange(20000, 30000)
    try:
        socket.socket().bind(("", port))
    except OSError:
        continue
    print(port)
    break'
}

# cronjob NAME [key=value...] -- COMMAND...: creates a CronJob with annotations cronlatch.dev/<key>. The variables IMAGE,
# PULL (imagePullPolicy), SCHEDULE and BACKOFF (backoffLimit) change the fields of these names; without SCHEDULE the
# CronJob is not due during a test. The command is one shell script, unless RAW is set. Without words after the dashes
# the container has no command.
cronjob() { manifest CronJob "$@" | k apply -f - >/dev/null; }
# job NAME ...: the same for a Job without a CronJob.
job() { manifest Job "$@" | k apply -f - >/dev/null; }

manifest() {
  local kind=$1 name=$2 pair annotations='' command
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    pair=$1
    annotations="$annotations cronlatch.dev/${pair%%=*}: $(json_text "${pair#*=}"),"
    shift
  done
  shift
  if [ "${RAW:-}" ]; then command=$*; else command="[sh, -c, $(json_text "$*")]"; fi
  if [ $# -gt 0 ]; then command="command: $command,"; else command=''; fi
  [ -z "$annotations" ] || annotations="annotations: {${annotations%,}},"
  local pods="backoffLimit: ${BACKOFF:-0}, template: {spec: {restartPolicy: Never, automountServiceAccountToken: false,
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
      containers: [{name: main, image: '${IMAGE:-cronlatch.test/shell:1}', imagePullPolicy: ${PULL:-Never}, $command
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}"
  echo ---  # kubectl 1.30 reads a text that begins with { as JSON
  if [ "$kind" = Job ]; then
    echo "{apiVersion: batch/v1, kind: Job, metadata: {$annotations name: $name}, spec: {$pods}}"
  else
    echo "{apiVersion: batch/v1, kind: CronJob, metadata: {$annotations name: $name},
      spec: {schedule: '${SCHEDULE:-0 0 1 1 *}', jobTemplate: {spec: {$pods}}}}"
  fi
}

# json_text TEXT: the text as a JSON string.
json_text() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '"%s"' "${text//$'\n'/\\n}"
}

# start_job CRONJOB JOB: starts a run as a user does.
start_job() { k create job "$2" --from="cronjob/$1" >/dev/null; }

# set_values OPTION...: upgrades the release with these options of helm; without any, its own values are restored. CHART is
# another chart.
# shellcheck disable=SC2120
set_values() {
  helm upgrade cronlatch "${CHART:-$ROOT/charts/cronlatch}" --namespace cronlatch --values "$DIR/values.yaml" "$@" --wait --timeout 3m
}

# serves_policies VERSION: the API server has the API of MutatingAdmissionPolicies in this version.
serves_policies() { kubectl get --raw "/apis/admissionregistration.k8s.io/$1" 2>/dev/null | grep -F '"MutatingAdmissionPolicy"' >/dev/null; }

# admitted CRONJOB: the API server admits a Job of it in a dry run. An API server applies a changed webhook after a delay.
admitted() { k create job "probe-$RANDOM" --from="cronjob/$1" --dry-run=server; }

# condition JOB TYPE: the Job has this condition, now or within ten seconds. One kubectl that watches needs less than many that poll.
condition() { k wait --for="condition=$2" "job/$1" --timeout=10s; }
complete() { condition "$1" Complete; }
failed() { condition "$1" Failed; }

# The newest pod of a Job.
pod_of() {
  k get pods -l "batch.kubernetes.io/job-name=$1" --sort-by=.metadata.creationTimestamp \
    -o 'jsonpath={.items[-1:].metadata.name}'
}
# outcome JOB: the termination message of its newest pod's gated container.
outcome() {
  k get pod "$(pod_of "$1")" -o 'jsonpath={.status.containerStatuses[0].state.terminated.message}'
}
outcome_has() {  # outcome_has JOB TEXT...
  local seen text
  seen=$(outcome "$1")
  shift
  for text; do
    [[ $seen == *"$text"* ]] || { echo "no $text in the outcome: $seen" && return 1; }
  done
}
log_has() { k logs "job/$1" -c main | grep -qF -- "$2"; }  # log_has JOB TEXT

# lacks TEXT COMMAND...: the command succeeds, and its output is not empty and does not contain the text. A kubectl that
# fails proves no absence.
lacks() {
  local text=$1 seen
  shift
  seen=$("$@" 2>&1) || { printf 'failed: %s\n%s\n' "$*" "$seen" && return 1; }
  printf '%s\n' "$seen"
  [ -n "$seen" ] && [[ $seen != *"$text"* ]]
}
# finds_none COMMAND...: the command succeeds and prints nothing.
finds_none() {
  local seen
  seen=$("$@") || return 1
  printf '%s\n' "$seen"
  [ -z "$seen" ]
}
# refused_with TEXT COMMAND...: the command fails, and its output contains the text. A kubectl that fails for another
# reason proves no refusal.
refused_with() {
  local text=$1 seen
  shift
  seen=$("$@" 2>&1) && printf 'succeeded: %s\n%s\n' "$*" "$seen" && return 1
  printf '%s\n' "$seen"
  [[ $seen == *"$text"* ]]
}
log_of() { k logs "job/$1" -c main; }
# did_not_print JOB TEXT: the log contains a line of the gate, and not the text of the command.
did_not_print() { log_has "$1" cronlatch: && lacks "$2" log_of "$1"; }
ended() { k get job "$1" -o 'jsonpath={.metadata.name}: {.status.conditions[?(@.status=="True")].type}'; }
unfinished() { lacks Complete ended "$1" && lacks Failed ended "$1"; }  # unfinished JOB: it exists and still runs

# event REASON KIND/NAME TEXT: an Event with this reason and object exists, and its note contains the text.
event() {
  kubectl -n "$NS" get events.v1.events.k8s.io -o \
    'jsonpath={range .items[*]}{.reason} {.regarding.kind}/{.regarding.name} {.note}{"\n"}{end}' |
    grep "^$1 $2 " | grep -F -- "$3"
}

# exported LINE: a replica exports this line. Only the leader exports lock statistics, and the Service selects any replica.
exported() {
  kubectl get --raw /api/v1/namespaces/cronlatch/services/http:cronlatch-metrics:8080/proxy/metrics | grep -xF -- "$1"
}
# lock_of CRONJOB LOCK [LABELS]: the labels of a lock's series.
lock_of() { printf '{namespace="%s",cronjob="%s",lock="%s/%s"%s}' "$NS" "$1" "$NS" "$2" "${3:-}"; }

# A command that prints `began` and runs until end_command, so that its run holds the lock.
HOLD='echo began; while [ ! -e /tmp/end ]; do sleep 0.1; done; echo ended'
holds() { log_has "$1" began; }
end_command() { k exec "$(pod_of "$1")" -c main -- touch /tmp/end; }

# kill_pod POD: sends SIGKILL to all processes of its gated container at once, as the kernel does on a node without free
# memory. No process can report a result.
kill_pod() {
  local id procs
  id=$(k get pod "$1" -o 'jsonpath={.status.containerStatuses[0].containerID}')
  mapfile -t procs < <(find "$(cgroup_folders | head -n 1)" -path "*/${id#containerd://}/cgroup.procs" -exec cat {} +)
  [ ${#procs[@]} -gt 0 ] || { echo "no processes found in $1 ($id)" && return 1; }
  kill -9 "${procs[@]}"
}

# counter NAME NAMESPACE/CRONJOB: its value in the lock statistics of the store.
counter() {
  client metrics | sed -nE "s#^cronlatch_$1\{([^}]*,)?namespace=\"${2%/*}\",cronjob=\"${2#*/}\"[^}]*\} ##p" | sed -n 1p
}
