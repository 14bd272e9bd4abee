/**
 * A published server as a target of the gateway's connectors: its requests go to the object of its person,
 * which is a server of Streamable HTTP, and never to a network.
 */

import { isObject, type JsonObject } from "../protocol/json-rpc.ts";
import { slugOfPublished } from "../protocol/publishing.ts";
import { tryJson } from "../lib/try-json.ts";
import type { Fetch, UpstreamTarget } from "../upstream/target.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";

/** No host of a network: it only has to parse. The person is in it, so that nothing known by a URL is shared. */
const ORIGIN = "http://published.internal";
/** As the configuration's for other servers. */
const TIMEOUT_MS = 300_000;
const OFFLINE = "edgeway-offline";
const GONE = "gone";

/**
 * @param publisher the person's id.
 * @param open sends a request to the person's object.
 * @param onGone is called when a request has found that the server is in no list: nothing is kept of it then.
 */
export function publishedTarget(
  publisher: string,
  name: string,
  open: Fetch,
  maxMessageChars: number,
  onGone: () => void,
): UpstreamTarget {
  const slug = slugOfPublished(name);
  return {
    slug,
    publisher,
    endpoint: new URL(`/${encodeURIComponent(publisher)}/${name}`, ORIGIN),
    fetch: async (url, init) => orOffline(slug, await open(url, init), onGone),
    headers: {},
    transport: "streamable-http",
    era: "auto",
    timeoutMs: TIMEOUT_MS,
    maxMessageChars,
  };
}

/** @returns the name of the server that a request is to. */
export function publishedNameIn({ pathname }: URL): string {
  return pathname.slice(pathname.lastIndexOf("/") + 1);
}

/** The answer of a server that is not connected. @param sentence goes on after its name. */
export function offlineResponse(sentence: string): Response {
  return unserved(sentence, "1");
}

/** The answer of one that is in no list. @param sentence as above. */
export function goneResponse(sentence: string): Response {
  return unserved(sentence, GONE);
}

function unserved(sentence: string, how: string): Response {
  return Response.json({ sentence }, { status: 503, headers: { [OFFLINE]: how } });
}

/** @throws UpstreamError `offline`: the request did not run. */
async function orOffline(slug: string, response: Response, onGone: () => void): Promise<Response> {
  const how = response.headers.get(OFFLINE);
  if (how === null) return response;
  const value = tryJson(await response.text());
  const { sentence }: JsonObject = isObject(value) ? value : {};
  if (how === GONE) onGone();
  throw new UpstreamError(slug, "offline", String(sentence));
}
