#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The specification finds no error, and a counter-example in every variant. LONG_TESTS=1: also the long checks.
exec bash "$(dirname -- "${BASH_SOURCE[0]}")/../../scripts/spec.sh"
