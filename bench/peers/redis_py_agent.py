# SPDX-License-Identifier: Apache-2.0
# redis_py_agent.py PORT LOCK MODE COMMAND...: the command under a Lock of redis-py.
#   run     once, also if the program must wait
#   wait    one client for each line of standard input; "waiting" on standard output when its first request was refused
#   try     once, or exit code 9 when the lock is not free
#   extend  as run, and an extension after the command: exit code 8 when it is refused
# LOCK_TTL_MS: the life of the key.
import os
import subprocess
import sys
import threading

import redis

PORT, NAME, MODE, COMMAND = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
TTL = int(os.environ.get("LOCK_TTL_MS", "600000")) / 1000


def once():
    lock = redis.Redis(port=PORT).lock(NAME, timeout=TTL)  # the default pause between requests: 0.1 s
    if not lock.acquire(blocking=False):
        if MODE == "try":
            return 9
        print("waiting", flush=True)
        lock.acquire()
    code = subprocess.call(COMMAND)
    try:
        if MODE == "extend":
            lock.extend(TTL)
    except redis.exceptions.LockError:
        code = 8
    try:
        lock.release()
    except redis.exceptions.LockError as lost:
        print(lost, file=sys.stderr)
    return code


if MODE != "wait":
    sys.exit(once())
for _ in sys.stdin:
    threading.Thread(target=once, daemon=True).start()
