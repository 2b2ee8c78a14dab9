// Makes a plan of compaction hostile, in the way that is named:
//   node tamper.mjs CASE PLAN
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

const [way, file] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');
const plan = JSON.parse(text);
const name = ({ segment, sha256 }) => ({ segment, sha256 });
// The id again, so that nothing but the lie itself can give the plan away.
const identify = () => {
  const { branch, ledger, version } = plan;
  const what = { branch, ledger, replacement: name(plan.replacement), sources: plan.sources.map(name), version };
  plan.plan_id = 'sha256:' + createHash('sha256').update(JSON.stringify(what)).digest('hex');
};
const ways = {
  'another-ledger': () => { plan.ledger = 'other'; identify(); },
  'another-branch': () => { plan.branch = 'ledgers/other'; identify(); },
  'another-id': () => { plan.plan_id = 'sha256:' + '0'.repeat(64); },
  'a-command': () => { plan.command = 'git push --force'; },
  'a-path': () => { plan.sources[0].segment = '../../.github/workflows/ci'; identify(); },
  'a-lost-record': () => { plan.replacement.records.pop(); },
  'another-replacement': () => { plan.replacement.sha256 = 'sha256:' + '1'.repeat(64); identify(); },
  'a-source-twice': () => { plan.sources.push(plan.sources[0]); identify(); },
  'forged-output': () => { plan.trigger = 'requested\nstatus=applied\n::set-output name=status::applied'; },
};
if (way === 'a-name-twice') {
  writeFileSync(file, text.replace('{', '{"ledger":"other",'));
} else if (way === 'no-json') {
  writeFileSync(file, '::error::forged\n##[error]forged\n');
} else if (way === 'too-large') {
  writeFileSync(file, text + ' '.repeat(17 << 20));
} else if (way === 'a-link') {
  rmSync(file);
  symlinkSync('/etc/hostname', file);
} else {
  ways[way]();
  writeFileSync(file, JSON.stringify(plan));
}
