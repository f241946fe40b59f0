#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The policies, the hooks' conditions and the rights, judged by a real API server that has nobody behind its hooks: a table of
# Jobs and CronJobs, and what becomes of each. It runs in a network of its own and is gone with this script.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

TOOLS=$ROOT/build/cluster/tools
if [ ! -x "$TOOLS/kube-apiserver" ] || [ ! -x "$TOOLS/kubectl" ]; then
  skip "everything" "no API server here (./dev cluster builds it)"
  exit 0
fi
if ! command -v etcd >/dev/null || ! unshare --net --pid --fork true 2>/dev/null; then
  skip "everything" "needs etcd, and the right to make a network namespace"
  exit 0
fi
if [ "${1:-}" != inside ]; then
  rm -rf -- "$STAGE"
  # The first process of a process namespace takes all others with it.
  exec unshare --net --pid --fork --kill-child --mount-proc bash "$0" inside
fi

start_api_server() {
  ip link set lo up
  openssl genrsa -out "$STAGE/sa.key" 2048 2>/dev/null
  openssl rsa -in "$STAGE/sa.key" -pubout -out "$STAGE/sa.pub" 2>/dev/null
  echo 'token,admin,1,"system:masters"' >"$STAGE/tokens.csv"
  etcd --data-dir "$STAGE/etcd" --unsafe-no-fsync >"$STAGE/etcd.log" 2>&1 &
  "$TOOLS/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --bind-address=127.0.0.1 --advertise-address=198.18.0.1 \
    --endpoint-reconciler-type=none --cert-dir="$STAGE/certs" --token-auth-file="$STAGE/tokens.csv" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$STAGE/sa.pub" \
    --service-account-signing-key-file="$STAGE/sa.key" --authorization-mode=RBAC --service-cluster-ip-range=198.18.8.0/24 \
    --disable-admission-plugins=ServiceAccount >"$STAGE/api.log" 2>&1 &
  wait_until 120 k get --raw /readyz >/dev/null 2>&1 || { tail -n 5 "$STAGE/api.log" "$STAGE/etcd.log" && return 1; }
}
k() { "$TOOLS/kubectl" --server https://127.0.0.1:6443 --insecure-skip-tls-verify --token token "$@"; }
as_operator() { k --as=system:serviceaccount:cronlatch:cronlatch-operator --as-group=system:serviceaccounts --as-group=system:authenticated "$@"; }

check "an API server starts" start_api_server
[ $FAILED -eq 0 ] || finish
for namespace in cronlatch shop reports; do k create namespace "$namespace" >/dev/null; done

# ---- documents ----
pod() { printf '{restartPolicy: Never, containers: [%s]}' "$1"; }
GATED='[/cronlatch-bin/cronlatch, run, --isolated, --lock=a, --, /work]'
container() { printf '{name: %s, image: i, command: %s}' "$1" "${2:-[/work]}"; }
# job CONTAINERS [ANNOTATIONS [POD-METADATA]]; OWNER names its CronJob, OWNED_AS says otherwise what that is.
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
allowed() { k create --dry-run=server -f - <<<"$1"; }
denied() {
  local text=$1 seen
  if seen=$(allowed "$2" 2>&1); then echo "created: $2" && return 1; fi
  [[ $seen == *"$text"* ]] || { printf 'denied, but without "%s":\n%s\n' "$text" "$seen" && return 1; }
}
allows() { check "$1" allowed "$2"; }
denies() { check "$1" denied "$2" "$3"; }
# A new policy takes a moment: the condition is what it does, not how long that takes.
is_denied() { ! allowed "$1" >/dev/null 2>&1; }

# ---- annotated before anything is installed, and on its way out when it is ----
NAME=leaving cronjob "$LOCK" "" "finalizers: [example.org/wait]" | k create -f - >/dev/null

render "${BASE[@]}" --no-hooks --set copier.source=mine,copier.namespaces='{reports}'
check "everything that is rendered is accepted" k apply --server-side -f "$STAGE/objects.yaml"
for values in $(values_files); do
  name=$(basename -- "$values" -values.yaml)
  render --values "$values" --no-hooks
  # What other operators' CRDs bring is not known here; what names other namespaces goes to one that is.
  jq '{apiVersion: "v1", kind: "List", items: map(select(.apiVersion | test("monitoring.coreos|cert-manager|grafana.integreatly") | not)
    | if .metadata.namespace then .metadata.namespace = "shop" else . end)}' "$STAGE/objects.json" >"$STAGE/list.json"
  check "values $name: everything that is rendered is accepted" k apply --dry-run=server -f "$STAGE/list.json"
