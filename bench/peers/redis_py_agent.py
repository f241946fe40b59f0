# SPDX-License-Identifier: Apache-2.0
# redis_py_agent.py PORT LOCK run|wait COMMAND...: the command under a Lock of redis-py. `run`: once. `wait`: one client
# for each line of standard input; "waiting" on standard output when its first request was refused.
import subprocess
import sys
import threading

import redis

PORT, NAME, MODE, COMMAND = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]


def once():
    lock = redis.Redis(port=PORT).lock(NAME, timeout=600)  # the default pause between requests: 0.1 s
    if not lock.acquire(blocking=False):
        print("waiting", flush=True)
        lock.acquire()
    code = subprocess.call(COMMAND)
    lock.release()
    return code


if MODE == "run":
    sys.exit(once())
for _ in sys.stdin:
    threading.Thread(target=once, daemon=True).start()
