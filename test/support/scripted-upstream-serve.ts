/** Serves one request of a scripted upstream: records it, then reacts. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { usualReaction } from "./scripted-upstream-usual.ts";
import type { Json, Piece, Reaction, Recorded } from "./scripted-upstream-script.ts";
import type { World } from "./scripted-upstream-world.ts";

/**
 * @param path what follows the slug.
 * @param received the request, and the body that was read of it.
 */
export async function serveScript(
  world: World,
  path: string,
  { request, sent }: { readonly request: IncomingMessage; readonly sent: string },
  response: ServerResponse,
): Promise<void> {
  const body = parseBody(sent);
  const url = new URL(request.url ?? "/", "http://upstream");
  const record: { -readonly [K in keyof Recorded]: Recorded[K] } = {
    method: request.method ?? "",
    path: url.pathname + url.search,
    headers: Object.fromEntries(
      Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join() ?? ""]),
    ),
    ...(body === undefined ? {} : { body, text: sent }),
    status: 0,
    isCutOff: false,
  };
  world.log.push(record);
  response.once("close", () => {
    record.isCutOff = !response.writableFinished && !isOurs.has(response);
  });

  const kind = kindOf(record);
  const isResuming = record.headers["last-event-id"] !== undefined;
  const scripted =
    (isResuming ? world.nextReaction("resume") : undefined) ?? world.nextReaction(kind);
  const isSink = world.script.server === "sse" && path === "message";
  if (isSink && scripted !== undefined && (scripted.status ?? 200) < 300) {
    // What a POST of HTTP+SSE brings comes on the stream.
    record.status = 202;
    response.writeHead(202).end("Accepted");
    const stream = world.streams.at(-1);
    if (stream !== undefined) await play(world, record, scripted, stream);
    return;
  }
  const before = world.newestSession;
  const reaction = scripted ?? usualReaction(world, path, record, response);
  const opened = world.newestSession === before ? scriptedSession(scripted) : world.newestSession;
  if (opened !== undefined) record.opened = opened;
  if (reaction === undefined) {
    record.status = 200;
    return;
  }
  if (reaction.opens !== undefined) world.openGate(reaction.opens);
  if (reaction.heldBy !== undefined) await world.gate(reaction.heldBy);
  record.status = reaction.status ?? 200;
  if (record.status === 0) {
    isOurs.add(response);
    response.destroy();
    return;
  }
  response.writeHead(record.status, reaction.headers);
  response.flushHeaders();
  await play(world, record, reaction, response);
}

/** A script may name the session that its answer opens. */
function scriptedSession(reaction: Reaction | undefined): string | undefined {
  return reaction?.headers?.["Mcp-Session-Id"];
}

/** Responses that the script itself broke off. */
const isOurs = new WeakSet<ServerResponse>();

function parseBody(body: string): Json | undefined {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined; // GET and DELETE
  }
}

function kindOf({ method, body }: Recorded): string {
  if (method !== "POST") return method;
  return typeof body?.method === "string" ? body.method : "response";
}

async function play(
  world: World,
  record: Recorded,
  { pieces = [], end = "close" }: Reaction,
  response: ServerResponse,
): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return;
    await write(world, record, piece, response);
  }
  if (end === "never") return;
  isOurs.add(response);
  if (end === "close") response.end();
  else response.destroy();
}

async function write(
  world: World,
  { body }: Recorded,
  piece: Piece,
  response: ServerResponse,
): Promise<void> {
  if (typeof piece !== "string" && "gate" in piece) return world.gate(piece.gate);
  const meta = body?.params?.["_meta"] as Json | undefined;
  const bytes =
    typeof piece === "string"
      ? piece
          .replaceAll('"{{id}}"', JSON.stringify(body?.id) ?? "null")
          .replaceAll('"{{token}}"', JSON.stringify(meta?.["progressToken"]) ?? "null")
      : Buffer.from(piece.base64, "base64");
  // Flushed one by one, so that each piece is a chunk of its own.
  await new Promise<void>((resolve) => response.write(bytes, () => resolve()));
}
