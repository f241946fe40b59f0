#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CronJobs without a command run gated, also while their registry is stopped; a new one runs after the registry has started again.
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
# The replicas that answered no admission look up an image 15 minutes before a scheduled time of its CronJob.
SOON=$(date -u -d '14 minutes' '+%M %H * * *')
bare() {  # bare NAME [SCHEDULE]: creates an annotated CronJob without a command, with the image NAME
  IMAGE=$(in_registry "$1") SCHEDULE=${2:-$SOON} cronjob "$1" lock=true --
}
ran() {  # ran JOB WORD...: it was gated, and these were the arguments of its program
  local job=$1 words
  shift
  outcome_has "$job" '"outcome":"ran"' && words=$(jq --compact-output --null-input '$ARGS.positional' --args "$@") && log_has "$job" "\"argv\":$words}"
}
# completes JOB SENTENCE WORD...: the Job completes, and these were the arguments of its program.
completes() {
  local job=$1 sentence=$2
  shift 2
  becomes "$sentence: its Job completes" complete "$job"
  check "$sentence: it was gated and ran the command of its image" ran "$job" "$@"
}
# shellcheck disable=SC2016  # the $ of the image
NIGHTLY=(/bin/argv of '$(the entrypoint)' 'of cmd')
REPORT=(argv for 'a user of the image')

check "a CronJob without a command is accepted" bare nightly
check "a second CronJob without a command is accepted" bare report
# Until the registry has answered, a Job is refused.
needs "a Job of the first CronJob is created" start_job nightly nightly-first
needs "a Job of the second CronJob is created" start_job report report-first
completes nightly-first "ENTRYPOINT and CMD of a manifest list with two platforms" "${NIGHTLY[@]}"
completes report-first "a CMD in shell form" "${REPORT[@]}"
command_from() { k get pod "$(pod_of "$1")" -o 'jsonpath={.metadata.annotations.cronlatch\.dev/command-from}'; }
names_digest() { command_from nightly-first | grep -F "$REGISTRY/any/nightly@sha256:"; }
check "the annotation command-from of the pod contains the digest of the image" names_digest

# The log of the registry contains the address of each client.
replicas() {
  kubectl -n cronlatch get pods -l app.kubernetes.io/component=operator --field-selector=status.phase=Running -o 'jsonpath={.items[*].status.podIP}'
}
all_have_read() {  # all_have_read NAME CONFIGS
  local replica configs
  for replica in $(replicas); do
    configs=$(grep -c "^$replica .*\"GET /v2/any/$1/blobs/.* 200 " "$DIR/log/$REGISTRY_LOG.log")
    [ "$configs" -ge "$2" ] || { echo "$replica read $configs configs of $1" && return 1; }
  done
}
needs "every replica has read both configurations of the first image" all_have_read nightly 2
needs "every replica has read the configuration of the second image" all_have_read report 1

scheduled_job() { k get jobs -o name | sed -nE "s#^job.batch/($1-[0-9]+)\$#\1#p" | sed -n 1p | grep .; }
suspend() { k patch cronjob "$1" --patch '{"spec":{"suspend":true}}' >/dev/null 2>&1; }
stop_registry
refuses "the registry is stopped" registry_answers
k patch cronjob report --patch '{"spec":{"schedule":"* * * * *"}}' >/dev/null
# The API server cuts a long warning at its end, where the image and the registry's text are.
warned() { bare late '* * * * *' 2>&1 | grep -F Warning: | grep -F "the Jobs of this CronJob are refused until its image's command is known"; }
check "a new CronJob is accepted with a warning that its Jobs are refused" warned
start_job nightly nightly-again
completes nightly-again "a Job that a user creates of a CronJob with a cached image, while the registry is stopped" "${NIGHTLY[@]}"
check "a Job of the new CronJob is refused, and the message names the registry" refused_with "registry \"$REGISTRY\"" start_job late by-hand
event_has_reason() { event EntrypointUnknown CronJob/late "\"$(in_registry late)\" runs is not known: registry \"$REGISTRY\": "; }
becomes "an Event on the new CronJob contains the image, the registry and the reason" event_has_reason
needs -t 180 "a CronJob with a cached image starts a Job on schedule while the registry is stopped" scheduled_job report
suspend report
completes "$(scheduled_job report)" "the scheduled Job with a cached image" "${REPORT[@]}"
becomes -t 180 "an Event reports that the Job controller was refused for the same reason" event FailedCreate CronJob/late "registry \"$REGISTRY\""
check "the new CronJob has no Job and no pod" lacks late- k get jobs,pods -o name

start_registry
needs -t 240 "after the start of the registry the new CronJob starts a Job on schedule" scheduled_job late
suspend late
completes "$(scheduled_job late)" "the Job of the new CronJob" /bin/argv /entry.sh
finish
