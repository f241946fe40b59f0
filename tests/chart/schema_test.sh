#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The schema refuses what nobody meant, and knows what its sources know: values.yaml, and the table of options.
# shellcheck disable=SC2016  # jq has variables of its own
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

SCHEMA=$CHART/values.schema.json

# refuses_value SENTENCE ASSIGNMENT: with --set-json, so that the type is what is written.
refuses_value() { check "refuses $1" refused_with "values don't meet" --set-json "$2"; }

refuses_value "an unknown value" 'replicas=3'
refuses_value "an unknown value inside" 'webhook.timeout=3'
refuses_value "a misspelt option" 'defaults.tll="5m"'
refuses_value "an option that belongs to one run" 'defaults.lock="a"'
refuses_value "a password in the store's URL" 'store.url="rediss://cron:secret@redis.shop"'
refuses_value "a store of another kind" 'store.url="http://redis.shop"'
refuses_value "a number as text" 'replicaCount="two"'
refuses_value "a negative number of replicas" 'replicaCount=-1'
refuses_value "a webhook timeout that the API server refuses" 'webhook.timeoutSeconds=31'
refuses_value "a port that is none" 'ports.admission=70000'
refuses_value "a wrong word for a mode" 'certificates.mode="certmanager"'
refuses_value "a key that no Secret can have" 'webhook.clientCA.key="a/b"'
refuses_value "a wrong word for a policy" 'webhook.cronJobs.failurePolicy="fail"'
refuses_value "a policy that does nothing" 'policies.validationActions=[]'
refuses_value "a digest that is none" 'image.digest="sha256:abc"'
refuses_value "a registry in the repository's place" 'image.registry="a/b"'
refuses_value "a selection without a lock" 'select=[{"namespace":"a","annotations":{"ttl":"5m"}}]'
refuses_value "a selection with the prefix" 'select=[{"namespace":"a","annotations":{"lock":"true","cronlatch.dev/ttl":"5m"}}]'
refuses_value "an ENTRYPOINT that is no list" 'imageIndex={"a":"/entrypoint"}'
refuses_value "a CronJob without a command" 'cronJobs={"a":{"schedule":"@daily","image":"i"}}'
refuses_value "a CronJob with a store of its own" 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"],"options":{"store":"redis://x"}}}'
refuses_value "a CronJob whose Jobs would have too long a name" "cronJobs={\"$(printf 'a%.0s' {1..53})\":{\"schedule\":\"@daily\",\"image\":\"i\",\"command\":[\"a\"]}}"
refuses_value "an uninstall policy of its own" 'uninstall.policy="maybe"'
check "takes the values of chart 0.1.0 that have no effect any more" chart_template "${BASE[@]}" --set uninstall.guard=true,uninstall.policy=open
check "takes what is right" chart_template "${BASE[@]}" --set-json 'defaults={"ttl":"5m","min-hold":0}'

# Every map of fixed keys is closed: only maps whose keys are the user's own may be open.
every_object_is_closed() {
  ! jq -r 'paths(objects) as $p | getpath($p) | select(has("properties") and (.additionalProperties == false | not)) | $p | join(".")' "$SCHEMA" | grep .
}
check "closes every object that lists its keys" every_object_is_closed

# Each path of values.yaml is described by name (or lies in a map of the user's own keys), and each described path is in values.yaml.
described='
  def resolve($root): if has("$ref") then .["$ref"] as $r | $root | getpath($r | ltrimstr("#/") | split("/")) else . end;
  def walk_schema($root; $at): (.properties // {}) | to_entries[] | select(.value.deprecated | not) | (.key | [.]) as $k | .value | resolve($root)
    | ($at + $k) as $path | if has("properties") and ($path | length < 3) and ($path[-1] | IN("resources", "issuerRef", "namespaceSelector") | not)
      then walk_schema($root; $path) else ($path | join(".")) end;
  . as $root | walk_schema($root; [])'
explained() { sed -nE 's/^\| `([A-Za-z.]+)` \| .*/\1/p' "$CHART/README.md" | sort; }
schema_and_values_agree() {
  diff <(jq -r "$described" "$SCHEMA" | grep -vx global | sort) <(explained | grep -vE '^cronJobs\.') >"$STAGE/diff" ||
    { echo "< only in the schema, > only explained in values.yaml"; cat "$STAGE/diff"; return 1; }
}
check "describes the values that values.yaml explains, and no others" schema_and_values_agree
# Every value has an explanation of its own or one above it.
all_are_explained() {
  local path known
  mapfile -t known < <(explained)
  for path in $("$YQ" -r 'paths(scalars, (arrays, objects | select(length == 0))) | map(tostring) | join(".")' "$CHART/values.yaml"); do
    while [ -n "$path" ] && [[ " ${known[*]} " != *" $path "* ]]; do
      if [[ $path == *.* ]]; then path=${path%.*}; else echo "not explained: $path" && return 1; fi
    done
  done
}
check "values.yaml explains each value" all_are_explained

# The options that the chart lets through are those of the table.
table_options() { grep -oE '^\| `[a-z-]+`' "$ROOT/docs/reference/options.md" | tr -d '|` ' | sort; }
all_options_exist() { ! comm -13 <(table_options) <(jq -r '.definitions.allOptions.propertyNames.enum[]' "$SCHEMA" | sort) | grep .; }
check "names only options that exist" all_options_exist
finish
