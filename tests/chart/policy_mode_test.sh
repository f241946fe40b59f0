#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# admission.mode policy: the rewrite in CEL, evaluated by an API server, is compared with the operator's rewrite in C++
# (tests/admit_jobs), for the golden cases and the Jobs of policy_mode_cases.jq. Kubernetes 1.36 serves the policy; 1.34
# with a feature gate.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/chart/api_server.sh
source "$ROOT/tests/chart/api_server.sh"
ADMIT=$ROOT/build/dev/tests/admit_jobs
if [ ! -x "$ADMIT" ]; then
  skip "everything" "build/dev/tests/admit_jobs not found (./dev build dev builds it)"
  exit 0
fi

check "an API server starts" start_api_server
[ $FAILED -eq 0 ] || finish
k create namespace demo >/dev/null

# ---- the Jobs: the golden cases, as far as the API server accepts them, and those of policy_mode_cases.jq ----
# yq reads all files in one run: it writes one document per file, in the order of their names.
golden() {
  local folders=("$ROOT"/tests/golden/*/)
  "$YQ" . "${folders[@]/%/in.yaml}" | jq --slurp '[., $ARGS.positional] | transpose[]
    | (.[1] | rtrimstr("/") | sub(".*/"; "golden-")) as $name | .[0]
    | select(.resource == "job" and (.operation // "CREATE") == "CREATE") | .object | .metadata.name = $name | .metadata.namespace = "demo"
    | .spec.template.spec.restartPolicy //= "Never"' --args "${folders[@]}"
}
{ golden | sed 's/"VERSION"/"0.0.0"/' && jq -n -f "$ROOT/tests/chart/policy_mode_cases.jq" | jq '.[]'; } | jq --slurp . >"$STAGE/all.json"
dry_run() { python3 "$ROOT/tests/chart/dry_run.py"; }
# What the API server adds after admission, and what differs in each request.
normalized() {
  jq 'map(select(.object) | .object |= (del(.status, .spec.selector, .spec.suspend, .metadata.uid, .metadata.creationTimestamp, .metadata.managedFields,
      .metadata.generation, .metadata.labels, .spec.template.metadata.creationTimestamp)
    | if .spec.template.metadata.labels then .spec.template.metadata.labels |= with_entries(select(.key | test("controller-uid|job-name") | not)) else . end
    | if .spec.template.metadata.labels == {} then del(.spec.template.metadata.labels) else . end
    | if .metadata.annotations == {} then del(.metadata.annotations) else . end))'
}
dry_run <"$STAGE/all.json" >"$STAGE/answers.json"
normalized <"$STAGE/answers.json" >"$STAGE/before.json"
are_accepted() {
  echo "$(jq length "$STAGE/before.json") of $(jq length "$STAGE/all.json")"
  jq -r '.[] | select(.message) | "\(.name): \(.message)"' "$STAGE/answers.json" | head -n 20
  [ "$(jq length "$STAGE/before.json")" -gt "$(($(jq length "$STAGE/all.json") * 9 / 10))" ]
}
check "the API server accepts the Jobs without a policy" are_accepted

