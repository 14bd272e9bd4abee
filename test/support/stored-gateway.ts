/**
 * A gateway on storage that it did not write: what is stored, as SQL that can be kept and read, and a way to it
 * under the one origin that its tokens are for, whatever port it listens on.
 */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Json } from "./clients-face.ts";
import type { Send } from "./oauth-browser.ts";
import { overHttp } from "./oauth-over-http.ts";
import { readEvents } from "./read-events.ts";

/** Whoever made the storage reached the gateway here. */
export const STORED_ORIGIN = "http://localhost:8787";
/** Both are the demo, which needs no address: one as it is, and one as a server of an earlier revision. */
export const STORED_SERVERS = {
  demo: { service: "DEMO" },
  older: { service: "DEMO", era: "legacy" },
} as const;

/** The alarm, and the last numbers that were given. */
const OF_PLATFORM = new Set(["_cf_METADATA", "sqlite_sequence"]);
const OBJECT = /^-- (\S+)\/(\S+)$/gm;
/** Milliseconds and seconds of these years, wherever they stand in what is stored as text or number. */
const MILLISECONDS = /\b1[7-9]\d{11}\b/g;
const SECONDS = /\b1[7-9]\d{8}\b/g;

/** What the gateway's objects have stored, but those that hold nothing. @param folder of bare workerd. */
export function dumpStorage(folder: string): string {
  const classes = readdirSync(folder).filter((name) => /^edgeway-\w+Object$/.test(name));
  const files = classes.flatMap((name) =>
    readdirSync(join(folder, name))
      .filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file))
      .map((file) => `${name}/${file}`),
  );
  return files
    .flatMap((file) => {
      const dump = dumpOf(join(folder, file));
      return dump === undefined ? [] : [`-- ${file}\n${dump}`];
    })
    .join("\n");
}

function dumpOf(path: string): string | undefined {
  const database = new DatabaseSync(path);
  const schema = database
    .prepare("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    .all() as { type: string; name: string; sql: string }[];
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => name);
  const filled = tables.filter((name) => rowsIn(database, name).length > 0);
  const rows = filled.flatMap((name) =>
    rowsIn(database, name).map(
      (row) => `INSERT INTO "${name}" VALUES (${Object.values(row).map(literal).join(", ")});`,
    ),
  );
  database.close();
  if (filled.every((name) => OF_PLATFORM.has(name))) return undefined;
  // SQLite makes this one itself, for another table.
  const made = schema.filter(({ name }) => name !== "sqlite_sequence");
  return [...made.map(({ sql }) => `${sql.replaceAll(/\s+/g, " ")};`), ...rows, ""].join("\n");
}

function rowsIn(database: DatabaseSync, table: string): readonly Record<string, unknown>[] {
  const query = database.prepare(`SELECT * FROM "${table}"`);
  query.setReadBigInts(true);
  return query.all();
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString("hex")}'`;
  return `${value as number | bigint}`;
}

/**
 * Writes the databases of a dump.
 *
 * @param ageMs how long ago it was made: its times become as old as they were then. Those in values that the
 *   platform has packed stay, which are of things that are kept for years.
 */
export function restoreStorage(dump: string, folder: string, ageMs: number): void {
  const moved = dump
    .replaceAll(MILLISECONDS, (text) => laterBy(ageMs, text))
    .replaceAll(SECONDS, (text) => laterBy(ageMs / 1000, text));
  const [, ...parts] = moved.split(OBJECT);
  for (let n = 0; n < parts.length; n += 3) {
    const [name = "", file = "", sql = ""] = parts.slice(n, n + 3);
    if (!existsSync(join(folder, name))) mkdirSync(join(folder, name));
    const database = new DatabaseSync(join(folder, name, file));
    database.exec(sql);
    database.close();
  }
}

function laterBy(age: number, time: string): string {
  return String(Number(time) + Math.round(age));
}

/** @returns a way to the gateway at another address, which it does not notice. */
export function sendTo(address: string): Send {
  return (url, { headers = {}, ...request } = {}) => {
    const host = new URL(STORED_ORIGIN).host;
    return overHttp(url.replace(STORED_ORIGIN, address), {
      ...request,
      headers: { ...headers, Host: host },
    });
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** With the id under which the stream can be taken up again, if it came on one. */
  readonly messages: readonly { readonly id: string | undefined; readonly message: Json }[];
}

/** Sends one message of a client, or takes up a stream; reads the answer to its end. */
export async function mcp(
  send: Send,
  path: string,
  headers: Readonly<Record<string, string>>,
  message?: object,
): Promise<Answer> {
  const response = await send(STORED_ORIGIN + path, {
    method: message === undefined ? "GET" : "POST",
    headers: {
      Accept: "application/json, text/event-stream",
      ...(message !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(message !== undefined && { body: JSON.stringify({ jsonrpc: "2.0", ...message }) }),
  });
  const messages: { id: string | undefined; message: Json }[] = [];
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    await readEvents(response, {
      event: ({ id, data }) => data !== "" && messages.push({ id, message: JSON.parse(data) }),
    });
  } else {
    const body = await response.text();
    if (body.startsWith("{")) messages.push({ id: undefined, message: JSON.parse(body) as Json });
  }
  return { status: response.status, headers: response.headers, messages };
}

/** @throws Error with the whole answer, if it has no result. */
export function resultOf({ status, messages }: Answer): Json {
  const result = messages.at(-1)?.message["result"];
  if (typeof result === "object" && result !== null) return result as Json;
  throw new Error(`No result: ${status} ${JSON.stringify(messages)}`);
}

export function toolsIn(answer: Answer): readonly string[] {
  return (resultOf(answer)["tools"] as readonly { name: string }[]).map(({ name }) => name);
}

/** The headers and the envelope of a request of 2026-07-28. */
export function modern(
  token: string,
  method: string,
  params: Json = {},
): [Record<string, string>, object] {
  const name = typeof params["name"] === "string" ? { "Mcp-Name": params["name"] } : {};
  const revision = "2026-07-28";
  return [
    {
      Authorization: `Bearer ${token}`,
      "MCP-Protocol-Version": revision,
      "Mcp-Method": method,
      ...name,
    },
    {
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": revision,
          "io.modelcontextprotocol/clientInfo": { name: "keeper", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": { sampling: {}, elicitation: {} },
        },
      },
    },
  ];
}

/** What clients and browsers of the gateway that wrote the storage still have. */
export interface Kept {
  /** Milliseconds since 1970. */
  readonly madeAt: number;
  readonly cookies: readonly Json[];
  readonly client: { readonly client_id: string };
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly apiKey: string;
  readonly service: readonly string[];
  readonly tools: readonly string[];
  readonly session: string;
  /** Of a call in that session, which has ended. */
  readonly events: Answer["messages"];
  /** Of a call that waits for an answer. */
  readonly question: { readonly state: string; readonly keys: readonly string[] };
}
