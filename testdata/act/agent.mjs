// A stand-in for an agent: an MCP client that starts the server named in the
// client configuration, or reaches it over HTTP, and makes the tool calls given as
// JSON lines on standard input, one {"name": ..., "arguments": ...} a line. Prints
// one result a line.
//   node agent.mjs MCP-CONFIG < CALLS
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const servers = JSON.parse(readFileSync(process.argv[2], 'utf8')).mcpServers;
const { request, notify, end } = (({ type, ...server }) => type === 'http' ? overHTTP(server) : overStdio(server))(Object.values(servers)[0]);

function overStdio({ command, args = [], env = {} }) {
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
  return {
    request: (method, params) => new Promise(resolve => { waiting.set(++next, resolve); send({ id: next, method, params }); }),
    notify: method => send({ method }),
    end: () => child.stdin.end(),
  };
}

function overHTTP({ url, headers }) {
  let next = 0, session = {};
  const post = async message => {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers, ...session } });
    if (answer.headers.has('Mcp-Session-Id')) session = { 'Mcp-Session-Id': answer.headers.get('Mcp-Session-Id') };
    return answer.text();
  };
  return {
    request: async (method, params) => JSON.parse(await post({ id: ++next, method, params })),
    notify: method => post({ method }),
    end: () => fetch(url, { method: 'DELETE', headers: { ...headers, ...session } }),
  };
}

await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agent', version: '1' } });
await notify('notifications/initialized');
for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const call = JSON.parse(line);
  const { result, error } = await request('tools/call', call);
  console.log(error ? `error ${error.code} ${error.message}` : `${result.isError ? 'refused' : 'done'} ${result.content[0].text}`);
}
await end();
