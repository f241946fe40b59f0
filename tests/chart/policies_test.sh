#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The policies, the webhooks' match conditions and the rights, evaluated by an API server without an operator: a table
# of Jobs and CronJobs with the expected result of each. The API server runs in its own network namespace and ends with
# this script.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck source=tests/chart/api_server.sh
source "$ROOT/tests/chart/api_server.sh"
as_operator() { k --as=system:serviceaccount:cronlatch:cronlatch-operator --as-group=system:serviceaccounts --as-group=system:authenticated "$@"; }

check "an API server starts" start_api_server
[ $FAILED -eq 0 ] || finish
for namespace in cronlatch shop reports; do k create namespace "$namespace" >/dev/null; done

# ---- documents ----
pod() { printf '{restartPolicy: Never, containers: [%s]}' "$1"; }
GATED='[/cronlatch-bin/cronlatch, run, --isolated, --lock=a, --, /work]'
container() { printf '{name: %s, image: i, command: %s}' "$1" "${2:-[/work]}"; }
# job CONTAINERS [ANNOTATIONS [POD-METADATA]]; OWNER is the name of its CronJob, OWNED_AS replaces the kind of the
# owner.
job() {
  printf '{apiVersion: batch/v1, kind: Job, metadata: {generateName: x-, namespace: %s%s%s}, spec: {template: {%sspec: %s}}}' \
    "${SPACE:-shop}" "${2:+, annotations: {$2\}}" \
    "${OWNER:+, ownerReferences: [{${OWNED_AS:-apiVersion: batch/v1, kind: CronJob}, name: $OWNER, uid: u1, controller: true\}]}" \
    "${3:+metadata: {$3\}, }" "$(pod "$1")"
}
# cronjob ANNOTATIONS [TEMPLATE-ANNOTATIONS [MORE-METADATA]]
cronjob() {
  printf '{apiVersion: batch/v1, kind: CronJob, metadata: {name: %s, namespace: %s%s%s}, spec: {schedule: "@daily", jobTemplate: {%sspec: {template: {spec: %s}}}}}' \
    "${NAME:-x}" "${SPACE:-shop}" "${1:+, annotations: {$1\}}" "${3:+, $3}" "${2:+metadata: {annotations: {$2\}\}, }" "$(pod "$(container main)")"
}
LOCK='cronlatch.dev/lock: "true"'
# allowed DOCUMENT: the API server would create this Job or CronJob (a dry run). Not with kubectl: it needs several times the processor
# time of the API server to start, and there are many documents.
allowed() {
  local resource=jobs namespace=${1#*namespace: }
  [[ $1 != "{apiVersion: batch/v1, kind: CronJob,"* ]] || resource=cronjobs
  curl --silent --show-error --insecure --oauth2-bearer token --header 'Content-Type: application/yaml' --data-binary @- \
    --output "$STAGE/answer.json" --write-out '%{http_code}\n' \
    "https://127.0.0.1:6443/apis/batch/v1/namespaces/${namespace%%[,\}]*}/$resource?dryRun=All&fieldValidation=Strict" <<<"$1" | grep -x 201 ||
    { jq -r .message "$STAGE/answer.json" && return 1; }
}
denied() {
  local text=$1 seen
  if seen=$(allowed "$2" 2>&1); then echo "created: $2" && return 1; fi
  [[ $seen == *"$text"* ]] || { printf 'denied, but without "%s":\n%s\n' "$text" "$seen" && return 1; }
}
allows() { check "$1" allowed "$2"; }
denies() { check "$1" denied "$2" "$3"; }
# A new policy is in force after a delay. The test waits for its effect.
is_denied() { ! allowed "$1" >/dev/null 2>&1; }

# ---- a CronJob that is annotated before the installation and is being deleted afterwards ----
NAME=leaving cronjob "$LOCK" "" "finalizers: [example.org/wait]" | k create -f - >/dev/null

render "${BASE[@]}" --no-hooks --set copier.source=mine,copier.namespaces='{reports}'
check "all rendered objects are accepted" k apply --server-side -f "$STAGE/objects.yaml"
for values in $(values_files); do
  name=$(basename -- "$values" -values.yaml)
  render --values "$values" --no-hooks "${API_VERSIONS[@]}"
  # Kinds of other operators' CRDs do not exist here. Objects of other namespaces are moved to an existing namespace.
  jq '{apiVersion: "v1", kind: "List", items: map(select(.apiVersion | test("monitoring.coreos|cert-manager|grafana.integreatly") | not)
    | if .metadata.namespace then .metadata.namespace = "shop" else . end)}' "$STAGE/objects.json" >"$STAGE/list.json"
  check "values $name: all rendered objects are accepted" k apply --dry-run=server -f "$STAGE/list.json"
