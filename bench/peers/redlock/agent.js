// SPDX-License-Identifier: Apache-2.0
// agent.js PORT[,PORT...] LOCK MODE COMMAND...: the command under a lock of redlock, with ioredis.
//   run     once, also if the program must wait
//   wait    one client for each line of standard input; "waiting" on standard output when its first request was refused
//   try     once, or exit code 9 when the lock is not free
//   extend  as run, and an extension after the command: exit code 8 when it is refused
// LOCK_TTL_MS: the life of the key.
const { spawn } = require('child_process');
const Redis = require('ioredis');
const Redlock = require('redlock');

const [ports, lock, mode, ...command] = process.argv.slice(2);
const TTL = Number(process.env.LOCK_TTL_MS || 600000);
const connect = () => ports.split(',').map((port) => new Redis(port, '127.0.0.1'));

async function once(servers, report) {
  const first = new Redlock(servers, { retryCount: 0 });
  const patient = new Redlock(servers, { retryCount: -1 }); // the default delay: 200 ms and up to 100 ms
  let held;
  try {
    held = await first.lock(lock, TTL);
  } catch (refused) {
    if (mode === 'try') return 9;
    report('waiting');
    held = await patient.lock(lock, TTL);
  }
  let code = await new Promise((done) => spawn(command[0], command.slice(1), { stdio: 'ignore' }).on('exit', done));
  // Without an attempt to acquire the lock again.
  if (mode === 'extend') held = await held.extend(TTL).catch(() => (code = 8, held));
  await held.unlock().catch((lost) => console.error(lost.message));
  return code;
}

if (mode !== 'wait') {
  once(connect(), () => {}).then((code) => process.exit(code));
} else {
  const report = (text) => process.stdout.write(text + '\n');
  process.stdin.on('data', (data) => {
    for (const byte of data) if (byte === 10) once(connect(), report);
  });
  process.stdin.on('end', () => process.exit(0));
}
