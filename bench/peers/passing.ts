/**
 * What a hop costs that does nothing: every request goes to `UPSTREAM`, and its answer comes back. By
 * `WAY`, the bytes are passed on as they are (`bytes`), are parsed and written in both directions
 * (`messages`), or are passed on by an object of their session (`object`).
 */

import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly UPSTREAM: string;
  readonly WAY: "bytes" | "messages" | "object";
  readonly SESSIONS: DurableObjectNamespace<PassingObject>;
}

/** It fetches the upstream, and keeps nothing. */
export class PassingObject extends DurableObject {
  override fetch(request: Request): Promise<Response> {
    return fetch(request);
  }
}

export default {
  fetch(request: Request, env: Env): Promise<Response> | Response {
    if (new URL(request.url).pathname === "/health") return new Response("ok");
    switch (env.WAY) {
      case "bytes":
        return fetch(env.UPSTREAM, request);
      case "messages":
        return passMessages(request, env.UPSTREAM);
      case "object":
        return objectOf(request, env).fetch(env.UPSTREAM, request);
    }
  },
};

/** The answer is read to its end before it is written: a call has one message. */
async function passMessages(request: Request, upstream: string): Promise<Response> {
  const { method, headers } = request;
  const response = await fetch(upstream, {
    method,
    headers,
    body: rewritten(await request.text()),
  });
  const text = await response.text();
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
  const body = isStream
    ? text.replaceAll(/^data: (.+)$/gm, (_, data: string) => `data: ${rewritten(data)}`)
    : rewritten(text);
  return new Response(body, { status: response.status, headers: response.headers });
}

/** What is empty, as the answer to a notification, stays so. */
function rewritten(json: string): string | null {
  return json === "" ? null : JSON.stringify(JSON.parse(json));
}

/** One for each session. The session has no id before its first answer. */
function objectOf(request: Request, { SESSIONS }: Env): DurableObjectStub<PassingObject> {
  const id = request.headers.get("Mcp-Session-Id");
  return id === null ? SESSIONS.get(SESSIONS.newUniqueId()) : SESSIONS.getByName(id);
}