done

# ---- no operator answers the webhooks ----
check "the policies are in force" wait_until 60 is_denied "$(cronjob "$LOCK")"
check "the webhooks are in force" wait_until 60 is_denied "$(job "$(container main)" "$LOCK")"
denies "an annotated Job is refused, and the webhook's name states the reason" "annotated-jobs-need-the-operator.cronlatch.dev" "$(job "$(container main)" "$LOCK")"
denies "a Job with an annotated pod template is refused" "annotated-jobs-need-the-operator" "$(job "$(container main)" "" "annotations: {$LOCK}")"
allows "a Job without annotations runs" "$(job "$(container main)")"
allows "a Job with other annotations runs" "$(job "$(container main)" "a: b" "annotations: {c: d}")"
allows "a Job with lock=false runs" "$(job "$(container main)" 'cronlatch.dev/lock: "false"')"
allows "a CronJob without annotations is created" "$(cronjob "")"
allows "a CronJob with other annotations is created" "$(cronjob "a: b" "c: d")"

# ---- without the webhooks: only the policies ----
k delete mutatingwebhookconfiguration cronlatch >/dev/null
webhooks_are_deleted() { allowed "$(job "$(container main "$GATED")" "$LOCK")" >/dev/null 2>&1; }
check "a gated Job is admitted" wait_until 60 webhooks_are_deleted
J="requests a lock"
denies "an ungated Job is refused" "$J" "$(job "$(container main)" "$LOCK")"
denies "the message contains the container" 'container "main" is not gated' "$(job "$(container main)" "$LOCK")"
denies "an ungated Job with an annotated pod template is refused" "$J" "$(job "$(container main)" "" "annotations: {$LOCK}")"
denies "an ungated Job with a named lock is refused" "$J" "$(job "$(container main)" 'cronlatch.dev/lock: nightly')"
denies "labels and annotations do not prove a gate" "$J" "$(job "$(container main)" "$LOCK" 'labels: {cronlatch.dev/gated: "true"}, annotations: {cronlatch.dev/injected: "1"}')"
denies "the wrapper without --isolated is not a gate" "$J" "$(job "$(container main '[/cronlatch-bin/cronlatch, run, --, /work]')" "$LOCK")"
denies "another command of the wrapper is not a gate" "$J" "$(job "$(container main '[/cronlatch-bin/cronlatch, explain, --isolated, --]')" "$LOCK")"
denies "the wrapper as an argument of a shell is not a gate" "$J" "$(job "$(container main '[sh, -c, /cronlatch-bin/cronlatch, run, --isolated]')" "$LOCK")"
denies "the wrapper in args without a command is not a gate" "$J" "$(job "{name: main, image: i, args: $GATED}" "$LOCK")"
# ---- another webhook put its program before the gate, or moved the gate to args ----
wrapped() { printf '{name: main, image: i, command: [%s], args: [%s]}' "$1" "$2"; }
MOVED=${GATED#[}
MOVED=${MOVED%]}
allows "a program before the gate in the command: gated" "$(job "$(container main "[/vault/vault-env, $MOVED]")" "$LOCK")"
allows "a program as command, with the gate in args: gated" "$(job "$(wrapped /vault/vault-env "$MOVED")" "$LOCK")"
allows "a program with options before the gate: gated" "$(job "$(wrapped tini "-g, --, $MOVED")" "$LOCK")"
allows "a program with a subcommand before the gate: gated" "$(job "$(wrapped /berglas, "exec, --, $MOVED")" "$LOCK")"
denies "a shell's -c before the gate: not gated" "$J" "$(job "$(wrapped "sh, -c" "$MOVED")" "$LOCK")"
denies "a script with the gate as its arguments: not gated" "$J" "$(job "$(container main "[sh, -ec, /work, $MOVED]")" "$LOCK")"
denies "the gate within one argument: not gated" "$J" "$(job "$(wrapped /work "'$(tr -d , <<<"$MOVED")'")" "$LOCK")"
denies "the gate's path with options in another order: not gated" "$J" "$(job "$(wrapped /work "/cronlatch-bin/cronlatch, --isolated, run, --, x")" "$LOCK")"
denies "a gate without --: not gated" "$J" "$(job "$(wrapped /vault/vault-env "/cronlatch-bin/cronlatch, run, --isolated, --lock=a, /work")" "$LOCK")"
denies "a -- before the gate only: not gated" "$J" "$(job "$(wrapped "/work, --" "/cronlatch-bin/cronlatch, run, --isolated, --lock=a")" "$LOCK")"

