// What an agent can leave behind beside its appends:
//   node hostile.mjs FOLDER TRANSACTION-LOG SAFE-OUTPUT SECRET
import { appendFileSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const [folder, log, output, secret] = process.argv.slice(2);
const lies = JSON.parse(readFileSync(new URL('lies.json', import.meta.url), 'utf8'));

for (const [i, lie] of lies.entries()) {
  const name = lie.replaceAll('/', '_').slice(0, 100);
  writeFileSync(join(folder, name + '.md'), `${lie}\n`);
  writeFileSync(join(folder, `${name}.exe`), lie);
  mkdirSync(join(folder, `folder ${i} ${name}`));
  writeFileSync(join(folder, `folder ${i} ${name}`, 'x.md'), 'x');
  appendFileSync(log, JSON.stringify({ type: 'ledger_mutation', operation: 'append', record_type: lie, [lie]: lie }) + '\n' + lie + '\n');
  appendFileSync(output, JSON.stringify({ type: 'ledger_mutation', operation: lie, record_type: lie }) + '\n' + lie + '\n');
}
const shards = join(folder, 'ledger', 'shards');
writeFileSync(join(shards, '11111111-1111-4111-8111-111111111111.jsonl'), lies.join('\n') + '\n');
writeFileSync(join(shards, '::error::forged.jsonl'), 'x\n');

// Links and pipes: to a secret, out of the folder, to nowhere, and one to wait at.
symlinkSync(secret, join(folder, 'link.md'));
symlinkSync('/', join(folder, 'root'));
symlinkSync('/nowhere', join(folder, 'nowhere.md'));
symlinkSync(secret, join(shards, '22222222-2222-4222-8222-222222222222.jsonl'));
linkSync(join(folder, 'kept.md'), join(folder, 'twice.md'));
execFileSync('mkfifo', [join(folder, 'pipe.md')]);
