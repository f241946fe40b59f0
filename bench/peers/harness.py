# SPDX-License-Identifier: Apache-2.0
# Gate: the socket that the commands under a lock connect to. Its peers start and end when the harness decides.
import os
import socket
import subprocess
import time

DEADLINE = 180  # seconds, for one step of a measurement


class Gate:
    def __init__(self, path, hold):
        self.command = [hold, path]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(16)
        self.socket.settimeout(DEADLINE)

    def next(self):
        """The connection of the next command that starts; closing it ends the command."""
        return self.socket.accept()[0]


def wait_until(what, condition):
    limit = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(what)
        time.sleep(0.05)


def seconds_of(argv, env=None):
    """The time of a command from its start to its end."""
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, env or os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    status = os.waitpid(pid, 0)[1]
    took = time.perf_counter() - start
    if status != 0:
        raise RuntimeError(f"{argv}: status {status}")
    return took


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmRSS:")), 0)


def output(*argv, env=None):
    return subprocess.run(argv, check=True, capture_output=True, text=True, env=env).stdout


class Commands:
    """The clients of a program with a command line: one process for each."""

    def __init__(self, gate, argv_of, waiting_of, log=None, env=None):
        self.gate, self.argv_of, self.waiting_of, self.env = gate, argv_of, waiting_of, env
        self.log = open(log, "ab") if log else subprocess.DEVNULL
        self.running = []

    def join(self):
        self.running.append(subprocess.Popen(self.argv_of(self.gate.command), env=self.env, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, stderr=self.log, start_new_session=True))

    def waiting(self):
        for one in self.running:
            if one.poll():  # neither running nor ended with 0
                raise RuntimeError(f"{one.args}: ended with {one.returncode}")
        return self.waiting_of()

    def granted(self):
        self.running = [one for one in self.running if one.poll() is None]

    def memory_kb(self):
        return resident_kb(self.running[-1].pid)

    def stop(self):
        for one in self.running:
            try:
                os.killpg(one.pid, 9)
            except ProcessLookupError:
                pass
        for one in self.running:
            one.wait()


class Agent:
    """The clients of a library: one process, with a client for each line of its standard input."""

    def __init__(self, argv, env=None):
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.queued = 0

    def join(self):
        self.process.stdin.write(b"join\n")
        self.process.stdin.flush()

    def waiting(self):
        self.queued += (self.process.stdout.read() or b"").count(b"\n")
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.process.args}: ended with {self.process.returncode}")
        return self.queued

    def granted(self):
        self.queued -= 1

    def memory_kb(self):
        return resident_kb(self.process.pid)

    def stop(self):
        os.killpg(self.process.pid, 9)
        self.process.wait()
