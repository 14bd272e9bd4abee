/** A scripted upstream as a test sees it: what to do, and what it was sent. */

import { inject } from "vitest";

import type {
  Json,
  Kind,
  Reaction,
  Recorded,
  Script,
} from "../support/scripted-upstream-script.ts";
import { until } from "./bounded.ts";

async function control(path: string, body?: string): Promise<unknown> {
  const response = await fetch(`${inject("scripted")}/control/${path}`, {
    method: "POST",
    ...(body === undefined ? {} : { body }),
  });
  const answer: unknown = await response.json();
  const problem = (answer as { problem?: string } | null)?.problem;
  if (problem !== undefined) throw new Error(problem);
  return answer;
}

export class Upstream {
  readonly slug: string;

  private constructor(slug: string) {
    this.slug = slug;
  }

  /** An upstream that no other test knows. */
  static async take(script: Script, kind: Kind = "auto"): Promise<Upstream> {
    return new Upstream((await control(`take/${kind}`, JSON.stringify(script))) as string);
  }

  /** One that all tests share. */
  static named(slug: string): Upstream {
    return new Upstream(slug);
  }

  get mcp(): string {
    return `/mcp/${this.slug}`;
  }

  get sse(): string {
    return `/sse/${this.slug}`;
  }

  /** Everything that it was sent, in order. */
  async log(): Promise<readonly Recorded[]> {
    return (await control(`${this.slug}/log`)) as Recorded[];
  }

  /**
   * What it was sent in sessions that were used: the gateway opens others, and closes them at
   * once, to learn how a server introduces itself.
   */
  async used(): Promise<readonly Recorded[]> {
    const log = await this.log();
    const isUsed = new Set(
      log
        .filter(({ body }) => body?.method === "notifications/initialized")
        .map((record) => sessionOf(record)),
    );
    return log.filter((record) => isUsed.has(record.opened ?? sessionOf(record)));
  }

  /** The sessions that were used, in the order of their opening. */
  async sessions(): Promise<readonly string[]> {
    const opened = (await this.used()).map(({ opened }) => opened);
    return opened.filter((id) => id !== undefined);
  }

  /** What it was sent by a JSON-RPC method, or by an HTTP method other than POST. */
  async sent(method: string): Promise<readonly Recorded[]> {
    const log = await this.log();
    return log.filter((record) => method === methodOf(record));
  }

  /** Waits until it was sent so many of them. */
  async receives(method: string, count = 1): Promise<readonly Recorded[]> {
    return until(async () => {
      const records = await this.sent(method);
      return records.length >= count ? records : undefined;
    }, `${count} × ${method} at the upstream`);
  }

  /** Waits for the answer of the client to a question of the server. */
  async receivesAnswer(id: unknown): Promise<Json> {
    return until(
      async () => {
        const log = await this.log();
        return log.find(({ body }) => body?.method === undefined && body?.id === id)?.body;
      },
      `the answer to ${JSON.stringify(id)} at the upstream`,
    );
  }

  async open(gate: string): Promise<void> {
    await control(`${this.slug}/open/${gate}`);
  }

  /** Sends on the newest stream of what belongs to no request, as soon as there is one. */
  async send(message: Json, id?: string): Promise<void> {
    await this.#write("send", event(message, { ...(id === undefined ? {} : { id }) }));
  }

  /** Sends on all of them. */
  async tell(message: Json): Promise<void> {
    await this.#write("tell", event(message));
  }

  async #write(verb: "send" | "tell", text: string): Promise<void> {
    await until(
      async () => ((await control(`${this.slug}/${verb}`, text)) === true ? true : undefined),
      "the gateway to listen",
    );
  }

  /** Breaks its open streams, as soon as there is one. */
  async hangUp(): Promise<void> {
    await until(
      async () => ((await control(`${this.slug}/hang-up`)) === 0 ? undefined : true),
      "the gateway to listen",
    );
  }

  /** Forgets every session. */
  async forget(): Promise<void> {
    await control(`${this.slug}/forget`);
  }

  async script(script: Script): Promise<void> {
    await control(`${this.slug}/script`, JSON.stringify(script));
  }
}

/** The session that a request was made in, if it was made in one. */
export function sessionOf({ headers, path }: Recorded): string | undefined {
  const query = new URL(path, "http://upstream").searchParams;
  return headers["mcp-session-id"] ?? query.get("sessionId") ?? undefined;
}

/** What was asked: the JSON-RPC method, or an HTTP method other than POST. */
export function methodOf({ method, body }: Recorded): string {
  return body?.method ?? method;
}

/** One server-sent event. The strings "{{id}}" and "{{token}}" stand for those of the request. */
export function event(message: Json, { id, retry }: { id?: string; retry?: number } = {}): string {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}`,
  ];
  return `${lines.join("\n")}\n\n`;
}

export const EVENT_STREAM = { "Content-Type": "text/event-stream" } as const;
export const JSON_TYPE = { "Content-Type": "application/json" } as const;

/** Answers with a stream of these pieces. */
export function streamOf(...pieces: NonNullable<Reaction["pieces"]>): Reaction {
  return { headers: EVENT_STREAM, pieces };
}

export function jsonOf(message: Json, status = 200): Reaction {
  return {
    status,
    headers: JSON_TYPE,
    pieces: [JSON.stringify({ jsonrpc: "2.0", id: "{{id}}", ...message })],
  };
}

export const RESULT = { content: [{ type: "text", text: "ran" }] } as const;
/** The answer to whatever was asked. */
export const ANSWER = { id: "{{id}}", result: RESULT } as const;
/** The same, as a modern server gives it. */
export const MODERN_ANSWER = {
  id: "{{id}}",
  result: { resultType: "complete", ...RESULT },
} as const;

/** Belongs to whatever stream it comes on. */
export const LOG = {
  method: "notifications/message",
  params: { level: "info", data: "working" },
} as const;
/** An answer that needs a stream, for something comes before it. */
export const STREAMED: Reaction = streamOf(event(LOG), event(ANSWER));

export function progress(value: number): Json {
  const params = { progressToken: "{{token}}", progress: value };
  return { method: "notifications/progress", params };
}
