# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy with faults. The contenders of one path connect through it to the store; TLS passes through."""
import asyncio
import contextlib
import socket
import struct

GAP = 0.01  # seconds between two slices of a slow path


class Proxy:
    """set_fault(kind) starts a fault, heal(then) ends it. Without a fault it forwards bytes at once."""

    def __init__(self, upstream_port):
        self.upstream_port = upstream_port  # a function: the port changes when the store restarts
        # It never listens. While the proxy is closed, it keeps the port from other programs.
        self.reserved = socket.socket()
        self.reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved.bind(("127.0.0.1", 0))
        self.port = self.reserved.getsockname()[1]
        self.fault = {"kind": None}
        self.changed = asyncio.Event()
        self.connections = set()
        self.tasks = set()
        self.server = None

    async def open(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", self.port)

    async def shut(self):
        self.server.close()
        self.reserved.close()
        self.cut()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def set_fault(self, fault):
        self.fault = fault
        if fault["kind"] in ("refuse", "close", "cut"):
            self.cut()
        if fault["kind"] == "close":
            self.server.close()
        if fault["kind"] == "cut":
            self.fault = {"kind": None}

    async def heal(self):
        fault, self.fault = self.fault, {"kind": None}
        if fault.get("then") == "drop":
            self.cut()
        if fault["kind"] == "close":
            await self.open()
        self.changed.set()
        self.changed = asyncio.Event()

    def cut(self):
        for writer in list(self.connections):
            self.reset(writer)

    def reset(self, writer):
        """The peer sees a reset, not an orderly end."""
        self.connections.discard(writer)
        with contextlib.suppress(OSError):
            peer = writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def accept(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        self.connections.add(writer)
        if self.fault["kind"] == "refuse":
            return self.reset(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.upstream_port())
        except OSError:
            return self.reset(writer)
        self.connections.add(far_writer)
        pumps = [asyncio.ensure_future(self.pump(*pair)) for pair in
                 ((reader, far_writer, "up"), (far_reader, writer, "down"))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for each in (writer, far_writer):
                self.connections.discard(each)
                each.close()

    async def pump(self, reader, writer, direction):
        with contextlib.suppress(ConnectionError, OSError):
            while data := await reader.read(4096):
                await self.forward(data, writer, direction)

    async def forward(self, data, writer, direction):
        while self.fault["kind"] in ("hole", direction):
            await self.changed.wait()
        if self.fault["kind"] == "delay":
            await asyncio.sleep(self.fault["delay"])
        while data and self.fault["kind"] == "slow":
            size = self.fault["bytes"]
            writer.write(data[:size])
            data = data[size:]
            await asyncio.sleep(GAP)
        if data:
            writer.write(data)
        await writer.drain()
