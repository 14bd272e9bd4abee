/**
 * `node scripts/evaluate-bundle.mjs BUNDLE`: evaluates a Worker's bundle once, as an isolate does at its
 * start, and prints JSON: the milliseconds that each module takes, and the errors that are created.
 * The modules have names only in a bundle that is not minified.
 */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const PLATFORM =
  "export class DurableObject {}; export class RpcTarget {}; export class WorkerEntrypoint {}; export const waitUntil = () => undefined;";
/** The line that esbuild writes above each module. */
const MODULE = /^\/\/ ((?:\.\.\/)*(?:node_modules|src|durable-objects)\/.*)$/gm;

const [, , bundle = ""] = process.argv;
/** @type {Record<string, number>} */
const modules = {};
/** @type {string[]} */
const errors = [];

let current = "";
let since = 0;
const beginModule = (/** @type {string} */ name) => {
  const now = performance.now();
  if (current !== "") modules[current] = (modules[current] ?? 0) + now - since;
  current = name;
  since = performance.now();
};

const source = readFileSync(bundle, "utf8").replace(
  MODULE,
  (_, name) => `globalThis.beginModule(${JSON.stringify(name)});`,
);
registerHooks({
  resolve: (specifier, context, next) =>
    /^(?:cloudflare|bundle):/.test(specifier)
      ? { url: specifier, shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) => {
    if (url === "bundle:") return { format: "module", source, shortCircuit: true };
    if (url.startsWith("cloudflare:")) {
      return { format: "module", source: PLATFORM, shortCircuit: true };
    }
    return next(url, context);
  },
});

const Recorded = new Proxy(Error, {
  construct(target, args, newTarget) {
    errors.push(String(args[0]));
    return Reflect.construct(target, args, newTarget);
  },
});
Object.assign(globalThis, {
  beginModule,
  Error: Recorded,
  Cloudflare: { compatibilityFlags: { global_fetch_strictly_public: true } },
});
const entry = "bundle:";
await import(entry);
beginModule("");
process.stdout.write(JSON.stringify({ modules, errors }));
