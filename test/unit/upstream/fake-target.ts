/** An upstream whose `fetch` is a function of the test, and the answers such a function gives. */

import type { UpstreamTarget } from "../../../src/upstream/target.ts";

/** One request as the upstream would see it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** The parsed JSON body, if there is one. */
  readonly body: Record<string, unknown>;
  readonly signal: AbortSignal | undefined;
}

export type Answer = (seen: Seen) => Response | Promise<Response>;

let count = 0;

/** A target of its own URL: verdicts are cached by it. */
export function fakeTarget(answer: Answer, options: Partial<UpstreamTarget> = {}): UpstreamTarget {
  count += 1;
  return {
    slug: "fake",
    endpoint: new URL(`http://upstream-${count}.test/mcp`),
    fetch: async (url, init) =>
      answer({
        method: init.method ?? "GET",
        url: url.href,
        headers: new Headers(init.headers),
        body:
          typeof init.body === "string" ? (JSON.parse(init.body) as Record<string, unknown>) : {},
        signal: init.signal ?? undefined,
      }),
    headers: {},
    transport: "auto",
    era: "auto",
    timeoutMs: 60_000,
    maxMessageChars: 65_536,
    ...options,
  };
}

export function json(value: unknown, init: ResponseInit = {}): Response {
  return Response.json(value, init);
}

export function html(status: number): Response {
  return new Response("<h1>SECRET-PAGE</h1>", {
    status,
    headers: { "Content-Type": "text/html" },
  });
}

/** A body of these chunks; `onCancel` is called when its reader leaves. */
export function bodyOf(
  chunks: Iterable<Uint8Array>,
  onCancel?: () => void,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      onCancel?.();
    },
  });
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The outcome of a promise as a value, so that a table can contain the expected one. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
