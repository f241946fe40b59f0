#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CronJobs without a command run gated; with their registry stopped they still do, and a new one waits for it and then runs by itself.
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/registry.sh
source "$ROOT/tests/cluster/registry.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'stop_registry; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
export PULL=IfNotPresent

make_registry
make_layers
image nightly <<'DOCKERFILE'
ENTRYPOINT ["/bin/argv", "of", "$(the entrypoint)"]
CMD ["of cmd"]
DOCKERFILE
image report <<'DOCKERFILE'
CMD argv for "$WHO"
DOCKERFILE
image late <<'DOCKERFILE'
ENTRYPOINT ["/entry.sh"]
DOCKERFILE
in_schema_2 report
other_platform nightly
bare() {  # bare NAME [SCHEDULE]: an annotated CronJob without a command, of the image of that name
  IMAGE=$(in_registry "$1") SCHEDULE=${2:-0 0 1 1 *} cronjob "$1" lock=true --
}
ran() {  # ran JOB WORD...: gated, and it was called so
  local job=$1 words
  shift
  outcome_has "$job" '"outcome":"ran"' && words=$(jq --compact-output --null-input '$ARGS.positional' --args "$@") && says "$job" "\"argv\":$words}"
}
# completes JOB SENTENCE WORD...: it does, and the sentence says that it ran so.
completes() {
  local job=$1 sentence=$2
  shift 2
  becomes "$sentence: its Job completes" complete "$job"
  check "gated, and it ran what its image says" ran "$job" "$@"
}
# shellcheck disable=SC2016  # of the image
NIGHTLY=(/bin/argv of '$(the entrypoint)' 'of cmd')
REPORT=(argv for 'somebody of the image')

check "a CronJob without a command is accepted" bare nightly
check "so is another one" bare report
start_job nightly nightly-first
start_job report report-first
completes nightly-first "ENTRYPOINT and CMD of a list of two platforms" "${NIGHTLY[@]}"
completes report-first "a CMD in shell form" "${REPORT[@]}"
told_by() { k get pod "$(pod_of "$1")" -o 'jsonpath={.metadata.annotations.cronlatch\.dev/command-from}'; }
names_digest() { told_by nightly-first | grep -F "$REGISTRY/any/nightly@sha256:"; }
check "the pod says which image told its command" names_digest

# One that answered no admission looks ahead, too: the registry's own log knows who asked.
replicas() {
  kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator --field-selector=status.phase=Running -o 'jsonpath={.items[*].status.podIP}'
}
all_know() {  # all_know NAME CONFIGS
  local replica asked
  for replica in $(replicas); do
    asked=$(grep -c "^$replica .*\"GET /v2/any/$1/blobs/.* 200 " "$DIR/log/$REGISTRY_LOG.log")
    [ "$asked" -ge "$2" ] || { echo "$replica read $asked configs of $1" && return 1; }
  done
}
needs "every replica has looked at the first image, for both platforms" all_know nightly 2
needs "and at the second" all_know report 1

scheduled_job() { k get jobs -o name | sed -nE "s#^job.batch/($1-[0-9]+)\$#\1#p" | sed -n 1p | grep .; }
suspend() { k patch cronjob "$1" --patch '{"spec":{"suspend":true}}' >/dev/null 2>&1; }
stop_registry
refuses "the registry is stopped" registry_answers
k patch cronjob report --patch '{"spec":{"schedule":"* * * * *"}}' >/dev/null
warned() { bare late '* * * * *' 2>&1 | grep -F Warning: | grep -F "$(in_registry late)"; }
check "a new CronJob is accepted with a warning that names its image" warned
start_job nightly nightly-again
completes nightly-again "one whose image is known goes on, by hand" "${NIGHTLY[@]}"
check "a Job of the new one is refused, and the reason names the registry" refused_with "registry \"$REGISTRY\"" start_job late by-hand
says_why() { event EntrypointUnknown CronJob/late "\"$(in_registry late)\" runs is not known: registry \"$REGISTRY\": "; }
becomes "an Event on the new one names image and registry, and why" says_why
needs -t 180 "one whose image is known goes on, by schedule" scheduled_job report
suspend report
completes "$(scheduled_job report)" "that one" "${REPORT[@]}"
becomes -t 180 "the controller is refused with the same reason" event FailedCreate CronJob/late "registry \"$REGISTRY\""
check "nothing of the new one ran" lacks late- k get jobs,pods -o name

start_registry
needs -t 240 "with the registry back the new one's Job comes by itself" scheduled_job late
suspend late
completes "$(scheduled_job late)" "that one" /bin/argv /entry.sh
finish
