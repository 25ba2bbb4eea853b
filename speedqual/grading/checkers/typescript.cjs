// Syntax and types by the TypeScript compiler, with its standard library parsed once. One JSON line in, one out.
'use strict';
const path = require('node:path');
const readline = require('node:readline');

const ts = require(process.argv[2]);
const libraries = path.dirname(process.argv[2]);
const options = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  strict: true,
  noEmit: true,
  noResolve: true,
  skipLibCheck: true,
  skipDefaultLibCheck: true,
  types: [],
  jsx: ts.JsxEmit.Preserve,
};
// what only says that a package is not here: modules, their types, and globals of Node
const ABOUT_PACKAGES = new Set([2307, 2792, 7016, 2580, 2591, 2688, 2875, 7026]);
const parsed = new Map();
let previous;

function sourceOf(name, text) {
  return ts.createSourceFile(name, text, options.target, true);
}

function hostFor(name, text) {
  const answer = sourceOf(name, text);
  return {
    getSourceFile(file) {
      if (file === name) return answer;
      if (!parsed.has(file)) {
        const content = ts.sys.readFile(file);
        parsed.set(file, content === undefined ? undefined : sourceOf(file, content));
      }
      return parsed.get(file);
    },
    getDefaultLibFileName: () => path.join(libraries, 'lib.es2022.d.ts'),
    getDefaultLibLocation: () => libraries,
    writeFile() {},
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (file) => file,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    fileExists: (file) => file === name,
    readFile: () => undefined,
  };
}

function check(text) {
  const name = /<\/?[A-Za-z][^>\n]*\/?>\s*[;)]/.test(text) && /return\s*\(?\s*</.test(text) ? '/answer.tsx' : '/answer.ts';
  const program = ts.createProgram([name], options, hostFor(name, text), previous);
  previous = program;
  const file = program.getSourceFile(name);
  const syntax = program.getSyntacticDiagnostics(file);
  const found = (syntax.length ? syntax : program.getSemanticDiagnostics(file)).filter((each) => !ABOUT_PACKAGES.has(each.code));
  const errors = found.filter((each) => each.category === ts.DiagnosticCategory.Error);
  if (!errors.length) return { ok: true };
  const [first] = errors;
  const line = file.getLineAndCharacterOfPosition(first.start ?? 0).line + 1;
  return { ok: false, error: `TS${first.code}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')} (line ${line})` };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let reply;
  try {
    reply = check(JSON.parse(line).source);
  } catch (error) {
    previous = undefined;
    reply = { ok: null, error: `the checker raised ${error.name}` };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
});