done

# ---- nobody answers the hooks ----
check "the policies take hold" wait_until 60 is_denied "$(cronjob "$LOCK")"
check "the hooks take hold" wait_until 60 is_denied "$(job "$(container main)" "$LOCK")"
denies "an annotated Job is refused, and the hook's name says why" "annotated-jobs-need-the-operator.cronlatch.dev" "$(job "$(container main)" "$LOCK")"
denies "so is one whose pod template is annotated" "annotated-jobs-need-the-operator" "$(job "$(container main)" "" "annotations: {$LOCK}")"
allows "a Job without annotations runs" "$(job "$(container main)")"
allows "a Job with other annotations runs" "$(job "$(container main)" "a: b" "annotations: {c: d}")"
allows "a Job that says false runs" "$(job "$(container main)" 'cronlatch.dev/lock: "false"')"
allows "a CronJob without annotations is created" "$(cronjob "")"
allows "a CronJob with other annotations is created" "$(cronjob "a: b" "c: d")"

# ---- the hooks are gone: the policies alone ----
k delete mutatingwebhookconfiguration cronlatch >/dev/null
hooks_are_gone() { allowed "$(job "$(container main "$GATED")" "$LOCK")" >/dev/null 2>&1; }
check "a gated Job is let in" wait_until 60 hooks_are_gone
J="requests a lock"
denies "a Job that nobody gated is refused" "$J" "$(job "$(container main)" "$LOCK")"
denies "and the container is named" 'container "main" is not gated' "$(job "$(container main)" "$LOCK")"
denies "by its pod template's annotation too" "$J" "$(job "$(container main)" "" "annotations: {$LOCK}")"
denies "by a lock's name too" "$J" "$(job "$(container main)" 'cronlatch.dev/lock: nightly')"
denies "marks do not make it gated" "$J" "$(job "$(container main)" "$LOCK" 'labels: {cronlatch.dev/gated: "true"}, annotations: {cronlatch.dev/injected: "1"}')"
denies "nor does a wrapper that takes other options" "$J" "$(job "$(container main '[/cronlatch-bin/cronlatch, run, --, /work]')" "$LOCK")"
denies "nor another of its commands" "$J" "$(job "$(container main '[/cronlatch-bin/cronlatch, explain, --isolated, --]')" "$LOCK")"
denies "nor one that is only mentioned" "$J" "$(job "$(container main '[sh, -c, /cronlatch-bin/cronlatch, run, --isolated]')" "$LOCK")"
denies "nor one in args without a command" "$J" "$(job "{name: main, image: i, args: $GATED}" "$LOCK")"
# ---- another webhook put its program before the gate, or moved the gate to args ----
wrapped() { printf '{name: main, image: i, command: [%s], args: [%s]}' "$1" "$2"; }
MOVED=${GATED#[}
MOVED=${MOVED%]}
allows "a program before the gate in the command leaves it gated" "$(job "$(container main "[/vault/vault-env, $MOVED]")" "$LOCK")"
allows "so does a program that took the command's place and moved the gate to args" "$(job "$(wrapped /vault/vault-env "$MOVED")" "$LOCK")"
allows "so does one with options of its own" "$(job "$(wrapped tini "-g, --, $MOVED")" "$LOCK")"
allows "and one with a subcommand" "$(job "$(wrapped /berglas, "exec, --, $MOVED")" "$LOCK")"
denies "a shell's -c before it does not" "$J" "$(job "$(wrapped "sh, -c" "$MOVED")" "$LOCK")"
denies "nor does a script with the gate as its arguments" "$J" "$(job "$(container main "[sh, -ec, /work, $MOVED]")" "$LOCK")"
denies "a text that mentions the gate is none" "$J" "$(job "$(wrapped /work "'$(tr -d , <<<"$MOVED")'")" "$LOCK")"
denies "nor is the gate's path alone" "$J" "$(job "$(wrapped /work "/cronlatch-bin/cronlatch, --isolated, run, --, x")" "$LOCK")"
denies "nor is one without the end of its options" "$J" "$(job "$(wrapped /vault/vault-env "/cronlatch-bin/cronlatch, run, --isolated, --lock=a, /work")" "$LOCK")"
denies "nor is one whose options ended before it" "$J" "$(job "$(wrapped "/work, --" "/cronlatch-bin/cronlatch, run, --isolated, --lock=a")" "$LOCK")"

