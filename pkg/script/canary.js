// Tries what a script must not be able to do, in the sandbox that the script is
// about to get. An attempt counts as denied only when it failed for want of
// permission or reach; every other outcome, success included, counts as allowed.
(async () => {
  'use strict';
  const { readSync, writeSync } = require('node:fs');
  const chunk = Buffer.alloc(1 << 16);
  const { nonce, file, absent, parent } = JSON.parse(chunk.toString('utf8', 0, readSync(0, chunk, 0, chunk.length, null)));
  const fs = require('node:fs');

  const refusals = new Set([
    'ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED', 'ERR_UNKNOWN_BUILTIN_MODULE', 'MODULE_NOT_FOUND',
    'EACCES', 'EPERM', 'ENETUNREACH', 'ESRCH',
  ]);
  const denied = async (attempt) => {
    let uncaught; // Node 25 refuses some calls only after they have returned
    const later = new Promise((_, reject) => (uncaught = reject));
    process.once('uncaughtException', uncaught);
    try {
      await Promise.race([attempt(), later]);
      return false;
    } catch (error) {
      return refusals.has(error?.code);
    } finally {
      process.off('uncaughtException', uncaught);
    }
  };
  const all = async (...attempts) => {
    for (const attempt of attempts) if (!(await denied(attempt))) return false;
    return true;
  };
  const connect = (where) => () => new Promise((resolve, reject) => {
    const socket = require('node:net').connect(where);
    socket.on('connect', resolve);
    socket.on('error', reject);
  });
  const datagram = () => new Promise((resolve, reject) => {
    const socket = require('node:dgram').createSocket('udp4');
    socket.on('error', reject);
    socket.send('x', 1, '127.0.0.1', (error) => (error ? reject(error) : resolve()));
  });
  const listen = () => new Promise((resolve, reject) => {
    const server = require('node:net').createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  const report = {
    read: await all(
      () => fs.readFileSync(file),
      () => fs.readFileSync(Buffer.from(file)),
      () => fs.readFileSync(new URL('file://' + file)),
      () => fs.promises.readFile(file),
      () => fs.readdirSync('/'),
      () => fs.statSync(file),
      () => require(file),
      () => import('file://' + file),
    ),
    write: await all(
      () => fs.writeFileSync(absent, 'x'),
      () => fs.mkdirSync(absent),
      () => fs.symlinkSync(file, absent),
      () => fs.appendFileSync(file, 'x'),
      () => fs.rmSync(file),
    ),
    environment: await all(
      () => fs.readFileSync('/proc/self/environ'),
      () => fs.readFileSync('/proc/1/environ'),
      () => fs.readFileSync('/proc/' + parent + '/environ'),
      () => fs.readFileSync('/proc/' + parent + '/mem'),
    ),
    sqlite: await denied(() => {
      const { DatabaseSync } = require('node:sqlite');
      new DatabaseSync(file).close();
    }),
    spawn: await all(
      () => {
        const { error } = require('node:child_process').spawnSync(process.execPath, ['--version']);
        if (error) throw error;
      },
      () => new Promise((resolve, reject) => {
        const child = require('node:child_process').spawn(process.execPath, ['--version']);
        child.on('error', reject);
        child.on('spawn', resolve);
      }),
    ),
    thread: await denied(() => new (require('node:worker_threads').Worker)('0', { eval: true })),
    addon: await denied(() => process.dlopen({ exports: {} }, file)),
    signal: await all(
      () => process.kill(parent, 0),
      // Inside its own process namespace the parent is 0, which kill would read as "my own group".
      () => (process.ppid === 0 ? process.kill(parent, 0) : process.kill(process.ppid, 0)),
      () => process.kill(-1, 0),
    ),
    tcp: await all(connect({ host: '127.0.0.1', port: 1 }), connect({ host: '::1', port: 1 }), listen),
    udp: await denied(datagram),
    unix: await all(connect({ path: absent }), connect({ path: '\0ledger-script-canary' })),
    variables: Object.keys(process.env).length === 0,
  };
  writeSync(3, nonce + ' value ' + JSON.stringify(report) + '\n');
  process.exit(0); // an attempt that was not stopped may have left something open
})();
