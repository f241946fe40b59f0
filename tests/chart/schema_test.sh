#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The schema refuses invalid values, and contains the same keys as its sources: values.yaml, and the table of options.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

SCHEMA=$CHART/values.schema.json

# refuses_value SENTENCE ASSIGNMENT: uses --set-json, which keeps the type of the value.
refuses_value() { check "refuses $1" refused_with "values don't meet" --set-json "$2"; }

refuses_value "an unknown value" 'replicas=3'
refuses_value "an unknown value inside" 'webhook.timeout=3'
check "refuses an unknown reason of Events, and lists the known ones" refused_with "RanWithoutLock" --set-json 'events.skip=["Skip"]'
refuses_value "to skip an Event that is always written" 'events.skip=["AdmissionBypassed"]'
refuses_value "no Event per second" 'events.perSecond=0'
refuses_value "resources of the wrapper that the operator does not accept" 'inject.resources.claims=[{"name":"gpu"}]'
refuses_value "a number as a text option, which YAML could round" 'defaults.key-prefix=1234567'
refuses_value "a label that no alert can have" 'prometheusRule.alertLabels={"a-b":"c"}'
refuses_value "a registry with a scheme" 'global.imageRegistry="https://mirror.example"'
refuses_value "a registry with a slash at its end" 'global.imageRegistry="mirror.example/"'
# An empty key in a file of values is null, and removes the default.
for key in networkPolicy.apiServerPorts ports.plain podAnnotations store image.repository redis.image.tag dashboards.labelValue events.perSecond; do
  refuses_value "no value of $key" "$key=null"
done
for key in global global.imageRegistry global.imagePullSecrets defaults; do
  check "accepts no value of $key, as an umbrella chart may set it" render "${BASE[@]}" --set-json "$key=null"
  check "with the Redis of the chart, too" render --set redis.enabled=true --set-json "$key=null"
done
check "accepts no value of defaults in written-out gates" render "${BASE[@]}" --set operator.enabled=false --set-json 'defaults=null' \
  --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"]}}'
for key in resources.limits resources nodeSelector podSecurityContext affinity redis.resources inject.resources tolerations; do
  check "accepts no value of $key" render "${BASE[@]}" --set-json "$key=null"
done
refuses_value "a misspelled option" 'defaults.tll="5m"'
refuses_value "a word that the option does not have" 'defaults.on-busy="queue"'
refuses_value "a duration without a unit" 'defaults.ttl="90"'
refuses_value "a number as a duration" 'defaults.max-run=90'
refuses_value "a value of a CronJob's option that is not allowed" 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"on-lost":"stop"}}}'
refuses_value "a word for strict that is no boolean" 'defaults.strict="maybe"'
refuses_value "a max-ttl without a unit" 'defaults.max-ttl="600"'
refuses_value "an option that belongs to one run" 'defaults.lock="a"'
# Of PostgreSQL: the hosts, the database, and the modes that cronlatch has.
for url in postgres://cron@db.example/cronlatch postgres://db.example./cronlatch 'postgres://cron@db1.example:6432,[fd00::7]/locks' \
  'postgres://cron@db.example/cronlatch?sslmode=verify-full' 'postgres://cron@db.example/cronlatch?sslmode=require' \
  'postgres://cron@db.example/cronlatch?sslmode=disable&target_session_attrs=read-write' 'postgres://cron@db.example/cronlatch?wake=poll' \
  'postgres://cron@db.example/cronlatch?sslmode=require&wake=poll'; do
  check "accepts $url" chart_template --set-json "store.url=\"$url\""
done
check "accepts a quorum" chart_template --set-json 'store.url="rediss://jobs@r1/2,rediss://jobs@r2:7000/2,rediss://jobs@[fd00::1]/2"'
PLAIN='--set-json=store.url="postgres://cron@db.example/cronlatch?sslmode=disable"'
check "refuses a server name without TLS" refused_with "the store does not use TLS" "$PLAIN" --set defaults.tls-server-name=db
check "refuses tls-skip-verify without TLS" refused_with "the store does not use TLS" "$PLAIN" --set defaults.tls-skip-verify=true
check "refuses a user for Sentinels without Sentinels" refused_with "the store has no Sentinels" \
  --set store.url=postgres://cron@db.example/cronlatch,defaults.sentinel-username=a

