# SPDX-License-Identifier: Apache-2.0
"""Injects the faults of a plan into a run, and records when each was in effect."""
import asyncio
import signal

import contender as contenders
from contender import now

TARGET_LIMIT = 3  # seconds to wait for a process that the fault can hit
WITNESS_GAP = 0.02
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "term": signal.SIGTERM}


class Injector:
    def __init__(self, run, guardian):
        self.run = run
        self.guardian = guardian
        self.server_in_use = asyncio.Lock()
        self.paths_in_use = [asyncio.Lock() for _ in run.proxies]

    async def inject(self, fault):
        handler = {"process": self.process, "network": self.network, "server": self.server, "clock": self.clock}
        await handler[fault["class"]](fault)

    def record(self, fault, begin, **details):
        self.run.record("fault", **{**fault, **details, "from": begin, "until": now()})

    # ---- processes ----

    def candidates(self, fault):
        holding = {id for _, id in contenders.processes_of(self.run.stage)}
        wanted = fault["target"] == "holder"
        return [each for each in self.run.contenders if each.is_running and (each.id in holding) == wanted]

    async def find_target(self, fault):
        who = "wrapper" if fault["target"] == "waiter" else fault["who"]
        for _ in range(TARGET_LIMIT * 50):
            for each in self.candidates(fault):
                pids = [] if each.stopped else each.pids(who)
                if pids:
                    return each, who, pids
            await asyncio.sleep(0.02)
        return None

    async def process(self, fault):
        found = await self.find_target(fault)
        if found is None:
            return self.run.record("missed", **fault)
        target, who, pids = found
        if fault["kind"] == "kill" and who != "command" and target.loses_descendants() and not self.guardian:
            who, pids = "command", target.pids("command")
        begin = now()
        target.stopped = fault["kind"] == "stop"
        contenders.signal_all(pids, SIGNALS[fault["kind"]])
        if fault["kind"] != "stop":
            return self.record(fault, begin, contender=target.id, who=who)
        try:
            await self.witness(target, pids, begin + int(fault["seconds"] * 1e9))
        finally:
            target.resume(pids)
            target.stopped = False
        self.record(fault, begin, contender=target.id, who=who)

    async def witness(self, target, pids, end):
        """A stopped process writes nothing, but is alive: this writes for it."""
        commands = {pid for pid, _ in contenders.processes_of(self.run.stage, target.id)}
        with open(self.run.stage["life"], "a", buffering=1) as life:
            while now() < end:
                for at, pid in target.proven_alive([pid for pid in pids if pid in commands]):
                    life.write(f"{at} alive {target.id} {pid} -\n")
                await asyncio.sleep(WITNESS_GAP)

    # ---- the way to the store ----

    async def network(self, fault):
        paths = sorted(fault["paths"])
        for path in paths:
            await self.paths_in_use[path].acquire()
        begin = now()
        try:
            for path in paths:
                await self.run.proxies[path].set_fault(fault)
            await asyncio.sleep(fault.get("seconds", 0))
            for path in paths:
                await self.run.proxies[path].heal()
        finally:
            self.record(fault, begin)
            for path in paths:
                self.paths_in_use[path].release()

    # ---- the store ----

    async def server(self, fault):
        async with self.server_in_use:
            begin, details = now(), {}
            try:
                details = await getattr(self, fault["kind"])(self.run.server, fault.get("seconds", 0))
            finally:
                self.record(fault, begin, **(details or {}))

    async def restart(self, server, length):
        await server.kill()
        await asyncio.sleep(length)
        await server.start()

    async def empty(self, server, length):
        await server.kill()
        # Between the last grant of the old data and the first one of the new data.
        lost = now()
        await server.lose_data()
        await asyncio.sleep(length)
        await server.start()
        return {"lost": lost}

    async def pause(self, server, length):
        server.pause()
        try:
            await asyncio.sleep(length)
        finally:
            server.resume()

    async def rotate(self, server, _):
        await server.use_certificate("rotated")

    async def foreign(self, server, length):
        await server.use_certificate("foreign")
        await asyncio.sleep(length)
        await server.use_certificate("good")

    async def clock(self, fault):
        async with self.server_in_use:
            begin = now()
            self.run.server.step_clock(fault["step"])
            self.record(fault, begin)
