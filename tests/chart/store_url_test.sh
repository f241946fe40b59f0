#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The value store.url: each wrong URL is refused with its reason, without a part of the URL. Each case is also decided by the operator.
set -uo pipefail
# shellcheck source=tests/chart/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

OPERATOR=${TESTED_OPERATOR:-$ROOT/build/dev/cronlatch-operator}
unset KUBERNETES_SERVICE_HOST
[ -x "$OPERATOR" ] || skip "the operator's decisions" "no operator at $OPERATOR (./dev build dev)"
operator_accepts() {
  local seen
  jq -n --arg url "$1" '{image: "x", store: $url}' >"$STAGE/operator.yaml"
  seen=$("$OPERATOR" --config "$STAGE/operator.yaml" 2>&1)
  printf '%s\n' "$seen"
  [[ $seen == *"this is no pod"* ]]
}
operator_refuses() { ! operator_accepts "$1"; }

refuses_url() {  # refuses_url URL TEXT
  check "refuses $1" refused_with "store.url: $2" --set-json "store.url=$(jq -n --arg url "$1" '$url')"
  [ ! -x "$OPERATOR" ] || check "so does the operator: $1" operator_refuses "$1"
}
accepts_url() {
  check "accepts $1" chart_template --set-json "store.url=$(jq -n --arg url "$1" '$url')"
  [ ! -x "$OPERATOR" ] || check "so does the operator: $1" operator_accepts "$1"
}

refuses_url redis://u:p@h "the URL contains a password, which other users can read. Remove it, and write it into the Secrets of the store"
refuses_url 'rediss://:p/a#s@s@h' "the URL contains a password"
refuses_url postgres://cron:secret@db.example/cronlatch "the URL contains a password"
refuses_url rediss://u:p@a,rediss://u:p@b,rediss://u:p@c "the URL contains a password"
refuses_url redis.shop "the URL has no scheme"
refuses_url http://x "the scheme is not redis://, rediss://"
refuses_url redis+tls://x "the scheme is not redis://, rediss://"
refuses_url postgresql://cron@db.example/cronlatch "the scheme postgresql:// is written postgres://. Replace it"
refuses_url 'rediss://redis shop' "the URL contains a blank"
refuses_url rediss://r1,rediss://r2 "a list of URLs is a quorum, and it has 2 servers. Set 3, 5 or 7"
refuses_url rediss://a,rediss://b,rediss://c,rediss://d "a list of URLs is a quorum, and it has 4 servers"
refuses_url redis://a,redis://b,redis://c,redis://d,redis://e,redis://f,redis://g,redis://h,redis://i "a list of URLs is a quorum, and it has 9 servers"
refuses_url redis+sentinel://a/m,redis+sentinel://b/m,redis+sentinel://c/m "a list of URLs is a quorum, and each of its URLs must begin with redis://"
refuses_url rediss://a,postgres://b/c,rediss://d "a list of URLs is a quorum, and each of its URLs must begin with redis://"
refuses_url rediss://a,b "rediss:// has one host; a list of hosts needs rediss+sentinel:// or rediss+cluster://"
refuses_url rediss://h/99999 "the database number after the host must be 0 to 65535"
refuses_url rediss://h/65536 "the database number after the host must be 0 to 65535"
refuses_url rediss://h/-1 "the database number after the host must be 0 to 65535"
refuses_url rediss://h/1/2 "the database number after the host must be 0 to 65535"
refuses_url 'rediss://h/1?x=y' "the URL has a '?' or '#' part"
refuses_url rediss://a/0,rediss://b/0,rediss://c/99999 "the database number after the host must be 0 to 65535"
refuses_url rediss://u%40x@h "the user name contains a '%'"
refuses_url postgres://u%40x@h/db "the user name contains a '%'"
refuses_url rediss://@h "the user name before '@' is empty"
refuses_url rediss+sentinel://s1,s2 "the name of the master after the hosts is missing"
refuses_url rediss+sentinel://s1,s2/a+b "the name of the master must be 1 to 200 of letters"
refuses_url rediss+sentinel://s1,s2/m/99999 "the database number"
refuses_url rediss+cluster://n1,n2/1 "a Redis Cluster has only database 0"
refuses_url "rediss+cluster://$(printf 'n%d,' {1..32})n0" "the list has more than 32 hosts"
refuses_url postgres://u@a "the database after the host is missing. Write for example postgres://cronlatch@db.example.com/cronlatch"
refuses_url postgres://u@a/ "the database after the host is missing"
refuses_url postgres://u@a/b/c "the database must be 1 to 63 bytes"
refuses_url "postgres://u@a/$(printf 'a%.0s' {1..64})" "the database must be 1 to 63 bytes"
refuses_url postgres://cron@a,b,c,d,e,f,g,h,i/cronlatch "the URL has more than 8 hosts"
for mode in prefer allow verify-ca ''; do
  refuses_url "postgres://u@a/db?sslmode=$mode" "sslmode must be verify-full, require or disable. Remove it"
