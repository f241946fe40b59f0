#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ENTRYPOINT, CMD, command and args in all combinations: a gated command gets the same arguments as without a gate.
# shellcheck disable=SC2016  # the kubelet and the images expand each $
# shellcheck source=tests/cluster/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/cluster/registry.sh
source "$ROOT/tests/cluster/registry.sh"
fresh_namespace pod-security.kubernetes.io/warn=restricted
trap 'stop_registry; kubectl delete namespace "$NS" --wait=false >/dev/null 2>&1' EXIT
BATCH=15  # cases at once; each case has two pods
WORK=$REGISTRY_HOME/cases

make_registry
make_layers
mkdir -p "$WORK"
image both <<'D'
ENTRYPOINT ["/bin/argv", "of entrypoint"]
CMD ["of cmd", "--", "two"]
D
image entry <<'D'
ENTRYPOINT ["argv", "-x"]
D
image cmd <<'D'
CMD ["/bin/argv", "--flag", "x y"]
D
image bare <<'D'
D
image shell-entry <<'D'
ENTRYPOINT argv "$0" "$@" for "$WHO"
CMD ["zero", "one"]
D
image shell-cmd <<'D'
CMD argv cmd "of $WHO" '$(WHO)' $HOME; argv twice
D
image shell-both <<'D'
ENTRYPOINT argv entry "$0" "$@"
CMD argv never
D
image emptied <<'D'
ENTRYPOINT ["/bin/argv", "never"]
CMD ["never"]
ENTRYPOINT []
CMD ["argv", "after the reset"]
D
image empty-word <<'D'
ENTRYPOINT [""]
CMD ["/bin/argv", "alone"]
D
image script <<'D'
ENTRYPOINT ["/entry.sh"]
CMD ["start"]
D
image folder <<'D'
WORKDIR /app
ENTRYPOINT ["./argv"]
D
image odd <<'D'
ENTRYPOINT ["argv", "$(WHO)", "$$(WHO)", "$$", "$(", "$()", "$", "${WHO}", "$(NOBODY)"]
CMD ["--", "-c", "--help", "", "a  b", "\"q\" 'q'", "back\\slash", "tab\there", "line\nbreak", "ünï", "$(WHO)", "$$$(WHO)", "*"]
D
image platforms <<'D'
ENTRYPOINT ["/bin/argv", "one of two platforms"]
CMD ["its cmd"]
D
other_platform platforms --cmd 'another cmd'
image programs <<'D'
ENTRYPOINT ["argv", "$(WHO)", "$$(WHO)", "$$", "\"q\"", "back\\slash", "ünï", ""]
CMD ["line\nbreak", "{}", "--"]
D
other_platform programs --entrypoint '["/bin/never"]' --cmd never

# try IMAGE [command=JSON] [args=JSON]: adds one case to the table.
try() {
  local image=$1 pair fields=''
  shift
  for pair; do fields+=",\"${pair%%=*}\":${pair#*=}"; done
  printf '{"image":"%s"%s}\n' "$image" "$fields" >>"$WORK/table"
}
COMMAND='command=["/bin/argv","of command"]'
REFERENCES='["$(WHO)","$$(WHO)","$$$(WHO)","$(GREETING)","$(NOBODY)","$(KUBERNETES_SERVICE_PORT)","$$","$","$(","$()","$(WHO","a$(WHO)b$$c","${WHO}"]'
try both
try both 'args=["of args","",  "a  b"]'
try both "$COMMAND"
try both "$COMMAND" 'args=["--help"]'
try both 'args=[]'
try both 'command=[]' 'args=["of args"]'
try both "args=$REFERENCES"
try both 'command=["argv","$(WHO)","$$(WHO)","$(NOBODY)","$$"]' "args=$REFERENCES"
try entry
try entry 'args=["--","-c","--version"]'
try entry "$COMMAND"
try entry "$COMMAND" 'args=["more"]'
try cmd
try cmd 'args=["argv","of args"]'
try cmd "$COMMAND"
try cmd "$COMMAND" 'args=["more"]'
try bare 'args=["/bin/argv","of args","$(WHO)"]'
try bare "$COMMAND"
try bare 'command=["sh","-c","argv \"$0\" \"$@\" $$(WHO) $(WHO)"]' 'args=["zero","one"]'
try shell-entry
try shell-entry 'args=["zero","one","$(WHO)"]'
try shell-entry "$COMMAND"
try shell-cmd
try shell-cmd 'args=["argv","of args"]'
try shell-cmd 'command=["argv"]'
try shell-both
try shell-both 'args=["of args"]'
try emptied
try emptied 'args=["/bin/argv","of args"]'
try empty-word
try empty-word 'args=["argv","of args"]'
try script
try script 'args=["stop","now"]'
try folder
try folder 'args=["$(GREETING)"]'
try odd
try odd "args=$REFERENCES"
try odd 'args=["","*","line\nbreak","\"q\"","ünï"]'
try odd "$COMMAND"
try platforms
try platforms 'args=["of args"]'
try programs
try programs "args=$REFERENCES"

