// Judges the events of "go test -json":  node tests.mjs EVENTS STDERR EXIT-CODE
// Prints what failed, and fails when a test failed, was skipped, or none ran.
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [events, stderr, code] = process.argv.slice(2);
const output = new Map();
const counts = { pass: 0, fail: 0, skip: 0 };
const packages = new Map();
const bad = [];
for await (const line of createInterface({ input: createReadStream(events) })) {
  const e = JSON.parse(line);
  const name = e.ImportPath ?? `${e.Package} ${e.Test ?? ''}`.trim();
  if (e.Action === 'output' || e.Action === 'build-output') {
    if (!output.has(name)) output.set(name, []);
    output.get(name).push(e.Output);
  } else if (e.Action === 'build-fail') {
    bad.push(name);
  } else if (e.Test && e.Action in counts) {
    counts[e.Action]++;
    if (e.Action !== 'pass') bad.push(name);
    output.delete(e.Action === 'pass' ? name : '');
  } else if (!e.Test && e.Action === 'fail') {
    bad.push(name);
  } else if (!e.Test && (e.Action === 'pass' || e.Action === 'skip')) {
    packages.set(e.Package, e);
  }
}
for (const name of bad) console.log(`--- ${name}\n${(output.get(name) ?? []).join('')}`);
const errors = readFileSync(stderr, 'utf8');
if (errors && code !== '0') console.log(errors);
const slow = [...packages.values()].sort((a, b) => b.Elapsed - a.Elapsed).slice(0, 5);
console.log(`${counts.pass} passed, ${counts.fail} failed, ${counts.skip} skipped; slowest: ` +
  slow.map(e => `${e.Package.split('/').slice(3).join('/')} ${e.Elapsed.toFixed(0)}s`).join(', '));
if (code !== '0' || bad.length || !counts.pass) {
  console.log(counts.pass ? `failed (exit code ${code})` : 'no test ran');
  process.exit(1);
}
