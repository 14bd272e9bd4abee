/** The servers of a client's own map, as `mcpServers` in its configuration: those that are commands. Pure. */

import { parseEditorJson } from "../../src/lib/editor-json.ts";
import { isPublishedName } from "../../src/protocol/publishing.ts";
import { isObject, type JsonObject } from "../../src/protocol/json-rpc.ts";
import type { ServerDescription } from "./local-server.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServerMap {
  readonly servers: readonly ServerDescription[];
  /** Why each of the others is not published, as a sentence that begins with its name. */
  readonly skipped: readonly string[];
}

const WRAPPERS = ["mcpServers", "servers"];
const ADDRESSES = ["url", "serverUrl", "httpUrl"];
/** What relays stdio to an address, however it is started. */
const RELAY =
  /(?:^|[\s\\/])(?:edgeway(?:\.\w+)?(?:@\S+)?["']?\s+connect|mcp-remote(?:@\S+)?)(?!\S)/i;
const LEADS_BACK = "leads back to the gateway, whose lists would have themselves in them";
const MAX_NAME = 32;

/**
 * @param gateway at which the servers are to be published.
 * @returns `undefined` for a text that has no map in it.
 */
export function readServerMap(
  text: string,
  environment: Environment,
  gateway: URL,
): ServerMap | undefined {
  const file = parseEditorJson(text);
  if (!isObject(file)) return undefined;
  const wrapper = WRAPPERS.find((name) => isObject(file[name]));
  const map = wrapper === undefined ? file : (file[wrapper] as JsonObject);
  const servers = new Map<string, ServerDescription>();
  const skipped: string[] = [];
  for (const [name, entry] of Object.entries(map)) {
    const read = readEntry(name, entry, environment);
    const reading = typeof read === "object" && leadsTo(gateway, read) ? LEADS_BACK : read;
    if (typeof reading === "string") skipped.push(`${name}: ${reading}`);
    else if (servers.has(reading.name)) {
      skipped.push(`${name}: another one is published as ${reading.name} already`);
    } else servers.set(reading.name, reading);
  }
  return { servers: [...servers.values()], skipped };
}

/** @returns the server, or why there is none. */
function readEntry(
  written: string,
  entry: unknown,
  environment: Environment,
): ServerDescription | string {
  if (!isObject(entry)) return "is no server";
  if (ADDRESSES.some((key) => typeof entry[key] === "string")) {
    return "has an address: only commands are published";
  }
  if (entry["disabled"] === true || entry["enabled"] === false) return "is disabled";
  const { command, args = [], env = {}, cwd } = entry;
  if (typeof command !== "string" || command === "") return "has no command";
  if (!Array.isArray(args) || !args.every(isValue)) return "its args are no list of texts";
  if (!isObject(env) || !Object.values(env).every(isValue)) return "its env is no map of texts";
  if (cwd !== undefined && typeof cwd !== "string") return "its cwd is no text";
  const name = nameFrom(written);
  if (!isPublishedName(name)) return "no name of a-z, 0-9 and - can be made of this one";
  try {
    const filled = (text: unknown): string => filledIn(String(text), environment);
    return {
      name,
      command: filled(command),
      args: args.map(filled),
      env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value)])),
      cwd: cwd === undefined ? undefined : filled(cwd),
    };
  } catch (error) {
    return (error as Error).message;
  }
}

/** An agent that uses the gateway as a client is a server of its own. */
function leadsTo({ origin }: URL, { command, args, env }: ServerDescription): boolean {
  const line = [command, ...args].join(" ");
  if (!RELAY.test(line)) return false;
  return [...line.split(/["'\s]+/), env["EDGEWAY_URL"] ?? ""].some(
    (word) => URL.canParse(word) && new URL(word).origin === origin,
  );
}

function isValue(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function nameFrom(written: string): string {
  const name = written.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return name.replace(/^-/, "").slice(0, MAX_NAME).replace(/-$/, "");
}

/** Replaces `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}`, as clients do. @throws Error for any other. */
function filledIn(text: string, environment: Environment): string {
  return text.replaceAll(/\$\{([^}]*)\}/g, (_, inside: string) => {
    const [, name, otherwise] = /^(?:env:)?(\w+)(?::-(.*))?$/s.exec(inside) ?? [];
    const value = (name === undefined ? undefined : environment[name]) ?? otherwise;
    if (value !== undefined) return value;
    throw new Error(
      name === undefined
        ? `\${${inside}} means something to its own client alone. Write the value`
        : `the variable ${name} is not set`,
    );
  });
}
