/**
 * A server over stdio that does as a test says: by methods of its own, which are tools as well. With `JOURNAL` in its
 * environment it writes its process id there, and the name of each call of `run`; with `STUBBORN` it stays when it is
 * asked to end.
 */

import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

import type { Json } from "./clients-face.ts";

const { JOURNAL, STUBBORN } = process.env;
if (JOURNAL !== undefined) appendFileSync(JOURNAL, `${process.pid}\n`);
if (STUBBORN !== undefined) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 60_000);
}

/** What it is asked with a question of its own, until that is answered. */
const waiting = new Map<unknown, Json>();

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** Those of which some get no answer. */
const KNOWN: ReadonlySet<unknown> = new Set(["never", "tools/call"]);
const TOOLS = ["echo", "env", "say", "big", "end", "run", "never"];

function resultOf(method: unknown, params: Json): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params["protocolVersion"],
        capabilities: { tools: {} },
        serverInfo: { name: "local", version: "1.0.0" },
        pid: process.pid,
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: TOOLS.map((name) => ({ name, inputSchema: { type: "object" } })) };
    case "tools/call": {
      const made = resultOf(params["name"], (params["arguments"] ?? {}) as Json);
      return made && { content: [{ type: "text", text: JSON.stringify(made) }] };
    }
    case "run":
      if (JOURNAL !== undefined) appendFileSync(JOURNAL, `ran ${String(params["name"])}\n`);
      return { ran: params["name"] };
    case "echo":
      return params;
    case "env":
      return { ...process.env };
    case "say":
      process.stdout.write(String(params["text"]));
      return {};
    case "complain":
      process.stderr.write(String(params["text"]));
      return {};
    case "big":
      return { text: "x".repeat(Number(params["bytes"])) };
    case "notify":
      write({ method: params["method"], params: params["params"] });
      return {};
    case "end":
      process.exit(Number(params["code"]));
    // The process has ended.
    // oxlint-disable-next-line no-fallthrough
    default:
      return undefined;
  }
}

/** How long the answer of a call waits. */
function msOf({ arguments: args }: Json): number {
  return Number((args as Json | undefined)?.["ms"] ?? 0);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line) as Json;
  if (method === undefined) {
    write({ id: waiting.get(id)?.["id"], result: { said: result } });
  } else if (method === "ask") {
    const question = `question ${waiting.size}`;
    waiting.set(question, { id });
    write({ id: question, method: "elicitation/create", params: {} });
  } else {
    const made = resultOf(method, (params ?? {}) as Json);
    if (made !== undefined && id !== undefined) {
      setTimeout(() => write({ id, result: made }), msOf((params ?? {}) as Json));
    } else if (id !== undefined && !KNOWN.has(method)) {
      write({ id, error: { code: -32601, message: "Method not found" } });
    }
  }
}
