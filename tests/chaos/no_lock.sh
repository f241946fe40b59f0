#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The control of the chaos runs: it takes the arguments of `cronlatch run` and runs the command without a lock. The checker must
# find that.
while [ "$1" != -- ]; do shift; done
shift
CRONLATCH_FENCE=$(date +%s%6N)
export CRONLATCH_FENCE
exec "$@"
