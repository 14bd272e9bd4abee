/**
 * Workers on bare workerd: one process, a socket for each of them, nothing in between. Their
 * objects are stored on a disk of their own.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";

import { freePort } from "../../test/support/free-port.ts";
import type { Bundle } from "./bundle.ts";
import { type Program, startProgram } from "./children.ts";
import { bin, scratch } from "./project.ts";

export interface WorkerOptions {
  readonly bundle: Bundle;
  readonly vars?: Readonly<Record<string, string>>;
  /** Binding → name of another Worker of the same process. */
  readonly services?: Readonly<Record<string, string>>;
}

export interface Workerd extends Program {
  /** Of each Worker, in their order. */
  readonly origins: readonly string[];
  /** From the start of the process to its first answer. */
  readonly startMs: number;
  /** Where a debugger may attach. */
  readonly inspector: string;
  /** To start it once more, on what it has stored. */
  readonly place: Place;
}

/** What outlives a process. */
export interface Place {
  /** Of each Worker, and of the inspector. */
  readonly ports: readonly number[];
  readonly folder: string;
}

/** Bare workerd has no e-mail, and the agents package imports it. */
const EMAIL_MODULE = "export default { EmailMessage: class {} };";

/**
 * @param workers the first one tells when all of them are ready, at `/health`.
 * @param place where it ran before; a new one, unless given.
 */
export async function startWorkerd(
  workers: readonly WorkerOptions[],
  place?: Place,
): Promise<Workerd> {
  const { ports, folder } = place ?? (await newPlace(workers.length));
  const inspector = `127.0.0.1:${ports.at(-1)}`;
  const config = `${folder}/config.capnp`;
  writeFileSync(config, configOf(workers, ports, folder));
  const origins = workers.map((_, index) => `http://localhost:${ports[index]}`);
  const startedAt = performance.now();
  const args = ["serve", "--experimental", `--inspector-addr=${inspector}`, config];
  const program = await startProgram(bin("workerd"), args, `${origins[0]}/health`);
  return {
    ...program,
    origins,
    startMs: performance.now() - startedAt,
    inspector,
    place: { ports, folder },
  };
}

async function newPlace(workers: number): Promise<Place> {
  const ports = await Promise.all(Array.from({ length: workers + 1 }, () => freePort()));
  const folder = scratch(`workerd-${ports[0]}`); // no port is told twice
  mkdirSync(folder);
  return { ports, folder };
}

function configOf(
  workers: readonly WorkerOptions[],
  ports: readonly number[],
  folder: string,
): string {
  const services = workers.map(
    ({ bundle: { name } }, n) => `(name = ${quote(name)}, worker = .worker${n})`,
  );
  const sockets = workers.map(
    ({ bundle: { name } }, n) =>
      `(name = "socket${n}", address = "127.0.0.1:${ports[n]}", http = (), service = ${quote(name)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ${services.join(",\n    ")},
    (name = "disk", disk = (path = ${quote(folder)}, writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [${sockets.join(", ")}],
  extensions = [(modules = [(
    name = "cloudflare-internal:email",
    internal = true,
    esModule = ${quote(EMAIL_MODULE)},
  )])],
);
${workers.map((worker, n) => workerOf(worker, n, folder)).join("\n")}`;
}

function workerOf(
  { bundle, vars = {}, services = {} }: WorkerOptions,
  n: number,
  folder: string,
): string {
  const { name, path, objects, compatibilityDate, compatibilityFlags } = bundle;
  const namespaces = objects.map(
    ({ className }) =>
      `(className = ${quote(className)}, uniqueKey = ${quote(`${name}-${className}`)}, enableSql = true)`,
  );
  const bindings = [
    ...objects.map(
      ({ binding, className }) =>
        `(name = ${quote(binding)}, durableObjectNamespace = ${quote(className)})`,
    ),
    ...Object.entries(vars).map(([key, text]) => `(name = ${quote(key)}, text = ${quote(text)})`),
    ...Object.entries(services).map(
      ([key, service]) => `(name = ${quote(key)}, service = ${quote(service)})`,
    ),
  ];
  return `const worker${n} :Workerd.Worker = (
  modules = [(name = "index.js", esModule = embed ${quote(relative(folder, path))})],
  compatibilityDate = ${quote(compatibilityDate)},
  compatibilityFlags = [${compatibilityFlags.map(quote).join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    ${bindings.join(",\n    ")}
  ],
);
`;
}

/** A text of the configuration's language, which has the escapes of JSON. */
function quote(text: string): string {
  return JSON.stringify(text);
}
