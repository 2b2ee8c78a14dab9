// A test double of actions/download-artifact. As there, a name that is missing
// is a failure and a pattern that matches nothing is none; links are never made.
const fs = require('node:fs');
const path = require('node:path');

const input = name => process.env[`INPUT_${name.toUpperCase()}`] ?? '';
const fail = message => { console.log(`::error::Unable to download artifact(s): ${message}`); process.exit(1); };

const name = input('name') || input('pattern');
if (!name || /[*?[\]{}!+@()\\]/.test(name)) fail(`the test double cannot look for ${JSON.stringify(name)}`);
const from = path.join(process.env.STUB_ARTIFACTS, name);
const to = input('name') || input('merge-multiple') === 'true' ? path.resolve(input('path')) : path.resolve(input('path'), name);
if (fs.existsSync(from)) {
  fs.cpSync(from, to, { recursive: true });
} else if (input('name')) {
  fail(`Artifact not found for name: ${name}`);
}
console.log(`Total of ${fs.existsSync(from) ? 1 : 0} artifact(s) downloaded`);