TWO="$(container main "$GATED"), $(container side)"
allows "two containers, and the selected container is gated" "$(job "$TWO" "$LOCK, cronlatch.dev/container: main")"
denies "two containers, and another container is gated" 'container "side" is not gated' "$(job "$TWO" "$LOCK, cronlatch.dev/container: side")"
denies "two containers, and none is selected" "none of its containers is selected" "$(job "$TWO" "$LOCK")"
allows "two containers, and kubectl's default container is gated" "$(job "$TWO" "$LOCK" "annotations: {kubectl.kubernetes.io/default-container: main}")"
allows "kubectl's default container does not exist, and there is one container" "$(job "$(container main "$GATED")" "$LOCK" "annotations: {kubectl.kubernetes.io/default-container: gone}")"
allows "the pod template's annotation selects the container" "$(job "$TWO" "" "annotations: {$LOCK, cronlatch.dev/container: main}")"
denies "the selected container does not exist" "$J" "$(job "$TWO" "$LOCK, cronlatch.dev/container: gone")"
allows "a Job with lock=false is admitted" "$(job "$(container main)" 'cronlatch.dev/lock: "false"')"
allows "a Job without annotations is admitted" "$(job "$(container main)")"

denies "a CronJob without the annotation in its Job template is refused, and the message contains the key" "cronlatch.dev/lock of this CronJob: missing or different in" "$(cronjob "$LOCK")"
denies "a CronJob with only some annotations in its Job template is refused" "cronlatch.dev/ttl of this CronJob" "$(cronjob "$LOCK, cronlatch.dev/ttl: 5m" "$LOCK")"
denies "a CronJob with another value in its Job template is refused" "cronlatch.dev/lock of this CronJob" "$(cronjob "$LOCK" "cronlatch.dev/lock: other")"
allows "a CronJob with all annotations in its Job template is created" "$(cronjob "$LOCK, cronlatch.dev/ttl: 5m, a: b" "$LOCK, cronlatch.dev/ttl: 5m, cronlatch.dev/mirrored: 'lock,ttl'")"
allows "a CronJob with annotations only in its Job template is created" "$(cronjob "" "$LOCK")"
allows "a CronJob with lock=false is created" "$(cronjob 'cronlatch.dev/lock: "false"')"
k -n shop delete cronjob leaving --wait=false >/dev/null
check "a CronJob that is being deleted can be deleted" k -n shop patch cronjob leaving --type=merge -p '{"metadata":{"finalizers":null}}'

