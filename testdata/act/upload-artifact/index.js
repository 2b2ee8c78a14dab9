// A test double of actions/upload-artifact. It keeps what matters to a consumer:
// hidden files stay out unless they are asked for, excluded paths too; links are
// followed; a name that artifacts cannot have fails the upload; and names in the
// artifact are relative to the least common ancestor of the paths that were asked
// for, whether or not they exist.
const fs = require('node:fs');
const path = require('node:path');

const input = name => process.env[`INPUT_${name.toUpperCase()}`] ?? '';
const fail = message => { console.log(`::error::${message}`); process.exit(1); };

const lines = input('path').split('\n').map(line => line.trim()).filter(Boolean);
const wanted = lines.filter(line => !line.startsWith('!')).map(line => path.resolve(line));
const excluded = lines.filter(line => line.startsWith('!')).map(line => path.resolve(line.slice(1).trim()));
const hidden = input('include-hidden-files') === 'true';

const files = [];
function walk(at) {
  if (excluded.some(e => at === e || at.startsWith(e + path.sep))) return;
  const stat = fs.statSync(at, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) { files.push(at); return; }
  for (const name of fs.readdirSync(at).sort()) if (hidden || !name.startsWith('.')) walk(path.join(at, name));
}
wanted.forEach(walk);

const target = path.join(process.env.STUB_ARTIFACTS, input('name'));
if (!files.length) {
  const message = `No files were found with the provided path: ${lines.join(', ')}`;
  if (input('if-no-files-found') === 'error') fail(message);
  console.log(`::warning::${message}`);
  process.exit(0);
}
if (fs.existsSync(target)) {
  if (input('overwrite') !== 'true') fail('an artifact with this name already exists');
  fs.rmSync(target, { recursive: true });
}
function ancestor(paths) {
  if (paths.length === 1) return fs.statSync(paths[0]).isDirectory() ? paths[0] : path.dirname(paths[0]);
  const parts = paths.map(p => p.split(path.sep));
  let n = 0;
  while (parts.every(p => n < p.length && p[n] === parts[0][n])) n++;
  return parts[0].slice(0, n).join(path.sep) || path.sep;
}
const root = ancestor(wanted);
for (const file of files) {
  const name = path.relative(root, file);
  if (/[":<>|*?\r\n\\]/.test(name)) fail('The path for one of the files in artifact is not valid');
  const to = path.join(target, name);
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(file, to);
  fs.chmodSync(to, 0o644);
}
console.log(`uploaded ${files.length} file(s)`);
