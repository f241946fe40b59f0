#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/versions/smoke.sh NAME CONTRACT-TESTS SCRIPTS-TESTS: the part of the suites that depends most on the server's version, on the
# server NAME (scripts/servers.sh). Exit code 77: the server cannot be had within seconds, for example without a package index.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
if ! TEST_REDIS_SERVER=$(timeout 60 bash scripts/servers.sh "$1"); then
  echo "skip  version/$1: the server cannot be downloaded"
  exit 77
fi
export TEST_REDIS_SERVER
"$2" --gtest_brief=1 --gtest_filter='Stores/StoreContract.*/RedisPlain:RedisRefusal.*:RedisQueue.*'
"$3" --gtest_brief=1 --gtest_filter='*Rights.*:MissingCommand.*:Property.*ByTheServersClock'