# ---- `select`: CronJobs without annotations, and no operator that adds them ----
NAME=etcd-old cronjob "" | k create -f - >/dev/null
NAME=etcd-leaving cronjob "" "" "finalizers: [example.org/wait]" | k create -f - >/dev/null
k -n shop delete cronjob etcd-leaving --wait=false >/dev/null
SKIP='["sh", "-c", "echo it'"'"'s \"x\" & <y> \\ # {z}"]'
cat >"$STAGE/select.yaml" <<YAML
select:
- {namespace: shop, name: "etcd-*", annotations: {lock: etcd, ttl: 1m}}
- {namespace: shop, name: "db.?", annotations: {lock: true, skip-command: '${SKIP//\'/\'\'}'}}
- {namespace: shop, name: "free-*", annotations: {lock: "false"}}
- {namespace: shop, name: "by-label-*", labels: {app: backup, tier: a}, annotations: {lock: labeled}}
- {namespace: reports, annotations: {lock: "true"}}
- {namespace: cronlatch, name: own, annotations: {lock: "true"}}
YAML
# with_rules FILE: applies the policies that are rendered with these values.
with_rules() {
  render "${BASE[@]}" --no-hooks --values "$1" --show-only templates/webhook/policies.yaml
  k apply --server-side --force-conflicts -f "$STAGE/objects.yaml"
}
check "the rules of select are accepted" with_rules "$STAGE/select.yaml"
selected() { NAME=$1 cronjob "${@:2}"; }
check "the rules are in force" wait_until 60 is_denied "$(selected etcd-main "")"
S="the chart value select gates this CronJob"
ETCD='cronlatch.dev/lock: etcd, cronlatch.dev/ttl: 1m'
denies "a CronJob that a rule selects by namespace and name is refused without the rule's annotations" "$S" "$(selected etcd-main "")"
denies "the message contains the missing annotations" "lacks cronlatch.dev/lock=etcd, cronlatch.dev/ttl=1m" "$(selected etcd-main "")"
denies "a CronJob with only some of them is refused" "lacks cronlatch.dev/ttl=1m" "$(selected etcd-main "" "cronlatch.dev/lock: etcd")"
denies "a CronJob with another value is refused" "lacks cronlatch.dev/ttl=1m" "$(selected etcd-main "" "cronlatch.dev/lock: etcd, cronlatch.dev/ttl: 2m")"
denies "a CronJob with lock=false is refused, as the webhook refuses it" "lacks cronlatch.dev/lock=etcd" "$(selected etcd-main 'cronlatch.dev/lock: "false"' 'cronlatch.dev/lock: "false"')"
denies "a CronJob whose own option is missing in its Job template is refused" "cronlatch.dev/on-busy of this CronJob: missing or different in" "$(selected etcd-main "cronlatch.dev/on-busy: wait" "$ETCD")"
allows "a CronJob with all of them is created" "$(selected etcd-main "" "$ETCD, cronlatch.dev/mirrored: 'lock,ttl'")"
allows "a CronJob with all of them and its own option is created" "$(selected etcd-main "cronlatch.dev/on-busy: wait" "$ETCD, cronlatch.dev/on-busy: wait")"
for name in etcd my-etcd-1 db.12 dbx1 free-1 by-label-1; do allows "the name $name is not selected" "$(selected "$name" "")"; done
for name in etcd- etcd-a.b db.1; do denies "the name $name is selected" "$S" "$(selected "$name" "" | sed 's/name: etcd-,/name: etcd-0,/')"; done
allows "a value with quotes, backslashes and braces is compared literally" \
  "$(selected db.1 "" "cronlatch.dev/lock: 'true', cronlatch.dev/skip-command: '${SKIP//\'/\'\'}'")"
