// SPDX-License-Identifier: Apache-2.0
// agent.js PORT LOCK run|wait COMMAND...: the command under a lock of redlock, with ioredis. `run`: once. `wait`: one
// client for each line of standard input; "waiting" on standard output when its first request was refused.
const { spawn } = require('child_process');
const Redis = require('ioredis');
const Redlock = require('redlock');

const [port, lock, mode, ...command] = process.argv.slice(2);
const TTL = 600000;

async function once(redis, report) {
  const first = new Redlock([redis], { retryCount: 0 });
  const patient = new Redlock([redis], { retryCount: -1 }); // the default delay: 200 ms and up to 100 ms
  let held;
  try {
    held = await first.lock(lock, TTL);
  } catch (refused) {
    report('waiting');
    held = await patient.lock(lock, TTL);
  }
  const code = await new Promise((done) => spawn(command[0], command.slice(1), { stdio: 'ignore' }).on('exit', done));
  await held.unlock();
  return code;
}

if (mode === 'run') {
  const redis = new Redis(port, '127.0.0.1');
  once(redis, () => {}).then((code) => process.exit(code));
} else {
  const report = (text) => process.stdout.write(text + '\n');
  process.stdin.on('data', (data) => {
    for (const byte of data) if (byte === 10) once(new Redis(port, '127.0.0.1'), report);
  });
  process.stdin.on('end', () => process.exit(0));
}
