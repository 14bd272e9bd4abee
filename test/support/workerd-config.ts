/**
 * Workers on bare workerd: one process, a socket for each of them, nothing in between. Their
 * objects are stored on a disk of their own.
 */

import { basename, relative } from "node:path";

/** A Worker as it would be deployed. */
export interface Bundle {
  readonly name: string;
  /** The one file of code. */
  readonly path: string;
  /** Files beside it that it reads as bytes. */
  readonly data: readonly string[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly objects: readonly { readonly binding: string; readonly className: string }[];
}

export interface WorkerOptions {
  readonly bundle: Bundle;
  readonly vars?: Readonly<Record<string, string>>;
  /** Binding → name of another Worker of the same process. */
  readonly services?: Readonly<Record<string, string>>;
  /** The names of other Workers of the same process, which get its spans. */
  readonly tails?: readonly string[];
}

/** Bare workerd has no e-mail, and the agents package imports it. */
const EMAIL_MODULE = "export default { EmailMessage: class {} };";

/**
 * @param ports of the Workers that have one, in their order.
 * @param folder where the configuration is written, and the objects are stored.
 */
export function workerdConfig(
  workers: readonly WorkerOptions[],
  ports: readonly number[],
  folder: string,
): string {
  const services = workers.map(
    ({ bundle: { name } }, n) => `(name = ${quote(name)}, worker = .worker${n})`,
  );
  const sockets = workers.flatMap(({ bundle: { name } }, n) =>
    ports[n] === undefined
      ? []
      : `(name = "socket${n}", address = "127.0.0.1:${ports[n]}", http = (), service = ${quote(name)})`,
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
  { bundle, vars = {}, services = {}, tails = [] }: WorkerOptions,
  n: number,
  folder: string,
): string {
  const { name, path, data, objects, compatibilityDate, compatibilityFlags } = bundle;
  const modules = [
    `(name = "index.js", esModule = embed ${quote(relative(folder, path))})`,
    ...data.map(
      (file) => `(name = ${quote(basename(file))}, data = embed ${quote(relative(folder, file))})`,
    ),
  ];
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
  modules = [${modules.join(", ")}],
  compatibilityDate = ${quote(compatibilityDate)},
  compatibilityFlags = [${compatibilityFlags.map(quote).join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
  streamingTails = [${tails.map(quote).join(", ")}],
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