denies "a rule without a name selects all CronJobs of the namespace" "$S" "$(SPACE=reports cronjob "")"
denies "a rule can select the operator's namespace" "$S" "$(SPACE=cronlatch selected own "")"
allows "other names in that namespace are not selected" "$(SPACE=cronlatch selected other "")"
BOTH="labels: {app: backup, tier: a, more: b}"
denies "a CronJob that a rule selects by labels is refused without the rule's annotations" "lacks cronlatch.dev/lock=labeled" "$(selected by-label-1 "" "" "$BOTH")"
allows "with the rule's annotations it is created" "$(selected by-label-1 "" "cronlatch.dev/lock: labeled" "$BOTH")"
allows "with only one of the labels it is not selected" "$(selected by-label-1 "" "" "labels: {app: backup, tier: b}")"
allows "with another name it is not selected" "$(selected other "" "" "$BOTH")"
changes() { k -n shop patch cronjob etcd-old --type=merge "$@"; }
unchanged() {
  local seen
  seen=$(changes -p '{"spec":{"schedule":"@hourly"}}' 2>&1) && echo "was changed" && return 1
  [[ $seen == *"$S"* ]] || { printf '%s\n' "$seen" && return 1; }
}
check "an existing CronJob cannot be changed without the rule's annotations" unchanged
check "its status can be changed" changes --subresource=status -p '{"status":{"lastScheduleTime":"2026-11-21T02:00:00Z"}}'
check "the leader's patch is accepted, because it adds the annotations" changes \
  -p '{"spec":{"jobTemplate":{"metadata":{"annotations":{"cronlatch.dev/lock":"etcd","cronlatch.dev/ttl":"1m","cronlatch.dev/mirrored":"lock,ttl"}}}}}'
check "then it can be changed" changes -p '{"spec":{"schedule":"@hourly"}}'
check "a selected CronJob that is being deleted can be deleted" k -n shop patch cronjob etcd-leaving --type=merge -p '{"metadata":{"finalizers":null}}'

owned() { OWNER=$1 job "${@:2}"; }
MAIN=$(container main)
T="the chart value select gates the Jobs of CronJob etcd-main, but container \"main\" is not gated"
denies "an ungated Job whose CronJob is selected by name is refused" "$T" "$(owned etcd-main "$MAIN")"
denies "other annotations have no effect" "$T" "$(owned etcd-main "$MAIN" "a: b" "annotations: {c: d}")"
denies "labels do not prove a gate" "$T" "$(owned etcd-main "$MAIN" "" 'labels: {cronlatch.dev/gated: "true"}')"
allows "a gated Job is created" "$(owned etcd-main "$(container main "$GATED")")"
allows "a gated and annotated Job is created" "$(owned etcd-main "$(container main "$GATED")" "$LOCK")"
denies "an annotated and ungated Job is refused like any other" "$J" "$(owned etcd-main "$MAIN" "$LOCK")"
allows "a Job with lock=false runs like any other" "$(owned etcd-main "$MAIN" 'cronlatch.dev/lock: "false"')"
allows "a Job with lock=false in its pod template runs" "$(owned etcd-main "$MAIN" "" 'annotations: {cronlatch.dev/lock: "false"}')"
denies "several containers, none selected: refused" "none of its containers is selected" "$(owned etcd-main "$TWO")"
for name in etcd db.12 free-1 by-label-1; do allows "a Job of CronJob $name runs" "$(owned "$name" "$MAIN")"; done
allows "a Job without an owner runs" "$(job "$MAIN")"
allows "an owner of another kind is ignored" "$(OWNED_AS="apiVersion: batch/v1, kind: Job" owned etcd-main "$MAIN")"
allows "an owner of another API group is ignored" "$(OWNED_AS="apiVersion: example.org/v1, kind: CronJob" owned etcd-main "$MAIN")"
denies "a Job of any CronJob in a fully selected namespace is refused" "gates the Jobs of CronJob any" "$(SPACE=reports owned any "$MAIN")"
allows "a Job of an unselected CronJob runs" "$(SPACE=cronlatch owned any "$MAIN")"

