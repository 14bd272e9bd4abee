/** Server-sent events off a response, as they come. */

import { createParser } from "eventsource-parser";

export interface EventSink {
  /** An event without data has an id only: from there the stream can be taken up. */
  event(event: { readonly id: string | undefined; readonly data: string }): void;
  /** Keep-alives are comments. */
  comment?(): void;
  /** How long the server asks its client to wait before it comes back. */
  retry?(ms: number): void;
}

/** @returns when the server has closed the stream; rejects when the connection breaks. */
export async function readEvents(response: Response, sink: EventSink): Promise<void> {
  const parser = createParser({
    onEvent: ({ id, data }) => sink.event({ id, data }),
    onComment: () => sink.comment?.(),
    onRetry: (ms) => sink.retry?.(ms),
  });
  if (response.body === null) return;
  const decoder = new TextDecoder();
  for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
}
