// Runs one user script. Everything that is used after the script has started is
// captured here first, so that a script, or data that a script merges carelessly,
// cannot change how its result is reported.
(async () => {
  'use strict';
  const { readSync, writeSync } = require('node:fs');
  const { parse, stringify } = JSON;
  const { freeze, keys } = Object;
  const { exec } = RegExp.prototype;
  const { apply, deleteProperty: unset } = Reflect;
  const { prototype: objects } = Object;
  const { isArray, prototype: arrays } = Array;
  const AsyncFunction = (async () => {}).constructor;
  const place = /script\.js:(\d{1,7}):/;

  const read = () => {
    const chunks = [];
    for (;;) {
      const chunk = Buffer.allocUnsafe(1 << 20);
      const n = readSync(0, chunk, 0, chunk.length, null);
      if (n === 0) return Buffer.concat(chunks).toString('utf8');
      chunks.push(chunk.subarray(0, n));
    }
  };

  const deepFreeze = (value) => {
    if (value === null || typeof value !== 'object') return value;
    if (isArray(value)) for (let i = 0; i < value.length; i++) deepFreeze(value[i]);
    else for (const key of keys(value)) deepFreeze(value[key]);
    return freeze(value);
  };

  const { nonce, parameters, script, args, limit } = parse(read());
  deepFreeze(args);

  const send = (word, text) => {
    let frame = nonce + ' ' + word;
    if (text !== undefined) frame += ' ' + text;
    if (frame.length >= limit) frame = nonce + ' oversize';
    writeSync(3, frame + '\n');
  };

  // Where in the script an error arose, as a line number and nothing else: its
  // message may quote the data.
  const line = (error, above) => {
    try {
      const found = apply(exec, place, [error.stack]);
      return found === null ? undefined : '' + (found[1] - above);
    } catch {
      return undefined;
    }
  };

  const source = (script.startsWith('#!') ? '//' : '') + script + '\n//# sourceURL=script.js';
  let body;
  try {
    body = new AsyncFunction(...parameters, 'require', 'module', 'exports', '"use strict";' + source);
  } catch {
    body = undefined; // not a function body: a module, or not JavaScript at all
  }

  let value;
  if (body === undefined) {
    let main;
    try {
      main = (await import('data:text/javascript;base64,' + Buffer.from(source).toString('base64'))).default;
      if (typeof main !== 'function') return send('shape');
      value = await main(...args);
    } catch (error) {
      if (main === undefined && error instanceof SyntaxError) return send('syntax');
      return send('threw', line(error, 0));
    }
  } else {
    try {
      const exports = {};
      const module = { exports };
      value = await body(...args, require, module, exports);
      const exported = module.exports;
      const main = typeof exported === 'function' ? exported : exported?.default;
      if (typeof main === 'function') value = await main(...args);
      else if (exported !== exports || keys(exports).length > 0) return send('shape');
    } catch (error) {
      return send('threw', line(error, 2)); // the compiled function has two lines above the script
    }
  }

  let text;
  try {
    // Only what the result itself holds counts: toJSON is looked up on prototypes.
    if (!(unset(objects, 'toJSON') && unset(arrays, 'toJSON'))) return send('shape');
    text = value === undefined ? undefined : stringify(value);
  } catch {
    return send('shape');
  }
  if (value === undefined) return send('nothing');
  if (text === undefined) return send('shape');
  return send('value', text);
})();