# The API server limits the cost and the length of an expression.
many() {
  echo "select:"
  for i in $(seq 500); do echo "- {namespace: shop, name: '*-with-a-name-of-some-length-$i-*', annotations: {lock: 'l$i', ttl: 1m}}"; done
}
many >"$STAGE/many.yaml"
check "five hundred rules for one namespace are accepted" with_rules "$STAGE/many.yaml"
LAST=a-with-a-name-of-some-length-500-b
check "the rules are in force" wait_until 60 is_denied "$(selected $LAST "")"
check "those of the Jobs, too" wait_until 60 is_denied "$(owned $LAST "$MAIN")"  # another policy
denies "the last rule refuses a CronJob" "lacks cronlatch.dev/lock=l500, cronlatch.dev/ttl=1m" "$(selected $LAST "")"
denies "the last rule refuses its Jobs" "gates the Jobs of CronJob $LAST" "$(owned $LAST "$MAIN")"
allows "no rule refuses another CronJob" "$(selected other "")"
allows "no rule refuses its Jobs, with a long command" "$(owned other "$(container main "[sh, -c, $(printf 'x%.0s' {1..20000})]")")"
allows "a gated Job with many arguments is admitted" "$(owned $LAST "$(container main "[${MOVED}$(printf ', --option-%d' {1..1000})]")")"