# What the operator and each run refuse at their start (RefuseStrictAndAQuorumThatCannotWork), with the defaults of the options.
default_of() { sed -nE "s/^\\| \`$1\` \\| \`([^\`]*)\`.*/\\1/p" "$ROOT/docs/reference/options.md"; }
TTL=$(default_of ttl) MAX_TTL=$(default_of max-ttl)
QUORUM='--set-json=store.url="rediss://r1,rediss://r2,rediss://r3"'
SENTINELS='--set-json=store.url="rediss+sentinel://s1,s2,s3/m"'
CLUSTER='--set-json=store.url="rediss+cluster://n1,n2"'
check "refuses a strict quorum" refused_with "a quorum cannot be strict" "$QUORUM" --set defaults.strict=true
check "refuses a strict Cluster" refused_with "a Redis Cluster cannot be strict" "$CLUSTER" --set-json 'defaults.strict="true"'
check "refuses strict without a store" refused_with "store.url is empty" --set defaults.strict=true
check "refuses strict Sentinels without min-replicas" refused_with "min-replicas is 0" "$SENTINELS" --set defaults.strict=true
check "refuses strict Sentinels with min-replicas 0" refused_with "min-replicas is 0" "$SENTINELS" --set defaults.strict=true --set-json 'defaults.min-replicas="0"'
check "refuses min-replicas without strict" refused_with "min-replicas is set without defaults.strict" "${BASE[@]}" --set defaults.min-replicas=1
check "refuses a strict ttl above max-ttl" refused_with "defaults.ttl: 11m is above max-ttl, which is $MAX_TTL" "${BASE[@]}" --set defaults.strict=true,defaults.ttl=11m
check "refuses a quorum's ttl above max-ttl" refused_with "defaults.ttl: 0h15m1ms is above max-ttl, which is 900s" "$QUORUM" --set defaults.ttl=0h15m1ms,defaults.max-ttl=900s
check "refuses a max-ttl below the default ttl" refused_with "defaults.ttl: $TTL is above max-ttl, which is 1m" "$QUORUM" --set defaults.max-ttl=1m
check "refuses a selection with a ttl above max-ttl" refused_with "select[0].annotations.ttl: 20m is above max-ttl" "$QUORUM" --set-json 'select=[{"namespace":"a","annotations":{"lock":"true","ttl":"20m"}}]'
check "refuses a CronJob with a ttl above max-ttl" refused_with "cronJobs.a.options.ttl: 20m is above max-ttl" "$QUORUM" --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"ttl":"20m"}}}'
check "refuses a CronJob with slots and a quorum" refused_with "a quorum has one slot" "$QUORUM" --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"slots":2}}}'
for url in rediss://r1,rediss://r2,rediss://R1.:6379 rediss+sentinel://s1,s2,s1:26379/m 'rediss+cluster://[fd00::1],n2,[fd00::1]:6379'; do
  check "refuses $url" refused_with "is listed twice" --set-json "store.url=\"$url\""
done
for url in rediss://r1,redis://r2,rediss://r3 rediss://a@r1,rediss://r2,rediss://r3 rediss://r1/1,rediss://r2,rediss://r3; do
  check "refuses $url" refused_with "different schemes, users or databases" --set-json "store.url=\"$url\""
