/**
 * Where all messages come on one stream, over HTTP+SSE and stdio, the SDKs take all messages of a chunk in one go:
 * the last progress before a result is handled when the call is over already. It did arrive: see `progress`.
 */
export function isLateProgress({ message }: Error): boolean {
  return message.includes("progress notification for an unknown");
}