done
refuses_url 'postgres://u@a/db?wake=never' "wake must be poll"
refuses_url 'postgres://u@a/db?sslmode=require&options=-c' "the URL can have the options sslmode and wake only"
for query in '&wake=poll' 'wake=poll&&sslmode=require' 'wake=poll&&' '&'; do
  refuses_url "postgres://u@a/db?$query" "the URL can have the options sslmode and wake only"
done
refuses_url rediss:// "the host is missing"
refuses_url rediss://u@ "the host is missing"
refuses_url rediss+cluster://a,,b "the host is missing"
refuses_url rediss://a..b "the host contains a character that is not valid"
refuses_url 'rediss://{host}' "the host contains a character that is not valid"
refuses_url rediss://h: "the port must be 1 to 65535, in digits"
refuses_url rediss://h:tls "the port must be 1 to 65535, in digits"
refuses_url rediss://fd00::1 "an IPv6 address must be in brackets"
refuses_url 'rediss://[redis]' "the text in brackets is not an IPv6 address"
refuses_url 'rediss://[fd00::1' "the text in brackets is not an IPv6 address"
# The operator accepts these two. Pods of several nodes do not share a file, and the chart does not divide a user name with a slash.
check "refuses a store on one host" refused_with "store.url: file:// excludes only runs that have one file system" --set store.url=file:///x
check "refuses a user name with a slash" refused_with "store.url: the user name contains a '%', '/' or '@'" --set store.url=rediss://a/b@h

for url in rediss://h rediss://u@h:1/65535 rediss://h/00065535 rediss://h/ redis://h_1.-x. 'rediss://[fd00::1]:6379/2' 'rediss://[::ffff:10.0.0.1]' rediss+sentinel://u@s1,s2:1/m.-_/3 \
  rediss+cluster://n1,n2/0 rediss+cluster://n1 rediss://jobs@r1/2,rediss://jobs@r2:7000/2,rediss://jobs@r3/2 rediss://user,x@r. 'postgres://a,b@h,i/db' postgres://db/a 'postgres://u@a/db?wake=poll&' 'postgres://u@a:1,[fd00::7]/l-1?' \
  'postgres://u@a/db?sslmode=require&wake=poll&target_session_attrs=read-write' 'postgres://u@a/ü.x'; do
  accepts_url "$url"
done

# The secret is the only part of these URLs that is long enough to be recognized.
hides_the_url() {
  local url seen
  for url in rediss://u:hunter2secret@h rediss://:hunter2secret hunter2secret rediss://hunter2secret%@h 'rediss://u:a,b://hunter2secret@h' hunter2secret://h; do
    seen=$(chart_template --set-json "store.url=\"$url\"" 2>&1) && { echo "rendered: $url"; return 1; }
    [[ $seen != *hunter2secret* ]] || { printf '%s\n' "$seen"; return 1; }
  done
}
check "no message contains a part of the URL" hides_the_url
check "in mode policy and in cronJobs, too" refused_with "the URL contains a password" --set store.url=redis://u:p@h,operator.enabled=false \
  --set-json 'cronJobs={"a":{"schedule":"@daily","image":"i","command":["a"]}}'
finish
