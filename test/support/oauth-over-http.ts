/**
 * How a scripted browser in Node sends: with `node:http`, because the `fetch` of Node says of every
 * request that a script made it (`Sec-Fetch-Mode: cors`).
 */

import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

import type { Send } from "./oauth-browser.ts";

export const overHttp: Send = async (url, { method = "GET", headers = {}, body } = {}) => {
  const bytes = new Uint8Array(await new Response(body ?? null).arrayBuffer());
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // A length of its own: without one, Node would send even a GET's nothing in chunks.
    const length = body === undefined ? {} : { "Content-Length": bytes.byteLength };
    const sent = request(url, { method, headers: { ...headers, ...length } }, resolve);
    sent.on("error", reject);
    sent.end(bytes);
  });
  const { statusCode = 0, rawHeaders } = answer;
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : [],
  );
  const isBodiless = statusCode === 204 || statusCode === 304;
  const content = new Uint8Array(await buffer(answer));
  return new Response(isBodiless ? null : content, {
    status: statusCode,
    headers: pairs as [string, string][],
  });
};
