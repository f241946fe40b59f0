#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/versions/smoke.sh NAME CONTRACT-TESTS OTHER-TESTS: the part of the suites that depends most on the server's version, on the
# server NAME (scripts/servers.sh). OTHER-TESTS: of Redis those of tests/scripts, of PostgreSQL those of tests/postgres.
# Exit code 77: the server cannot be had within seconds, for example without a package index.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
if ! server=$(timeout 60 bash scripts/servers.sh "$1"); then
  echo "skip  version/$1: the server cannot be downloaded"
  exit 77
fi
case $1 in
  postgres-*)
    export TEST_POSTGRES_BIN=$server
    "$2" --gtest_brief=1 --gtest_filter='Stores/StoreContract.*/Postgres'
    "$3" --gtest_brief=1 --gtest_filter='PostgresStore.*Schema*:PostgresStore.Accepts*:PostgresStrict.*'
    ;;
  *)
    export TEST_REDIS_SERVER=$server
    "$2" --gtest_brief=1 --gtest_filter='Stores/StoreContract.*/RedisPlain:RedisRefusal.*:RedisQueue.*'
    "$3" --gtest_brief=1 --gtest_filter='*Rights.*:MissingCommand.*:Property.*ByTheServersClock'
    ;;
esac
