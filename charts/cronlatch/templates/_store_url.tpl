{{- /* SPDX-License-Identifier: Apache-2.0
Refuses a value store.url with which the operator and each run would not start, with the messages of src/core/store_url_parse.cc and
src/core/postgres_target.cc. No message contains a part of the URL, because it may be a password. tests/chart/store_url_test.sh
compares the decisions with those of the operator. */ -}}

{{- /* message, and optionally what to do; without it, an example. */ -}}
{{- define "cronlatch.badUrl" -}}
{{- $fix := "Write for example rediss://user@redis.example.com or postgres://cronlatch@db.example.com/cronlatch" -}}
{{- if gt (len .) 1 }}{{ $fix = last . }}{{ end -}}
{{- fail (printf "store.url: %s. %s" (first .) $fix) -}}
{{- end -}}

{{- /* The URL, or the list of URLs of a quorum. */ -}}
{{- define "cronlatch.checkStoreUrl" -}}
{{- if regexMatch "[[:space:][:cntrl:]]" . -}}{{- include "cronlatch.badUrl" (list "the URL contains a blank") -}}{{- end -}}
{{- if not (contains "://" .) -}}{{- include "cronlatch.badUrl" (list "the URL has no scheme") -}}{{- end -}}
{{- $scheme := regexFind "^[^:]*" . -}}
{{- if eq $scheme "file" -}}
{{- include "cronlatch.badUrl" (list "file:// excludes only runs that have one file system, and each pod has its own") -}}
{{- else if eq $scheme "postgresql" -}}
{{- include "cronlatch.badUrl" (list "the scheme postgresql:// is written postgres://" "Replace it by postgres://") -}}
{{- else if not (regexMatch "^(rediss?([+](sentinel|cluster))?|postgres)$" $scheme) -}}
{{- include "cronlatch.badUrl" (list "the scheme is not redis://, rediss://, redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster:// or postgres://") -}}
{{- end -}}
{{- if regexMatch ",.*://" . -}}
{{- $quorum := "Write for example rediss://r1.example.com,rediss://r2.example.com,rediss://r3.example.com" -}}
{{- range splitList "," . -}}
{{- if not (regexMatch "^rediss?://" .) -}}
{{- include "cronlatch.badUrl" (list "a list of URLs is a quorum, and each of its URLs must begin with redis:// or rediss://" $quorum) -}}
{{- end -}}
{{- include "cronlatch.checkServerUrl" . -}}
{{- end -}}
{{- $count := splitList "," . | len -}}
{{- if not (has $count (list 3 5 7)) -}}
{{- include "cronlatch.badUrl" (list (printf "a list of URLs is a quorum, and it has %d servers. Set 3, 5 or 7" $count) $quorum) -}}
{{- end -}}
{{- else -}}
{{- include "cronlatch.checkServerUrl" . -}}
{{- end -}}
{{- end -}}

{{- /* One URL. A password can contain any character: the last '@' ends it. */ -}}
{{- define "cronlatch.checkServerUrl" -}}
{{- $scheme := regexFind "^[^:]*" . -}}
{{- $rest := trimPrefix (printf "%s://" $scheme) . -}}
{{- if contains "@" $rest -}}
{{- $user := regexReplaceAll "@[^@]*$" $rest "" -}}
{{- if contains ":" $user -}}
{{- include "cronlatch.badUrl" (list "the URL contains a password, which other users can read" "Remove it, and write it into the Secrets of the store (store.secretName), as password") -}}
{{- else if not $user -}}
{{- include "cronlatch.badUrl" (list "the user name before '@' is empty") -}}
{{- else if regexMatch "[%/@]" $user -}}
{{- include "cronlatch.badUrl" (list "the user name contains a '%', '/' or '@'" "Remove it from the URL, and set defaults.redis-username") -}}
{{- end -}}
{{- $rest = regexFind "[^@]*$" $rest -}}
{{- end -}}
{{- if eq $scheme "postgres" -}}
{{- include "cronlatch.checkPostgresTarget" $rest -}}
{{- else -}}
{{- include "cronlatch.checkRedisTarget" (dict "scheme" $scheme "rest" $rest) -}}
{{- end -}}
{{- end -}}

