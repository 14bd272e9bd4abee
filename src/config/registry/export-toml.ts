/** Added servers as tables of `MCP_SERVERS` in wrangler.toml (TOML 1.0). Secrets stand in them by name. */

import type { AddedServer, ExportedServers } from "../../observability/added-servers.ts";
import { isObject } from "../../protocol/json-rpc.ts";
import { slugFrom } from "../clients/client-map.ts";
import { replacePlaceholders } from "../clients/placeholders.ts";
import { mapTemplates } from "./templates.ts";

/** What serves nobody is switched off there, too. */
export function exportToml(servers: readonly AddedServer[]): ExportedServers {
  const secrets = new Set<string>();
  const tables = servers.map((server) => {
    const { slug, label, entry, state } = server;
    const names = new SecretNames(slug, secrets);
    const renamed = mapTemplates(entry, (template) => names.rename(template));
    // A name that makes the slug again is the label there.
    const name = label !== undefined && slugFrom(label) === slug ? label : slug;
    const members = { ...renamed, ...(state !== "live" && { disabled: true }) };
    return `[vars.MCP_SERVERS.${key(name)}]\n${lines(members)}`;
  });
  return { toml: tables.join("\n"), secrets: [...secrets] };
}

/**
 * In `MCP_SERVERS`, `${NAME}` means any secret of the gateway. So the names get a beginning that no other has: an
 * entry that somebody else wrote must not be given the gateway's own secrets, or those of another server.
 */
class SecretNames {
  readonly #prefix: string;
  readonly #taken: Set<string>;
  readonly #renamed = new Map<string, string>();

  constructor(slug: string, taken: Set<string>) {
    this.#prefix = `SERVER_${slug.replaceAll("-", "_").toUpperCase()}_`;
    this.#taken = taken;
  }

  rename(template: string): string {
    return replacePlaceholders(template, (placeholder, inner) => {
      if (placeholder === undefined) return `\${${inner}}`;
      const { names, usual } = placeholder;
      return usual === undefined
        ? `\${${this.#nameFor(names[0])}}`
        : `\${${this.#nameFor(names[0])}:-${usual}}`;
    });
  }

  #nameFor(name: string): string {
    const known = this.#renamed.get(name);
    if (known !== undefined) return known;
    let free = this.#prefix + name;
    for (let n = 2; this.#taken.has(free); n++) free = `${this.#prefix}${name}_${n}`;
    this.#taken.add(free);
    this.#renamed.set(name, free);
    return free;
  }
}

function lines(table: object): string {
  const members = membersOf(table).map(([name, member]) => `${key(name)} = ${value(member)}\n`);
  return members.join("");
}

/** TOML has no null. */
function membersOf(table: object): readonly [string, unknown][] {
  return Object.entries(table).filter(([, member]) => member !== null && member !== undefined);
}

function key(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : string(name);
}

function value(given: unknown): string {
  if (typeof given === "string") return string(given);
  if (typeof given === "number") return number(given);
  if (Array.isArray(given)) {
    return `[${given
      .filter((each) => each !== null)
      .map((each) => value(each))
      .join(", ")}]`;
  }
  if (!isObject(given)) return String(given);
  const members = membersOf(given).map(([name, member]) => `${key(name)} = ${value(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** A basic string is one of JSON, in which DEL is escaped and half characters are none. */
function string(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll("\u007f", String.raw`\u007f`);
}

/** What is no integer of 64 bits is written as a float. */
function number(given: number): string {
  return Number.isSafeInteger(given) || !Number.isInteger(given)
    ? String(given)
    : given.toExponential();
}