TWO="$(container main "$GATED"), $(container side)"
allows "of two containers the chosen one is gated" "$(job "$TWO" "$LOCK, cronlatch.dev/container: main")"
denies "of two containers another one is gated" 'container "side" is not gated' "$(job "$TWO" "$LOCK, cronlatch.dev/container: side")"
denies "of two containers none is chosen" "none of its containers is selected" "$(job "$TWO" "$LOCK")"
allows "of two containers kubectl's default is gated" "$(job "$TWO" "$LOCK" "annotations: {kubectl.kubernetes.io/default-container: main}")"
allows "kubectl's default is no container, and there is but one" "$(job "$(container main "$GATED")" "$LOCK" "annotations: {kubectl.kubernetes.io/default-container: gone}")"
allows "the pod template's choice counts" "$(job "$TWO" "" "annotations: {$LOCK, cronlatch.dev/container: main}")"
denies "a container that is not there is none" "$J" "$(job "$TWO" "$LOCK, cronlatch.dev/container: gone")"
allows "false is false" "$(job "$(container main)" 'cronlatch.dev/lock: "false"')"
allows "no annotations at all are no error" "$(job "$(container main)")"

denies "a CronJob that is not mirrored is refused, and the key is named" "cronlatch.dev/lock of this CronJob: missing in" "$(cronjob "$LOCK")"
denies "so is one that is mirrored in part" "cronlatch.dev/ttl of this CronJob" "$(cronjob "$LOCK, cronlatch.dev/ttl: 5m" "$LOCK")"
denies "so is one that is mirrored wrongly" "cronlatch.dev/lock of this CronJob" "$(cronjob "$LOCK" "cronlatch.dev/lock: other")"
allows "a mirrored CronJob is created" "$(cronjob "$LOCK, cronlatch.dev/ttl: 5m, a: b" "$LOCK, cronlatch.dev/ttl: 5m, cronlatch.dev/mirrored: 'lock,ttl'")"
allows "one that is annotated at its Job template is created" "$(cronjob "" "$LOCK")"
allows "one that says false is created" "$(cronjob 'cronlatch.dev/lock: "false"')"
k -n shop delete cronjob leaving --wait=false >/dev/null
check "one that is on its way out can go" k -n shop patch cronjob leaving --type=merge -p '{"metadata":{"finalizers":null}}'

