# SPDX-License-Identifier: Apache-2.0
"""The store of one run: a real redis-server with TLS, an append-only file with fsync always, and a clock that steps."""
import asyncio
import os
import shutil
import signal
import socket
import struct

# The rights of docs/operations.md.
RIGHTS = ("resetkeys ~cronlatch:* resetchannels -@all +hello +auth +select +time +eval +evalsha +type +hmget +hset"
          " +persist +pexpire +pttl +zadd +zrem +zmscore +zcard +zrangebyscore +zremrangebyrank")
START_LIMIT = 60  # seconds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read_reply(lines):
    line = lines.readline()
    if not line:
        raise ConnectionError("the server closed the connection")
    kind, rest = line[:1], line[1:].strip()
    if kind == b"-":
        raise RuntimeError(rest.decode())
    if kind == b"$":
        return lines.read(int(rest) + 2)[:-2].decode() if int(rest) >= 0 else None
    if kind == b"*":
        return [read_reply(lines) for _ in range(int(rest))]
    return rest.decode()


class Server:
    def __init__(self, folder, certificates, preload, password):
        self.folder = os.path.join(folder, "redis")
        self.certificates = certificates
        self.preload = preload
        self.process = None
        self.port = 0
        self.step = 0
        os.makedirs(os.path.join(self.folder, "data"))
        with open(os.path.join(self.folder, "users.acl"), "w") as users:
            users.write("user default on resetpass ~* &* +@all\n"
                        f"user cron on >{password} {RIGHTS}\nuser admin on >admin ~* &* +@all\n")
        with open(os.path.join(self.folder, "step"), "wb") as step:
            step.write(struct.pack("q", 0))

    async def start(self):
        for _ in range(5):
            self.port = free_port()
            await self.launch()
            if await self.is_ready():
                return
            await self.kill()
        with open(os.path.join(self.folder, "log")) as log:
            raise RuntimeError("redis-server does not start:\n" + log.read()[-2000:])

    async def launch(self):
        tls = self.certificates
        arguments = [
            "redis-server", "--port", "0", "--tls-port", self.port, "--bind", "127.0.0.1", "--unixsocket", "../socket",
            "--dir", "data", "--logfile", "../log", "--save", "", "--appendonly", "yes", "--appendfsync", "always",
            "--maxmemory-policy", "noeviction", "--aclfile", os.path.join(self.folder, "users.acl"),
            "--tls-cert-file", tls["good"] + ".pem", "--tls-key-file", tls["good"] + ".key",
            "--tls-ca-cert-file", tls["ca"], "--tls-auth-clients", "no"]
        environment = {**os.environ, "LD_PRELOAD": self.preload, "CLOCK_STEP_FILE": os.path.join(self.folder, "step")}
        # The kernel ends the server when this process dies.
        self.process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "KILL", *map(str, arguments), cwd=self.folder, env=environment,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)

    async def is_ready(self):
        for _ in range(START_LIMIT * 50):
            if self.process.returncode is not None:
                return False
            try:
                if await self.command("PING") == "PONG":
                    return True
            except (OSError, RuntimeError):
                await asyncio.sleep(0.02)
        return False

    async def command(self, *words):
        return await asyncio.to_thread(self.send, words)

    def send(self, words):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            # A relative path would depend on the working directory; a long one is refused by the kernel.
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                client.connect(f"/proc/self/fd/{folder}/socket")
            finally:
                os.close(folder)
            lines = client.makefile("rb")
            for command in (("AUTH", "admin", "admin"), words):
                parts = [str(word).encode() for word in command]
                client.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
                reply = read_reply(lines)
            return reply

    async def kill(self):
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def lose_data(self):
        shutil.rmtree(os.path.join(self.folder, "data"))
        os.makedirs(os.path.join(self.folder, "data"))

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def step_clock(self, seconds):
        self.step += int(seconds * 1_000_000)
        with open(os.path.join(self.folder, "step"), "r+b") as step:
            step.write(struct.pack("q", self.step))

    async def use_certificate(self, name):
        path = self.certificates[name]
        await self.command("CONFIG", "SET", "tls-cert-file", path + ".pem", "tls-key-file", path + ".key")

    async def contents(self, lock):
        """The fields of the lock's record and of its statistics."""
        found = {}
        for name, key in (("record", f"cronlatch:{{{lock}}}"), ("stats", f"cronlatch:{{{lock}}}:stats")):
            flat = await self.command("HGETALL", key)
            found[name] = dict(zip(flat[::2], flat[1::2]))
        return found
