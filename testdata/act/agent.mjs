// A stand-in for an agent: an MCP client that starts the server named in the
// client configuration, and makes the tool calls given as JSON lines on standard
// input, one {"name": ..., "arguments": ...} a line. Prints one result a line.
//   node agent.mjs MCP-CONFIG < CALLS
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const servers = JSON.parse(readFileSync(process.argv[2], 'utf8')).mcpServers;
const { command, args = [], env = {} } = Object.values(servers)[0];
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
const waiting = new Map();
let next = 0;
createInterface({ input: child.stdout }).on('line', line => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
  waiting.delete(message.id);
});
child.on('exit', code => {
  if (waiting.size) { console.error(`the server ended with ${code} and ${waiting.size} calls unanswered`); process.exit(1); }
});
const send = message => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const request = (method, params) => new Promise(resolve => { waiting.set(++next, resolve); send({ id: next, method, params }); });

await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agent', version: '1' } });
send({ method: 'notifications/initialized' });
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const call = JSON.parse(line);
  const { result, error } = await request('tools/call', call);
  console.log(error ? `error ${error.code} ${error.message}` : `${result.isError ? 'refused' : 'done'} ${result.content[0].text}`);
}
child.stdin.end();
