// Compiles each source as a browser would (a script, else a module) and never runs it. One JSON line in, one out.
'use strict';
const vm = require('node:vm');
const readline = require('node:readline');

function fault(compile) {
  try {
    compile();
    return null;
  } catch (error) {
    return error;
  }
}

function check(source) {
  const asScript = fault(() => new vm.Script(source, { filename: 'answer.js' }));
  if (asScript === null) return { ok: true };
  const asModule = fault(() => new vm.SourceTextModule(source, { identifier: 'answer.mjs' }));
  if (asModule === null) return { ok: true };
  const error = /\b(import|export|await)\b/.test(source) ? asModule : asScript;
  if (!(error instanceof SyntaxError)) return { ok: null, error: `the checker raised ${error.name}` };
  return { ok: false, error: `${error.name}: ${error.message}` };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let reply;
  try {
    reply = check(JSON.parse(line).source);
  } catch (error) {
    reply = { ok: null, error: `the checker raised ${error.name}` };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
});
