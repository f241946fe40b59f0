#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Events on an API server, with the rights of the chart: the operator's two requests (src/kube/events.cc) create an Event,
# and replace its note and count.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/chart/api_server.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/api_server.sh"

start_api_server || { check "the API server starts" false; finish; }
operator() { k --as system:serviceaccount:cronlatch:cronlatch-operator "$@"; }
k create namespace shop >/dev/null
render "${BASE[@]}"
apply_rights() { jq '.[] | select(.kind == "ClusterRole" or .kind == "ClusterRoleBinding")' "$STAGE/objects.json" | k apply -f - >/dev/null; }
check "the rights of the operator are applied" apply_rights

cat >"$STAGE/event.json" <<'JSON'
{"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "nightly.1", "namespace": "shop"},
 "eventTime": "2026-11-26T02:00:00.000001Z", "type": "Normal", "reason": "Skipped", "action": "Run", "note": "pod one: skipped",
 "regarding": {"apiVersion": "batch/v1", "kind": "CronJob", "namespace": "shop", "name": "nightly", "uid": "u"},
 "related": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "one", "uid": "p1"},
 "reportingController": "cronlatch.dev/operator", "reportingInstance": "pod"}
JSON
REPETITION='{"message": "pod three: skipped", "series": {"count": 3, "lastObservedTime": "2026-11-26T02:02:00.000001Z"},
  "related": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "three", "uid": "p3"}}'
create() { operator create -f "$STAGE/event.json" >/dev/null; }
# patch PATH BODY: without the read that kubectl sends before. Prints the status code.
patch() {
  curl --silent --insecure --output "$STAGE/answer" --write-out '%{http_code}' -X PATCH -H 'Authorization: Bearer token' \
    -H 'Impersonate-User: system:serviceaccount:cronlatch:cronlatch-operator' -H 'Content-Type: application/merge-patch+json' \
    --data "$2" "https://127.0.0.1:6443$1"
}
answers() {  # answers STATUS PATH BODY
  local status
  status=$(patch "$2" "$3")
  [ "$status" = "$1" ] || { echo "$status" && cat "$STAGE/answer" && return 1; }
}
is_repeated() {
  k -n shop get events.v1.events.k8s.io nightly.1 -o json |
    jq -e '.note == "pod three: skipped" and .series.count == 3 and .related.name == "three" and .eventTime == "2026-11-26T02:00:00.000001Z"'
}
check "the operator creates an Event" create
check "it replaces the note, the pod and the count" answers 200 /api/v1/namespaces/shop/events/nightly.1 "$REPETITION"
check "events.k8s.io has the same Event" is_repeated
shows_count() { k -n shop get events.v1. -o wide | tee "$STAGE/seen" | grep -E 'nightly.* 3 +nightly\.1' >/dev/null || { cat "$STAGE/seen"; false; }; }
check "kubectl shows the count" shows_count
other_note() { k -n shop patch events.v1.events.k8s.io nightly.1 --type merge -p '{"note": "another"}'; }
refuses "control: events.k8s.io accepts no other note" other_note
check "an Event that expired is not found" answers 404 /api/v1/namespaces/shop/events/nightly.2 "$REPETITION"
check "the operator has no other right to patch Events" answers 403 /apis/events.k8s.io/v1/namespaces/shop/events/nightly.1 '{"series": null}'
finish