# ---- `select`: what nobody annotated, and nobody mirrors ----
NAME=etcd-old cronjob "" | k create -f - >/dev/null
NAME=etcd-leaving cronjob "" "" "finalizers: [example.org/wait]" | k create -f - >/dev/null
k -n shop delete cronjob etcd-leaving --wait=false >/dev/null
SKIP='["sh", "-c", "echo it'"'"'s \"x\" & <y> \\ # {z}"]'
cat >"$STAGE/select.yaml" <<YAML
select:
- {namespace: shop, name: "etcd-*", annotations: {lock: etcd, ttl: 1m}}
- {namespace: shop, name: "db.?", annotations: {lock: true, skip-command: '${SKIP//\'/\'\'}'}}
- {namespace: shop, name: "free-*", annotations: {lock: "false"}}
- {namespace: shop, name: "by-label-*", labels: {app: backup, tier: a}, annotations: {lock: labelled}}
- {namespace: reports, annotations: {lock: "true"}}
- {namespace: cronlatch, name: own, annotations: {lock: "true"}}
YAML
# with_rules FILE: the policies as these values render them.
with_rules() {
  render "${BASE[@]}" --no-hooks --values "$1" --show-only templates/webhook/policies.yaml
  k apply --server-side --force-conflicts -f "$STAGE/objects.yaml"
}
check "the rules of select are accepted" with_rules "$STAGE/select.yaml"
chosen() { NAME=$1 cronjob "${@:2}"; }
check "they take hold" wait_until 60 is_denied "$(chosen etcd-main "")"
S="the chart value select gates this CronJob"
ETCD='cronlatch.dev/lock: etcd, cronlatch.dev/ttl: 1m'
denies "a CronJob that a rule chooses by namespace and name is refused while nobody repeats the rule's annotations" "$S" "$(chosen etcd-main "")"
denies "and what is missing is named" "lacks cronlatch.dev/lock=etcd, cronlatch.dev/ttl=1m" "$(chosen etcd-main "")"
denies "one that has them in part is refused" "lacks cronlatch.dev/ttl=1m" "$(chosen etcd-main "" "cronlatch.dev/lock: etcd")"
denies "so is one with another value" "lacks cronlatch.dev/ttl=1m" "$(chosen etcd-main "" "cronlatch.dev/lock: etcd, cronlatch.dev/ttl: 2m")"
denies "so is one that says false, as the hook refuses it" "lacks cronlatch.dev/lock=etcd" "$(chosen etcd-main 'cronlatch.dev/lock: "false"' 'cronlatch.dev/lock: "false"')"
denies "so is one whose own option is not repeated" "cronlatch.dev/on-busy of this CronJob: missing in" "$(chosen etcd-main "cronlatch.dev/on-busy: wait" "$ETCD")"
allows "one that has them is created" "$(chosen etcd-main "" "$ETCD, cronlatch.dev/mirrored: 'lock,ttl'")"
allows "with its own option beside them, too" "$(chosen etcd-main "cronlatch.dev/on-busy: wait" "$ETCD, cronlatch.dev/on-busy: wait")"
for name in etcd my-etcd-1 db.12 dbx1 free-1 by-label-1; do allows "the name $name is not chosen" "$(chosen "$name" "")"; done
for name in etcd- etcd-a.b db.1; do denies "the name $name is chosen" "$S" "$(chosen "$name" "" | sed 's/name: etcd-,/name: etcd-0,/')"; done
allows "a value with quotes, backslashes and braces is compared as it stands" \
  "$(chosen db.1 "" "cronlatch.dev/lock: 'true', cronlatch.dev/skip-command: '${SKIP//\'/\'\'}'")"
