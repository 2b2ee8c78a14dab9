// Every attempt gets through in a process that nothing confines, unless its name
// is listed as one that cannot be tried there.
const { file, absent, port, unix, parent } = facts;
const fs = require("node:fs");
const settle = (emitter, good) => new Promise((resolve, reject) => {
  emitter.on("error", reject);
  emitter.on(good, resolve);
});
const connect = (where) => settle(require("node:net").connect(where), "connect");
const attempts = {
  "read a file": () => fs.readFileSync(file),
  "read a file named by bytes": () => fs.readFileSync(Buffer.from(file)),
  "read a file named by a URL": () => fs.readFileSync(new URL("file://" + file)),
  "read a file through a detour": () => fs.readFileSync("/proc/../" + file),
  "read a file by promise": () => fs.promises.readFile(file),
  "read a file as a stream": () => settle(fs.createReadStream(file), "data"),
  "read a file as a blob": async () => (await fs.openAsBlob(file)).text(),
  "require a file": () => require(file + ".json"),
  "import a file": () => import("file://" + file + ".mjs"),
  "list a folder": () => fs.readdirSync("/"),
  "look at a file": () => fs.statSync(file),
  "read its own environment": () => fs.readFileSync("/proc/self/environ"),
  "read the environment of its parent": () => fs.readFileSync(`/proc/${parent}/environ`),
  "read the memory of its parent": () => fs.readFileSync(`/proc/${parent}/mem`),
  "link to a file": () => fs.symlinkSync(file, absent + "-link"),
  "write a file": () => fs.writeFileSync(absent, ""),
  "make a folder": () => fs.mkdirSync(absent + "-dir"),
  "remove a file": () => fs.rmSync(file + ".gone"),
  "open a database": () => new (require("node:sqlite").DatabaseSync)(file + ".db").close(),
  "spawn a process": () => settle(require("node:child_process").spawn("/bin/true"), "exit"),
  "spawn a process and wait": () => {
    const { error } = require("node:child_process").spawnSync("/bin/true");
    if (error) throw error;
  },
  "fork itself": () => {
    const child = require("node:child_process").fork(file + ".mjs", { stdio: "ignore", execArgv: [] });
    return settle(child, "exit");
  },
  "start a thread": () => settle(new (require("node:worker_threads").Worker)("0", { eval: true }), "exit"),
  "become another program": () => process.execve("/bin/true", ["true"], {}),
  "reach inside node": () => process.binding("fs"),
  "load an addon": () => process.dlopen({ exports: {} }, file),
  "open the inspector": () => {
    require("node:inspector").open(0, "127.0.0.1");
    require("node:inspector").close();
  },
  "signal its parent": () => process.kill(parent, 0),
  "debug its parent": () => process._debugProcess(parent),
  "slow down its parent": () => require("node:os").setPriority(parent, 19),
  "signal everyone": () => process.kill(-1, 0),
  "connect over TCP": () => connect({ host: "127.0.0.1", port }),
  "connect over TCP by name": () => connect({ host: "localhost", port }),
  "connect to a Unix socket": () => connect({ path: unix }),
  "fetch": () => fetch("http://127.0.0.1:" + port).catch((error) => { throw error.cause }),
  "listen over TCP": () => {
    const server = require("node:net").createServer().listen(0, "127.0.0.1");
    return settle(server, "listening").then(() => server.close());
  },
  "send over UDP": () => new Promise((resolve, reject) => {
    const socket = require("node:dgram").createSocket("udp4");
    socket.on("error", reject);
    socket.send("x", port, "127.0.0.1", (error) => (socket.close(), error ? reject(error) : resolve()));
  }),
};
const outcome = async (attempt) => {
  let uncaught;
  const later = new Promise((_, reject) => (uncaught = reject));
  process.once("uncaughtException", uncaught);
  const timer = setTimeout(uncaught, 60000, "no outcome");
  try {
    await Promise.race([attempt(), later]);
    return "got through";
  } catch (error) {
    return `${error?.info?.code ?? error?.code ?? error}`;
  } finally {
    clearTimeout(timer);
    process.off("uncaughtException", uncaught);
  }
};
const results = {};
for (const name of facts.names ?? Object.keys(attempts)) results[name] = await outcome(attempts[name]);
setImmediate(() => process.exit());
return results;