{{- /* dict: scheme, rest (of the URL, after the user). */ -}}
{{- define "cronlatch.checkRedisTarget" -}}
{{- $hosts := regexFind "^[^/?#]*" .rest -}}
{{- $path := trimPrefix $hosts .rest | trimPrefix "/" -}}
{{- $isList := contains "+" .scheme -}}
{{- if and (contains "," $hosts) (not $isList) -}}
{{- include "cronlatch.badUrl" (list (printf "%s:// has one host; a list of hosts needs %s+sentinel:// or %s+cluster://" .scheme .scheme .scheme)) -}}
{{- end -}}
{{- if gt (splitList "," $hosts | len) 32 -}}{{- include "cronlatch.badUrl" (list "the list has more than 32 hosts") -}}{{- end -}}
{{- range splitList "," $hosts -}}{{- include "cronlatch.checkStoreHost" . -}}{{- end -}}
{{- if hasSuffix "sentinel" .scheme -}}
{{- $master := regexFind "^[^/?#]*" $path -}}
{{- if not $master -}}
{{- include "cronlatch.badUrl" (list "the name of the master after the hosts is missing" "Write for example rediss+sentinel://s1.example.com,s2.example.com,s3.example.com/mymaster") -}}
{{- else if not (and (regexMatch "^[A-Za-z0-9._-]+$" $master) (le (len $master) 200)) -}}
{{- include "cronlatch.badUrl" (list "the name of the master must be 1 to 200 of letters, digits, . - _") -}}
{{- end -}}
{{- $path = trimPrefix $master $path | trimPrefix "/" -}}
{{- end -}}
{{- if regexMatch "[?#]" $path -}}
{{- include "cronlatch.badUrl" (list "the URL has a '?' or '#' part" "Remove it, and set options in defaults") -}}
{{- end -}}
{{- $database := include "cronlatch.number" $path -}}
{{- if not (and (regexMatch "^[0-9]*$" $path) (le (len $database) 5) (le (int $database) 65535)) -}}
{{- include "cronlatch.badUrl" (list "the database number after the host must be 0 to 65535") -}}
{{- else if and (hasSuffix "cluster" .scheme) (ne $database "0") -}}
{{- include "cronlatch.badUrl" (list "a Redis Cluster has only database 0" "Remove the number after the hosts") -}}
{{- end -}}
{{- end -}}

{{- /* host[:port][,host...]/database[?options] */ -}}
{{- define "cronlatch.checkPostgresTarget" -}}
{{- if contains "#" . -}}{{- include "cronlatch.badUrl" (list "the URL has a '#' part") -}}{{- end -}}
{{- $target := regexFind "^[^?]*" . -}}
{{- $hosts := regexFind "^[^/]*" $target -}}
{{- $database := trimPrefix $hosts $target | trimPrefix "/" -}}
{{- if gt (splitList "," $hosts | len) 8 -}}{{- include "cronlatch.badUrl" (list "the URL has more than 8 hosts") -}}{{- end -}}
{{- range splitList "," $hosts -}}{{- include "cronlatch.checkStoreHost" . -}}{{- end -}}
{{- if not $database -}}
{{- include "cronlatch.badUrl" (list "the database after the host is missing" "Write for example postgres://cronlatch@db.example.com/cronlatch") -}}
{{- else if or (regexMatch "[/%]" $database) (gt (len $database) 63) -}}
{{- include "cronlatch.badUrl" (list "the database must be 1 to 63 bytes without blanks, '/', '%', '#' and '@'") -}}
{{- end -}}
{{- /* An '&' at the end is followed by no option. */ -}}
{{- with trimPrefix $target . | trimPrefix "?" -}}
{{- range splitList "&" (trimSuffix "&" .) -}}
{{- if and (hasPrefix "sslmode=" .) (not (has . (list "sslmode=verify-full" "sslmode=require" "sslmode=disable"))) -}}
{{- include "cronlatch.badUrl" (list "sslmode must be verify-full, require or disable" "Remove it: the default verify-full verifies the certificate and the host's name") -}}
{{- else if and (hasPrefix "wake=" .) (ne . "wake=poll") -}}
{{- include "cronlatch.badUrl" (list "wake must be poll, or must be removed") -}}
{{- else if not (or (hasPrefix "sslmode=" .) (eq . "wake=poll" "target_session_attrs=read-write")) -}}
{{- include "cronlatch.badUrl" (list "the URL can have the options sslmode and wake only" "Set others in defaults") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* host or host:port */ -}}
{{- define "cronlatch.checkStoreHost" -}}
{{- $host := hasPrefix "[" . | ternary (regexFind "^[^]]*[]]?" .) (regexFind "^[^:]*" .) -}}
{{- $port := trimPrefix $host . -}}
{{- if and (hasPrefix "[" .) (not (regexMatch "^[[][0-9a-fA-F:.]+[]]$" $host)) -}}
{{- include "cronlatch.badUrl" (list "the text in brackets is not an IPv6 address") -}}
{{- else if regexMatch ":.*:" $port -}}
{{- include "cronlatch.badUrl" (list "an IPv6 address must be in brackets, as in [fd00::1]:6379") -}}
{{- else if not $host -}}
{{- include "cronlatch.badUrl" (list "the host is missing") -}}
{{- else if not (or (hasPrefix "[" .) (and (regexMatch "^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*[.]?$" $host) (le (len $host) 254))) -}}
{{- include "cronlatch.badUrl" (list "the host contains a character that is not valid in a host name") -}}
{{- else if not (regexMatch "^(:[0-9]+)?$" $port) -}}
{{- include "cronlatch.badUrl" (list "the port must be 1 to 65535, in digits") -}}
{{- end -}}
{{- include "cronlatch.checkPortOf" (dict "name" "store.url" "host" .) -}}
{{- end -}}
