/** Writes server-sent events (HTML Living Standard, 9.2). A library reads them. */

export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  /** Milliseconds a client should wait before it reconnects. */
  readonly retry?: number;
  readonly data: string;
}

/**
 * Encodes one event, ended by its blank line.
 *
 * @throws TypeError when `event` or `id` has a line break or NUL: they would forge fields.
 */
export function encodeEvent({ event, id, retry, data }: SseEvent): string {
  let text = "";
  if (event !== undefined) text += `event: ${singleLine("event", event)}\n`;
  if (id !== undefined) text += `id: ${singleLine("id", id)}\n`;
  if (retry !== undefined) text += `retry: ${retry}\n`;
  // Data is usually JSON on one line; only other data is split.
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|[\r\n]/) : [data];
  for (const line of lines) text += `data: ${line}\n`;
  return `${text}\n`;
}

/** A comment that keeps proxies from closing the stream, and reveals dead connections. */
export const KEEP_ALIVE = ": keepalive\n\n";

/** The response headers of every stream: no cache and no proxy may hold an event back. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

function singleLine(field: string, value: string): string {
  // oxlint-disable-next-line no-control-regex -- NUL in an id makes a client ignore it
  if (/[\r\n\0]/.test(value)) throw new TypeError(`SSE ${field} must be a single line`);
  return value;
}
