#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SEED STAGE FOLDER: performs the plan of one seed and writes its history to FOLDER. STAGE contains the programs and the
certificates (chaos.py prepares it). checker.py judges the history; this program does not."""
import asyncio
import json
import os
import random
import signal
import sys
import time

import contender as contenders
import plan as plans
from contender import Contender, now
from faults import Injector
from proxy import Proxy
from server import Server

END_LIMIT = 120  # seconds after the last planned fault; the runs of a plan take less than a minute together
LAG_GAP, LAG_REPORTED = 0.02, 0.1


class Run:
    def __init__(self, plan, stage, folder):
        self.plan = plan
        self.folder = folder
        password = "canary-" + "".join(random.choices("0123456789abcdef", k=24))
        self.stage = {
            "folder": folder, "life": os.path.join(folder, "life"), "password": password,
            "command": os.path.join(stage, "command"), "wrapper": os.path.join(stage, "wrapper"),
            "ca": os.path.join(stage, "tls", "ca.pem"),
        }
        certificates = {name: os.path.join(stage, "tls", name) for name in ("good", "rotated", "foreign")}
        self.server = Server(folder, {**certificates, "ca": self.stage["ca"]}, os.path.join(stage, "clock.so"), password)
        self.proxies = [Proxy(lambda: self.server.port) for _ in range(plans.PATHS)]
        self.contenders = [Contender(each, self.stage) for each in plan["contenders"]]
        self.events = open(os.path.join(folder, "events"), "a", buffering=1)
        self.watchers = []

    def record(self, what, **details):
        self.events.write(json.dumps({"at": now(), "what": what, **details}) + "\n")

    def prepare(self):
        os.makedirs(os.path.join(self.folder, "out"))
        # A contender of another user writes here.
        os.chmod(os.path.join(self.folder, "out"), 0o777)
        for name, content in (("life", ""), ("password", self.stage["password"] + "\n")):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(content)
        os.chmod(self.stage["life"], 0o666)
        with open(os.path.join(self.folder, "plan"), "w") as file:
            json.dump(self.plan, file, indent=1)

    async def watch_host(self):
        for processor in os.sched_getaffinity(0):
            self.watchers.append(await asyncio.create_subprocess_exec(
                "setpriv", "--pdeathsig", "KILL", self.stage["command"], "watch",
                os.path.join(self.folder, f"host.{processor}"), str(processor)))

    async def watch_self(self):
        """This program also forwards the packets: a pause of its own is a fault that the plan does not contain."""
        while True:
            due = now() + int(LAG_GAP * 1e9)
            await asyncio.sleep(LAG_GAP)
            if now() - due > LAG_REPORTED * 1e9:
                self.record("lag", **{"from": due, "until": now()})

    async def at(self, begin, seconds):
        await asyncio.sleep(max(0, seconds - (now() - begin) / 1e9))

    async def contend(self, each, begin):
        await self.at(begin, each.plan["at"])
        self.record("started", contender=each.id)
        await each.start(self.proxies[each.plan["path"]].port)
        code = await each.process.wait()
        self.record("ended", contender=each.id, code=code)

    async def fault(self, injector, each, begin):
        await self.at(begin, each["at"])
        await injector.inject(each)

    async def perform(self):
        self.prepare()
        await self.server.start()
        for proxy in self.proxies:
            await proxy.open()
        await self.watch_host()
        lag = asyncio.ensure_future(self.watch_self())
        injector = Injector(self, self.plan["guardian"])
        begin = now()
        self.record("begin", wall_us=time.time_ns() // 1000)
        faults = [asyncio.ensure_future(self.fault(injector, each, begin)) for each in self.plan["faults"]]
        runs = [asyncio.ensure_future(self.contend(each, begin)) for each in self.contenders]
        try:
            await asyncio.gather(*faults)
            await asyncio.wait(runs, timeout=END_LIMIT)
            for each in self.contenders:
                if each.is_running:
                    self.record("stuck", contender=each.id)
            # A process that outlives its run writes a few more lines now.
            await asyncio.sleep(0.2)
            self.record("contents", **await self.server.contents(contenders.LOCK))
        finally:
            lag.cancel()
            await self.clean_up(faults + runs)

    async def clean_up(self, tasks):
        self.record("cleanup")
        for each in self.contenders:
            contenders.signal_all(each.pids("wrapper"), signal.SIGKILL)
        await asyncio.sleep(0.1)
        # Those that are left when every wrapper has ended.
        left = [pid for pid, _ in contenders.processes_of(self.stage)]
        contenders.signal_all(left, signal.SIGKILL)
        for task in tasks:
            task.cancel()
        for each in self.watchers + [self.server.process]:
            if each is not None and each.returncode is None:
                each.kill()
                await each.wait()
        for proxy in self.proxies:
            if proxy.server is not None:
                await proxy.shut()


async def main():
    seed, stage, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    run = Run(plans.make(seed), stage, folder)
    this = asyncio.current_task()
    for signo in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(signo, this.cancel)
    await run.perform()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        sys.exit(130)