# ---- one set of values ----
# compare NAME [THIRD]: renders the chart with the values on stdin, and compares the results of all Jobs. THIRD (0 to 2): of a third
# of them; with LONG_TESTS=1 of all.
compare() {
  local name=$1 third=${2:-null} folder=$STAGE/$1
  [ -z "${LONG_TESTS:-}" ] || third=null
  mkdir -p "$folder"
  jq --argjson third "$third" 'to_entries | map(select($third == null or .key % 3 == $third).value)' "$STAGE/all.json" >"$folder/jobs.json"
  cat >"$folder/values.yaml"
  render --no-hooks --set admission.mode=policy,clusterName=eu-1,webhook.enabled=false,policies.enabled=false \
    "${API_VERSIONS[@]}" --values "$folder/values.yaml"
  jq -r '.[] | select(.kind == "ConfigMap" and .metadata.name == "cronlatch-operator").data["operator.yaml"]' "$STAGE/objects.json" >"$folder/settings.yaml"
  jq '{apiVersion: "v1", kind: "List", items: map(select(.kind | startswith("MutatingAdmissionPolicy")))}' "$STAGE/objects.json" >"$folder/policy.json"
  # The operator's result, with the defaults of the API server.
  jq 'map(.object)' "$STAGE/before.json" | "$ADMIT" "$folder/settings.yaml" >"$folder/operator.json"
  jq --slurpfile jobs "$folder/jobs.json" 'map(select(.object and IN(.name; $jobs[0][].metadata.name)).object)' "$folder/operator.json" | dry_run | normalized >"$folder/by_operator.json"
  check "$name: the API server accepts the policy" k create -f "$folder/policy.json"
  check "$name: the policy is in force" wait_until 60 is_gated
  dry_run <"$folder/jobs.json" | normalized >"$folder/by_policy.json"
  check "$name: each Job that the policy gates is equal to the operator's, each other Job is unchanged" have_equal_results "$folder"
  k delete -f "$folder/policy.json" >/dev/null
  check "$name: control: without the policy, nothing is gated" wait_until 60 is_not_gated
}
jq 'map(select(.metadata.name == "yes-plain"))' "$STAGE/all.json" >"$STAGE/probe.json"
probe() { dry_run <"$STAGE/probe.json" | jq -e '.[0].object.spec.template.metadata.labels["cronlatch.dev/gated"]'; }
is_gated() { probe >/dev/null; }
is_not_gated() { ! is_gated; }
# Writes the names of the Jobs that the policy gated into FOLDER/gated.
have_equal_results() {
  jq -n -r --slurpfile before "$STAGE/before.json" --slurpfile operator "$1/operator.json" --slurpfile wanted "$1/by_operator.json" \
    --slurpfile got "$1/by_policy.json" '
    def by_name: map({key: .name, value: .}) | from_entries;
    def mark: "cronlatch.dev/gated-by-policy";
    def unmarked: if .metadata.annotations then .metadata.annotations |= del(.[mark]) else . end
      | if .metadata.annotations == {} then del(.metadata.annotations) else . end;
    ($before[0] | by_name) as $before | ($operator[0] | by_name) as $operator | ($wanted[0] | by_name) as $wanted | $got[0][]
    | .name as $name | .object as $got | ($got.metadata.annotations[mark] != null) as $marked
    | if $marked and $operator[$name].result != "gated" then "\($name): gated by the policy, \($operator[$name].result) by the operator: \($operator[$name].message // "")"
      elif $marked and ($got | unmarked) != ($wanted[$name].object | unmarked) then "\($name): differs: \($got | unmarked) \($wanted[$name].object | unmarked)"
      elif $marked then "gated \($name)"
      elif $got != ($before[$name].object | unmarked) then "\($name): changed, but not gated: \($got)"
      else "left \($name)" end' >"$1/verdicts"
  sed -n 's/^gated //p' "$1/verdicts" >"$1/gated"
  sed -n 's/^left //p' "$1/verdicts" >"$1/left"
  echo "$(grep -c . "$1/gated") gated, $(grep -c '^left ' "$1/verdicts") left to the webhook"
  ! grep -vE '^(gated|left) ' "$1/verdicts" && [ -s "$1/gated" ]
}

compare defaults <<'YAML'
store: {url: "rediss://redis.cronlatch.svc:6379"}
YAML
gates_many() { [ "$(wc -l <"$STAGE/defaults/gated")" -ge 150 ]; }
check "the policy gates $(wc -l <"$STAGE/defaults/gated") of $(jq length "$STAGE/before.json") Jobs" gates_many
is_complete() {
  local wrong
  wrong=$({ grep '^yes-' "$STAGE/defaults/left"; grep '^no-' "$STAGE/defaults/gated"; } | sort)
  echo "$wrong"
  [ -z "$wrong" ]
}
check "the policy gates the Jobs yes-..., and not the Jobs no-..." is_complete
compare platform 0 <<'YAML'
store: {url: "rediss://cron@redis.cronlatch.svc.", secretName: locks, caConfigMap: store-ca}
inject: {image: "mirror.corp/cronlatch:1", pullPolicy: Always, pullSecrets: [mirror], resources: {requests: {memory: 16Mi}, limits: {memory: 16Mi}}}
defaults: {ttl: 3m, on-busy: wait, wait-timeout: 1h, key-prefix: "a$b:", tls-server-name: redis, connect-timeout: 3s, log-format: json,
  skip-command: [sh, -c, "echo $(X) $$ <&>"]}
YAML
compare strict 1 <<'YAML'
store: {url: "rediss+sentinel://a,b,c/master", caConfigMap: store-ca}
defaults: {strict: "true", min-replicas: "2", max-ttl: 5m}
YAML
compare image-volume <<'YAML'
store: {url: "rediss://redis.cronlatch.svc:6379"}
injection: image-volume
inject: {image: "mirror.corp/cronlatch@sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", pullPolicy: Always, pullSecrets: [mirror]}
YAML
mounts_many() { jq -e '[.[] | select(any(.object.spec.template.spec | [.volumes[]?, .initContainers[]?][]; .image | objects))] | length >= 150' "$STAGE/image-volume/by_policy.json"; }
check "image-volume: the gated Jobs mount the image" mounts_many
compare auto 2 <<'YAML'
store: {url: "rediss://redis.cronlatch.svc:6379"}
injection: auto
YAML
compare quorum 0 <<'YAML'
store: {url: "rediss://a,rediss://b,rediss://c"}
YAML
finish
