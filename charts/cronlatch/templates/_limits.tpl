{{- /* SPDX-License-Identifier: Apache-2.0
Rendered from src/options/option_table.cc, src/admission, src/core/lease.h and src/core/timing_rule.h by `./dev gen`. Do not edit. JSON for
_options_check.tpl: the least and the greatest value (milliseconds, or bytes of a text), what the documents call them, and the
default; the words that are no lock's name; the terms of the rule for timings. */ -}}

{{- define "cronlatch.limits" -}}
{"durations": {
  "ttl": [5000, 3600000, "5s to 1h", "2m"],
  "renew-every": [200, 1200000, "200ms to 20m", ""],
  "wait-timeout": [0, 31536000000, "0 to 365d", "0"],
  "min-hold": [0, 604800000, "0 to 7d", "0"],
  "max-run": [0, 31536000000, "0 to 365d", "0"],
  "kill-after": [0, 3600000, "0 to 1h", "10s"],
  "warn-after": [0, 31536000000, "0 to 365d", "0"],
  "once-ttl": [60000, 31536000000, "1m to 365d", "35d"],
  "connect-timeout": [100, 60000, "100ms to 1m", "5s"],
  "op-timeout": [50, 60000, "50ms to 1m", ""],
  "max-ttl": [5000, 3600000, "5s to 1h", "10m"],
  "alert-after": [60000, 3153600000000, "1m or more, off", ""]},
"numbers": {
  "slots": [1, 1000, "1 to 1000", "1"],
  "min-replicas": [0, 32, "0 to 32", "0"]},
"texts": {
  "lock": [1, 200, "1 to 200 of letters, digits, . _ - /", ""],
  "redis-username": [1, 200, "1 to 200 bytes of UTF-8 without control characters", ""],
  "sentinel-username": [1, 200, "1 to 200 bytes of UTF-8 without control characters", ""],
  "tls-server-name": [1, 200, "1 to 200 bytes of UTF-8 without control characters", ""],
  "key-prefix": [1, 100, "1 to 100 bytes, no blanks, no braces", "cronlatch:"]},
"settings": {
  "lookup-timeout": [1000, 300000, "1s to 5m", "15s"]},
"reservedLocks": ["true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0", "enable", "enabled", "disable", "disabled"],
"timings": {
  "renewShare": 3,
  "opShare": 10,
  "gapShare": 30,
  "marginShare": 100,
  "renewPercent": 110,
  "longestRenew": 10000,
  "longestOp": 3000,
  "leastGap": 200,
  "longestGap": 1000,
  "leastGrace": 200,
  "fixedMargin": 700,
  "reap": 1000}}
{{- end -}}