# ---- without the policies the CronJob webhook fails closed: an error in its condition would refuse every CronJob ----
NAME=plain cronjob "" | k create -f - >/dev/null
NAME=was cronjob "$LOCK" "$LOCK" | k create -f - >/dev/null
render "${BASE[@]}" --no-hooks --set policies.enabled=false --show-only templates/webhook/mutating.yaml
k apply --server-side --force-conflicts -f "$STAGE/objects.yaml" >/dev/null
HOOK="failed calling webhook \"cronjobs.cronlatch.dev\""
check "the CronJob webhook is in force" wait_until 60 is_denied "$(cronjob "" "$LOCK")"
denies "an annotated CronJob requires the webhook" "$HOOK" "$(cronjob "" "$LOCK")"
denies "a CronJob with an annotated pod template requires the webhook" "$HOOK" "$(cronjob "" "" "" | sed "s|template: {spec|template: {metadata: {annotations: {$LOCK}}, spec|")"
allows "a CronJob without annotations does not require it" "$(cronjob "")"
allows "a CronJob with other annotations does not require it" "$(cronjob "a: b" "c: d")"
check "a change of a CronJob without annotations does not require it" k -n shop label cronjob plain seen=yes
loses_annotations() {
  local seen
  seen=$(k -n shop annotate cronjob was cronlatch.dev/lock- 2>&1)
  [[ $seen == *"$HOOK"* ]] || { printf '%s\n' "$seen" && return 1; }
}
check "the removal of annotations requires it, because the copies must be removed" loses_annotations

# ---- the operator's rights ----
forbidden() {
  local seen
  if seen=$(as_operator "$@" 2>&1); then echo "was allowed: $*" && return 1; fi
  [[ $seen == *orbidden* ]] || { printf '%s\n' "$seen" && return 1; }
}
for secret in shop/any cronlatch/other reports/other; do k -n "${secret%/*}" create secret generic "${secret#*/}" >/dev/null; done
k -n cronlatch create secret generic mine --from-literal=password=x >/dev/null
check "the operator reads its own Secret" as_operator -n cronlatch get secret cronlatch-webhook-tls
check "it reads the Secret that it copies" as_operator -n cronlatch get secret mine
check "it reads no other Secret of its namespace" forbidden -n cronlatch get secret other
check "it reads no Secret of another namespace" forbidden -n shop get secret any
check "it lists no Secrets" forbidden -n cronlatch get secrets
copy() {
  printf '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "%s", "namespace": "%s"}, "data": {"password": "eA=="}}' "$2" "$1" |
    as_operator apply --server-side --field-manager=cronlatch -f - 2>&1
}
check "it creates the copy in a target namespace" copy reports cronlatch-store
check "it changes the copy" copy reports cronlatch-store
refuses "it creates no other Secret there" copy reports another
refuses "it creates no copy in another namespace" copy shop cronlatch-store
check "it reads its Lease" as_operator -n cronlatch get lease cronlatch-operator
check "it patches CronJobs" as_operator auth can-i patch cronjobs.batch -A
# Its policy: of a CronJob, annotations of cronlatch.dev in the Job template.
k create -f - <<<"$(NAME=patched cronjob "a: b")" >/dev/null
k delete mutatingwebhookconfiguration cronlatch >/dev/null  # no operator answers it
# kubectl reads an object before it patches it, and the operator does not: it has no right to.
k create clusterrole test-reads --verb=get --resource=cronjobs.batch >/dev/null
k create clusterrolebinding test-reads --clusterrole=test-reads --serviceaccount=cronlatch:cronlatch-operator >/dev/null
patched() { as_operator -n shop patch cronjob patched --type=merge -p "$1"; }
refused_patch() {
  local seen
  if seen=$(patched "$1" 2>&1); then echo "was allowed: $1" && return 1; fi
  [[ $seen == *"the operator may change"* ]] || { printf '%s\n' "$seen" && return 1; }
}
TEMPLATE='{"spec":{"jobTemplate":{"metadata":{"annotations":%s}}}}'
# shellcheck disable=SC2059 # the format is the variable
template() { printf "$TEMPLATE" "$1"; }
check "it adds an annotation of cronlatch.dev to the Job template" wait_until 60 patched "$(template '{"cronlatch.dev/lock":"false","cronlatch.dev/ttl":"5m"}')"
check "it changes and removes one" patched "$(template '{"cronlatch.dev/lock":null,"cronlatch.dev/ttl":"6m"}')"
check "the policy for the operator is in force" wait_until 60 refused_patch '{"spec":{"schedule":"@hourly"}}'
for body in '{"spec":{"suspend":true}}' '{"spec":{"timeZone":"UTC"}}' '{"spec":{"concurrencyPolicy":"Forbid"}}' '{"spec":{"startingDeadlineSeconds":5}}' \
  '{"spec":{"successfulJobsHistoryLimit":9}}' '{"spec":{"failedJobsHistoryLimit":9}}' '{"metadata":{"annotations":{"cronlatch.dev/ttl":"5m"}}}' \
  '{"metadata":{"labels":{"x":"y"}}}' '{"metadata":{"finalizers":["example.org/x"]}}' '{"spec":{"jobTemplate":{"metadata":{"labels":{"x":"y"}}}}}' \
  '{"spec":{"jobTemplate":{"spec":{"backoffLimit":9}}}}' "$(template '{"other.dev/x":"y"}')" \
  '{"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"annotations":{"cronlatch.dev/ttl":"5m"}}}}}}}'; do
  check "the operator may not patch $body" refused_patch "$body"
done
check "a user may" k -n shop patch cronjob patched --type=merge -p "$(template '{"other.dev/x":"y"}')"
check "the operator may not remove what a user added" refused_patch "$(template '{"other.dev/x":null}')"
check "a user may change the CronJob as before" k -n shop patch cronjob patched --type=merge -p '{"spec":{"suspend":true}}'
check "it deletes no CronJob" forbidden -n shop delete cronjob any
check "it creates no Jobs" forbidden -n shop create job y --image=i
check "it writes Events" as_operator auth can-i create events.events.k8s.io -n shop
check "it changes no other webhook" forbidden patch mutatingwebhookconfiguration other --type=merge -p '{}'
check "it changes no policy" forbidden delete validatingadmissionpolicy cronlatch-gated-jobs
finish
