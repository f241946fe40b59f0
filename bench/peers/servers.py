# SPDX-License-Identifier: Apache-2.0
# The servers of the comparison, each started once, on 127.0.0.1, without TLS, and its number of executed commands.
import os
import re
import socket
import subprocess
import urllib.request

from harness import output, wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, argv, folder, user=None):
        self.log = os.path.join(folder, "log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=user)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Redis(Server):
    def __init__(self, folder):
        self.port = free_port()
        super().__init__(["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no",
                          "--maxclients", "5000", "--dir", folder], folder)
        wait_until("Redis is ready", lambda: subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True).stdout == b"PONG\n")
        self.readings = 0

    def commands(self):
        """All that it has executed, also in scripts; without the commands of this function."""
        calls = sum(int(n) for n in re.findall(r"calls=(\d+)", output("redis-cli", "-p", str(self.port), "info", "commandstats")))
        self.readings += 1
        return calls - self.readings + 1


class Etcd(Server):
    def __init__(self, folder, binary):
        self.port, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__([binary, "--data-dir", os.path.join(folder, "data"), "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
                          "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                          "--initial-cluster", f"default=http://127.0.0.1:{peer}"], folder)
        wait_until("etcd is ready", self.answers)

    def answers(self):
        try:
            return b"true" in urllib.request.urlopen(self.url + "/health", timeout=5).read()
        except OSError:
            return False

    def commands(self):
        """The messages of clients."""
        text = urllib.request.urlopen(self.url + "/metrics", timeout=30).read().decode()
        return sum(int(float(n)) for n in re.findall(r"^grpc_server_msg_received_total\{.*\} (\S+)$", text, re.M))


class Postgres(Server):
    def __init__(self, folder, programs, user):
        self.port, self.folder, self.psql = free_port(), folder, os.path.join(programs, "psql")
        data = os.path.join(folder, "data")
        subprocess.run([os.path.join(programs, "initdb"), "-D", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
                       check=True, user=user, capture_output=True)
        super().__init__([os.path.join(programs, "postgres"), "-D", data, "-c", f"port={self.port}", "-c", "listen_addresses=127.0.0.1",
                          "-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "max_connections=1100", "-c", "shared_buffers=32MB",
                          "-c", "log_statement=all"], folder, user)
        ready = os.path.join(programs, "pg_isready")
        wait_until("PostgreSQL is ready", lambda: subprocess.run([ready, "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0)
        self.sql("CREATE DATABASE cronlatch")

    def sql(self, text):
        return output(self.psql, "-X", "-At", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-c", text)

    def commands(self):
        """The statements of clients, from its log."""
        with open(self.log, "rb") as log:
            return len(re.findall(rb"LOG:  (?:statement|execute)", log.read()))
