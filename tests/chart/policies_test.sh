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
# job CONTAINERS [ANNOTATIONS [POD-METADATA]]
job() {
  printf '{apiVersion: batch/v1, kind: Job, metadata: {generateName: x-, namespace: shop%s}, spec: {template: {%sspec: %s}}}' \
    "${2:+, annotations: {$2\}}" "${3:+metadata: {$3\}, }" "$(pod "$1")"
}
# cronjob ANNOTATIONS [TEMPLATE-ANNOTATIONS [MORE-METADATA]]
cronjob() {
  printf '{apiVersion: batch/v1, kind: CronJob, metadata: {name: %s, namespace: shop%s%s}, spec: {schedule: "@daily", jobTemplate: {%sspec: {template: {spec: %s}}}}}' \
    "${NAME:-x}" "${1:+, annotations: {$1\}}" "${3:+, $3}" "${2:+metadata: {annotations: {$2\}\}, }" "$(pod "$(container main)")"
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
J="asks for a lock"
denies "a Job that nobody gated is refused" "$J" "$(job "$(container main)" "$LOCK")"
denies "and the container is named" 'container "main" is not gated' "$(job "$(container main)" "$LOCK")"
denies "by its pod template's annotation too" "$J" "$(job "$(container main)" "" "annotations: {$LOCK}")"
denies "by a lock's name too" "$J" "$(job "$(container main)" 'cronlatch.dev/lock: nightly')"
denies "marks do not make it gated" "$J" "$(job "$(container main)" "$LOCK" 'labels: {cronlatch.dev/gated: "true"}, annotations: {cronlatch.dev/injected: "1"}')"
denies "nor does a wrapper that takes other options" "$J" "$(job "$(container main '[/cronlatch-bin/cronlatch, run, --, /work]')" "$LOCK")"
denies "nor another of its commands" "$J" "$(job "$(container main '[/cronlatch-bin/cronlatch, explain, --isolated, --]')" "$LOCK")"
denies "nor one that is only mentioned" "$J" "$(job "$(container main '[sh, -c, /cronlatch-bin/cronlatch, run, --isolated]')" "$LOCK")"
denies "nor one in args" "$J" "$(job "{name: main, image: i, args: $GATED}" "$LOCK")"
TWO="$(container main "$GATED"), $(container side)"
allows "of two containers the chosen one is gated" "$(job "$TWO" "$LOCK, cronlatch.dev/container: main")"
denies "of two containers another one is gated" 'container "side" is not gated' "$(job "$TWO" "$LOCK, cronlatch.dev/container: side")"
denies "of two containers none is chosen" "none of its containers is chosen" "$(job "$TWO" "$LOCK")"
allows "of two containers kubectl's default is gated" "$(job "$TWO" "$LOCK" "annotations: {kubectl.kubernetes.io/default-container: main}")"
allows "kubectl's default is no container, and there is but one" "$(job "$(container main "$GATED")" "$LOCK" "annotations: {kubectl.kubernetes.io/default-container: gone}")"
allows "the pod template's choice counts" "$(job "$TWO" "" "annotations: {$LOCK, cronlatch.dev/container: main}")"
denies "a container that is not there is none" "$J" "$(job "$TWO" "$LOCK, cronlatch.dev/container: gone")"
allows "false is false" "$(job "$(container main)" 'cronlatch.dev/lock: "false"')"
allows "no annotations at all are no error" "$(job "$(container main)")"

denies "a CronJob that is not mirrored is refused, and the key is named" "cronlatch.dev/lock of this CronJob: not repeated" "$(cronjob "$LOCK")"
denies "so is one that is mirrored in part" "cronlatch.dev/ttl of this CronJob" "$(cronjob "$LOCK, cronlatch.dev/ttl: 5m" "$LOCK")"
denies "so is one that is mirrored wrongly" "cronlatch.dev/lock of this CronJob" "$(cronjob "$LOCK" "cronlatch.dev/lock: other")"
allows "a mirrored CronJob is created" "$(cronjob "$LOCK, cronlatch.dev/ttl: 5m, a: b" "$LOCK, cronlatch.dev/ttl: 5m, cronlatch.dev/mirrored: 'lock,ttl'")"
allows "one that is annotated at its Job template is created" "$(cronjob "" "$LOCK")"
allows "one that says false is created" "$(cronjob 'cronlatch.dev/lock: "false"')"
k -n shop delete cronjob leaving --wait=false >/dev/null
check "one that is on its way out can go" k -n shop patch cronjob leaving --type=merge -p '{"metadata":{"finalizers":null}}'

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