done
check "accepts a quorum with a ttl of max-ttl" chart_template "$QUORUM" --set defaults.ttl=15m,defaults.max-ttl=15m
check "accepts two ports of a host, and a database 0" chart_template --set-json 'store.url="rediss://r:1,rediss://r:2/0,rediss://r:3/"'
check "accepts strict Sentinels with min-replicas" chart_template "$SENTINELS" --set defaults.strict=true,defaults.min-replicas=2
check "accepts a strict PostgreSQL, whose ttl has no limit" chart_template --set store.url=postgres://cron@db.example/cronlatch,defaults.strict=true,defaults.ttl=30m
check "accepts a long ttl without strict" chart_template "${BASE[@]}" --set defaults.ttl=1h,defaults.strict=false,defaults.min-replicas=0
check "accepts a selection without a ttl" chart_template "$QUORUM" --set defaults.ttl=30s,defaults.max-ttl=1m --set-json 'select=[{"namespace":"a","annotations":{"lock":"true"}}]'
check "accepts a CronJob with one slot and a quorum" chart_template "$QUORUM" --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"slots":1,"ttl":"90s"}}}'
check "accepts slots 01 and a quorum" chart_template "$QUORUM" --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"slots":"01"}}}'
refuses_value "a number as text" 'replicaCount="two"'
refuses_value "a negative number of replicas" 'replicaCount=-1'
refuses_value "a webhook timeout that the API server refuses" 'webhook.timeoutSeconds=31'
refuses_value "an invalid port" 'ports.admission=70000'
refuses_value "an unknown mode" 'certificates.mode="certmanager"'
refuses_value "an invalid key of a Secret" 'webhook.clientCA.key="a/b"'
refuses_value "an unknown failure policy" 'webhook.cronJobs.failurePolicy="fail"'
refuses_value "a policy without an action" 'policies.validationActions=[]'
refuses_value "an invalid digest" 'image.digest="sha256:abc"'
refuses_value "a registry that contains a repository" 'image.registry="a/b"'
refuses_value "a selection without a lock" 'select=[{"namespace":"a","annotations":{"ttl":"5m"}}]'
refuses_value "a selection with the prefix" 'select=[{"namespace":"a","annotations":{"lock":"true","cronlatch.dev/ttl":"5m"}}]'
refuses_value "an ENTRYPOINT that is not a list" 'imageIndex={"a":"/entrypoint"}'
refuses_value "a CronJob without a command" 'cronJobs={"a":{"schedule":"@daily","image":"i"}}'
refuses_value "a CronJob with its own store" 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"store":"redis://x"}}}'
refuses_value "a CronJob whose Jobs would have names that are too long" "cronJobs={\"$(printf 'a%.0s' {1..53})\":{\"schedule\":\"@daily\",\"image\":\"i\",\"command\":[\"a\"]}}"
refuses_value "a registry of an umbrella chart that is no text" 'global.imageRegistry=5'
refuses_value "an unknown uninstall policy" 'uninstall.policy="maybe"'
check "accepts the values of chart 0.1.0 that have no effect now" chart_template "${BASE[@]}" --set uninstall.guard=true,uninstall.policy=open
check "accepts valid values" chart_template "${BASE[@]}" --set-json 'defaults={"ttl":"5m","min-hold":0,"strict":true,"min-replicas":2,"max-ttl":"15m"}'

# Every map with fixed keys has additionalProperties false. Only maps with keys of the user may be open, and `global`,
# which has the keys of all charts of an umbrella chart.
every_object_is_closed() {
  ! jq -r 'paths(objects) as $p | getpath($p) | select(has("properties") and (.additionalProperties == false | not)) | $p | join(".")' "$SCHEMA" | grep -vx properties.global
}
check "refuses unknown keys in every object with listed keys" every_object_is_closed

# The schema lists each path of values.yaml (except in maps with keys of the user), and values.yaml contains each path
# of the schema.
described='
  def resolve($root): if has("$ref") then .["$ref"] as $r | $root | getpath($r | ltrimstr("#/") | split("/")) else . end;
  def walk_schema($root; $at): (.properties // {}) | to_entries[] | select(.value.deprecated | not) | (.key | [.]) as $k | .value | resolve($root)
    | ($at + $k) as $path | if has("properties") and ($path | length < 3) and ($path[-1] | IN("resources", "issuerRef", "namespaceSelector", "defaults") | not)
      then walk_schema($root; $path) else ($path | join(".")) end;
  . as $root | walk_schema($root; [])'
explained() { sed -nE 's/^\| `([A-Za-z.]+)` \| .*/\1/p' "$CHART/README.md" | sort; }
schema_and_values_agree() {
  diff <(jq -r "$described" "$SCHEMA" | sort) <(explained | grep -vE '^cronJobs\.') >"$STAGE/diff" ||
    { echo "< only in the schema, > only documented in values.yaml"; cat "$STAGE/diff"; return 1; }
}
check "lists the values that values.yaml documents, and no others" schema_and_values_agree
# Each value is documented, or is part of a documented value.
all_are_documented() {
  local path known
  mapfile -t known < <(explained)
  for path in $("$YQ" -r 'paths(scalars, (arrays, objects | select(length == 0))) | map(tostring) | join(".")' "$CHART/values.yaml"); do
    while [ -n "$path" ] && [[ " ${known[*]} " != *" $path "* ]]; do
      if [[ $path == *.* ]]; then path=${path%.*}; else echo "not documented: $path" && return 1; fi
    done
  done
}
check "values.yaml documents each value" all_are_documented

# The options that the chart accepts are those of the table.
table_options() { grep -oE '^\| `[a-z-]+`' "$ROOT/docs/reference/options.md" | tr -d '|` ' | sort; }
all_options_exist() { ! comm -13 <(table_options) <(jq -r '.definitions.allOptions.properties | keys[]' "$SCHEMA" | sort) | grep .; }
check "lists only existing options" all_options_exist
finish