# jobs_from FROM: the Jobs plain-N and gated-N of the cases FROM to FROM + BATCH - 1.
manifest Job one lock=one -- | yq . >"$WORK/job"
jobs_from() {
  jq --null-input --slurpfile table "$WORK/table" --slurpfile job "$WORK/job" --argjson from "$1" --argjson batch "$BATCH" \
    --arg registry "$REGISTRY/any" --arg tag "$TAG" '
    {apiVersion: "v1", kind: "List", items: [
      range($from; [$from + $batch, ($table | length)] | min) as $n | "plain", "gated" | . as $way | $table[$n] as $case |
      $job[0] | .metadata.name = "\($way)-\($n)" | .metadata.labels = {batch: "\($from)", way: $way} |
      .spec.template.metadata.labels = .metadata.labels |
      if $way == "gated" then .metadata.annotations["cronlatch.dev/lock"] = "case-\($n)" else del(.metadata.annotations) end |
      .spec.template.spec.containers[0] += ($case | del(.image)) + {
        image: "\($registry)/\($case.image):\($tag)", imagePullPolicy: "IfNotPresent",
        env: [{name: "WHO", value: "you"}, {name: "GREETING", value: "good morning, $(WHO)"}]}]}'
}
# Creates the Jobs of the batch; existing Jobs are not changed. The first Job of an image may be refused until the image
# is looked up.
all_created() {
  k create -f "$WORK/jobs" 2>&1 | grep -vE 'AlreadyExists|created$'
  [ "$(k get jobs -l "batch=$1" -o name | wc -l)" -eq "$(jq '.items | length' "$WORK/jobs")" ]
}
all_ended() {
  k get jobs -l "batch=$1" -o 'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.status=="True")].type}{"\n"}{end}' >"$WORK/ends"
  [ -s "$WORK/ends" ] && ! grep -vE ' (.* )?(Complete|Failed)$' "$WORK/ends"
}
total=$(wc -l <"$WORK/table")
for ((from = 0; from < total; from += BATCH)); do
  jobs_from $from >"$WORK/jobs"
  needs -t 180 "the Jobs of the cases from number $from are admitted" all_created $from
  needs -t 240 "the Jobs of the cases from number $from end" all_ended $from
  k logs -l "batch=$from" -c main --prefix --tail=-1 --max-log-requests=100 >>"$WORK/logs" 2>&1
done

calls() { sed -nE "s#^\[pod/$1-[a-z0-9]+/main\] (ran \{.*)#\1#p" "$WORK/logs"; }  # calls JOB: the arguments that the program printed
same_calls() {  # same_calls NUMBER
  local plain gated
  plain=$(calls "plain-$1")
  gated=$(calls "gated-$1")
  printf 'without the gate: %s\nwith the gate:    %s\n' "$plain" "$gated"
  [ -n "$plain" ] && [ "$plain" = "$gated" ]
}
number=0
while read -r case; do
  check "the calls are the same with and without the gate: $case" same_calls $number
  number=$((number + 1))
done <"$WORK/table"

commands() {
  k get pods -o json |
    jq -r '.items[] | "\(.metadata.labels.way) \(.spec.containers[0].command[0] == "/cronlatch-bin/cronlatch")"' | sort | uniq -c | sed 's/^ *//'
}
half_gated() { diff <(commands) <(printf '%d %s\n' "$total" 'gated true' "$total" 'plain false'); }
check "one half of the pods was gated, and the other half was not" half_gated
differ() { [ "$(sed -nE 's#^\[pod/plain-[^ ]* (ran .*)#\1#p' "$WORK/logs" | sort -u | wc -l)" -ge 24 ]; }
check "at least 24 of the calls differ from each other" differ
finish