denies "a rule without a name chooses the whole namespace" "$S" "$(SPACE=reports cronjob "")"
denies "the operator's own namespace is no exception" "$S" "$(SPACE=cronlatch chosen own "")"
allows "other names there are not chosen" "$(SPACE=cronlatch chosen other "")"
BOTH="labels: {app: backup, tier: a, more: b}"
denies "a CronJob that a rule chooses by labels is refused until it is annotated" "lacks cronlatch.dev/lock=labelled" "$(chosen by-label-1 "" "" "$BOTH")"
allows "annotated, it is created" "$(chosen by-label-1 "" "cronlatch.dev/lock: labelled" "$BOTH")"
allows "with only one of the labels it is not chosen" "$(chosen by-label-1 "" "" "labels: {app: backup, tier: b}")"
allows "nor with another name" "$(chosen other "" "" "$BOTH")"
changes() { k -n shop patch cronjob etcd-old --type=merge "$@"; }
unchanged() {
  local seen
  seen=$(changes -p '{"spec":{"schedule":"@hourly"}}' 2>&1) && echo "was changed" && return 1
  [[ $seen == *"$S"* ]] || { printf '%s\n' "$seen" && return 1; }
}
check "an existing one is not changed while nobody mirrors it" unchanged
check "its status is" changes --subresource=status -p '{"status":{"lastScheduleTime":"2026-11-21T02:00:00Z"}}'
check "the leader's patch is accepted, for it brings what is missing" changes \
  -p '{"spec":{"jobTemplate":{"metadata":{"annotations":{"cronlatch.dev/lock":"etcd","cronlatch.dev/ttl":"1m","cronlatch.dev/mirrored":"lock,ttl"}}}}}'
check "then it can be changed" changes -p '{"spec":{"schedule":"@hourly"}}'
check "one that is on its way out can go" k -n shop patch cronjob etcd-leaving --type=merge -p '{"metadata":{"finalizers":null}}'

owned() { OWNER=$1 job "${@:2}"; }
MAIN=$(container main)
T="the chart value select gates the Jobs of CronJob etcd-main, but container \"main\" is not gated"
denies "a Job whose CronJob is chosen by name is refused when it is not gated" "$T" "$(owned etcd-main "$MAIN")"
denies "other annotations make no difference" "$T" "$(owned etcd-main "$MAIN" "a: b" "annotations: {c: d}")"
denies "marks do not make it gated" "$T" "$(owned etcd-main "$MAIN" "" 'labels: {cronlatch.dev/gated: "true"}')"
allows "a gated one is created" "$(owned etcd-main "$(container main "$GATED")")"
allows "gated and annotated, too" "$(owned etcd-main "$(container main "$GATED")" "$LOCK")"
denies "annotated and not gated, it is refused as any other" "$J" "$(owned etcd-main "$MAIN" "$LOCK")"
allows "one that says false runs, as any other" "$(owned etcd-main "$MAIN" 'cronlatch.dev/lock: "false"')"
allows "so does one whose pod template says so" "$(owned etcd-main "$MAIN" "" 'annotations: {cronlatch.dev/lock: "false"}')"
denies "several containers, none chosen: refused" "none of its containers is selected" "$(owned etcd-main "$TWO")"
for name in etcd db.12 free-1 by-label-1; do allows "a Job of CronJob $name runs" "$(owned "$name" "$MAIN")"; done
allows "a Job without an owner runs" "$(job "$MAIN")"
allows "an owner of another kind is none" "$(OWNED_AS="apiVersion: batch/v1, kind: Job" owned etcd-main "$MAIN")"
allows "nor is one of another group" "$(OWNED_AS="apiVersion: example.org/v1, kind: CronJob" owned etcd-main "$MAIN")"
denies "every CronJob of a namespace that is chosen as a whole" "gates the Jobs of CronJob any" "$(SPACE=reports owned any "$MAIN")"
allows "no CronJob of a namespace that is not" "$(SPACE=cronlatch owned any "$MAIN")"

# The API server bounds what an expression may cost, and how long it may be.
many() {
  echo "select:"
  for i in $(seq 500); do echo "- {namespace: shop, name: '*-with-a-name-of-some-length-$i-*', annotations: {lock: 'l$i', ttl: 1m}}"; done
}
many >"$STAGE/many.yaml"
check "five hundred rules for one namespace are accepted" with_rules "$STAGE/many.yaml"
LAST=a-with-a-name-of-some-length-500-b
check "they take hold" wait_until 60 is_denied "$(chosen $LAST "")"
denies "the last of them refuses a CronJob" "lacks cronlatch.dev/lock=l500, cronlatch.dev/ttl=1m" "$(chosen $LAST "")"
denies "and its Jobs" "gates the Jobs of CronJob $LAST" "$(owned $LAST "$MAIN")"
allows "none of them refuses another CronJob" "$(chosen other "")"
allows "or its Jobs, whatever they run" "$(owned other "$(container main "[sh, -c, $(printf 'x%.0s' {1..20000})]")")"
allows "a gated one with many arguments is let in" "$(owned $LAST "$(container main "[${MOVED}$(printf ', --option-%d' {1..1000})]")")"

# ---- without the policies the CronJob hook fails closed too: an error in its condition would stop every CronJob ----
NAME=plain cronjob "" | k create -f - >/dev/null
NAME=was cronjob "$LOCK" "$LOCK" | k create -f - >/dev/null
render "${BASE[@]}" --no-hooks --set policies.enabled=false --show-only templates/webhook/mutating.yaml
k apply --server-side --force-conflicts -f "$STAGE/objects.yaml" >/dev/null
HOOK="failed calling webhook \"cronjobs.cronlatch.dev\""
check "the CronJob hook takes hold" wait_until 60 is_denied "$(cronjob "" "$LOCK")"
denies "an annotated CronJob needs the hook" "$HOOK" "$(cronjob "" "$LOCK")"
denies "so does one whose pod template is annotated" "$HOOK" "$(cronjob "" "" "" | sed "s|template: {spec|template: {metadata: {annotations: {$LOCK}}, spec|")"
allows "one without annotations does not" "$(cronjob "")"
allows "nor does one with other annotations" "$(cronjob "a: b" "c: d")"
check "a change of one without annotations does not" k -n shop label cronjob plain seen=yes
loses_annotations() {
  local seen
  seen=$(k -n shop annotate cronjob was cronlatch.dev/lock- 2>&1)
  [[ $seen == *"$HOOK"* ]] || { printf '%s\n' "$seen" && return 1; }
}
check "the removal of annotations does: what was repeated has to go" loses_annotations

# ---- the operator's rights, used as it uses them ----
forbidden() {
  local seen
  if seen=$(as_operator "$@" 2>&1); then echo "was allowed: $*" && return 1; fi
  [[ $seen == *orbidden* ]] || { printf '%s\n' "$seen" && return 1; }
}
for secret in shop/any cronlatch/other reports/other; do k -n "${secret%/*}" create secret generic "${secret#*/}" >/dev/null; done
k -n cronlatch create secret generic mine --from-literal=password=x >/dev/null
check "it reads its own Secret" as_operator -n cronlatch get secret cronlatch-webhook-tls
check "it reads the Secret that it copies" as_operator -n cronlatch get secret mine
check "it reads no other Secret of its namespace" forbidden -n cronlatch get secret other
check "it reads no Secret of another namespace" forbidden -n shop get secret any
check "it lists no Secrets" forbidden -n cronlatch get secrets
copy() {
  printf '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "%s", "namespace": "%s"}, "data": {"password": "eA=="}}' "$2" "$1" |
    as_operator apply --server-side --field-manager=cronlatch -f - 2>&1
}
check "it makes the copy where that was asked for" copy reports cronlatch-store
check "and changes it" copy reports cronlatch-store
refuses "it makes no other Secret there" copy reports another
refuses "it copies nowhere else" copy shop cronlatch-store
check "it has its Lease" as_operator -n cronlatch get lease cronlatch-operator
check "it patches CronJobs" as_operator auth can-i patch cronjobs.batch -A
check "it deletes none" forbidden -n shop delete cronjob any
check "it makes no Jobs" forbidden -n shop create job y --image=i
check "it writes Events" as_operator auth can-i create events.events.k8s.io -n shop
check "it changes no other webhook" forbidden patch mutatingwebhookconfiguration other --type=merge -p '{}'
check "it changes no policy" forbidden delete validatingadmissionpolicy cronlatch-gated-jobs
finish
