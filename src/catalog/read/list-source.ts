/**
 * A server whose lists can be read for one kind of client: in the client's era if the server has it,
 * else in the other era, as a client with the same capabilities. A legacy server is asked in a session
 * of its own, which is closed afterwards. Requests to a modern server are independent, so nothing is
 * opened or closed.
 */

import { serverInfoOf } from "../../protocol/envelope.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { nullPeer } from "../../protocol/exchange.ts";
import { hasLawfulBindings } from "../../protocol/param-headers.ts";
import {
  type Era,
  isLegacyRevision,
  LATEST_LEGACY,
  LATEST_MODERN,
  type Revision,
} from "../../protocol/revisions.ts";
import {
  legacyClientToModernServer,
  modernClientToLegacyServer,
} from "../../protocol/revisions/translate-capabilities.ts";
import type { FoundServer } from "../../observability/health.ts";
import { LegacyConnection } from "../../upstream/legacy/connection.ts";
import type { LegacyClient } from "../../upstream/legacy/handshake.ts";
import {
  discover,
  forgetVerdict,
  isWorthRetrying,
  judge,
  legacyOnly,
} from "../../upstream/modern/discover.ts";
import { sendModern } from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { isOtherEra, UpstreamError } from "../../upstream/upstream-error.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { About, ListKind } from "../catalog.ts";

export interface ListSource {
  readonly era: Era;
  readonly revision: Revision;
  readonly transport: FoundServer["transport"];
  readonly about: About;
  /** The server may be asked for the list. */
  mayHave(list: ListKind): boolean;
  /** The item may be passed on to clients. */
  isLawful(list: ListKind, item: JsonObject): boolean;
  /** @throws UpstreamError when no answer is available. */
  ask(method: string, params: JsonObject): Promise<Reply>;
  /** Ends what was opened. Nothing waits for it. */
  close(): void;
}

const CAPABILITY: Readonly<Record<ListKind, string>> = {
  tools: "tools",
  resources: "resources",
  templates: "resources",
  prompts: "prompts",
};

/** @returns whether the server advertises such items: with an object, by the letter; some say `true`. */
export function advertises(capabilities: JsonObject, list: ListKind): boolean {
  const capability = capabilities[CAPABILITY[list]];
  return capability !== undefined && capability !== null && capability !== false;
}

/** @throws UpstreamError when the server is unavailable; the reason of the signal. */
export async function openListSource(
  target: UpstreamTarget,
  { revision, capabilities }: ClientKind,
  signal: AbortSignal,
): Promise<ListSource> {
  if (!isLegacyRevision(revision)) {
    const source = await openIfModern(target, capabilities, signal);
    if (source !== undefined) return source;
    const declared = modernClientToLegacyServer(capabilities);
    const client = { revision: LATEST_LEGACY, capabilities: declared, clientInfo: CLIENT_INFO };
    return openEither(target, client, capabilities, signal);
  }
  const client = { revision, capabilities, clientInfo: CLIENT_INFO };
  return openEither(target, client, legacyClientToModernServer(client), signal);
}

/** @returns `undefined` for a server that has no modern era, or none any more. */
async function openIfModern(
  target: UpstreamTarget,
  capabilities: JsonObject,
  signal: AbortSignal,
): Promise<ListSource | undefined> {
  if ((await discover(target)).era === "legacy") return undefined;
  try {
    return await openModern(target, capabilities, signal);
  } catch (error) {
    if (!isOtherEra(error) || (await discover(target)).era !== "legacy") throw error;
    return undefined;
  }
}

/** @param declared the client's capabilities for a server that turns out to be modern. */
async function openEither(
  target: UpstreamTarget,
  client: LegacyClient,
  declared: JsonObject,
  signal: AbortSignal,
): Promise<ListSource> {
  try {
    return await openLegacy(target, client, signal);
  } catch (error) {
    if (!isOtherEra(error)) throw error;
    // The known era may be an hour old.
    if ((await discover(target)).era === "legacy") forgetVerdict(target);
    return openModern(target, declared, signal);
  }
}

/** No client is behind this session to answer requests of the server. */
const NO_CLIENT = nullPeer("Nobody is here to answer: only lists are read");

/** @throws UpstreamError `other-era` when the server has no legacy era; or why it is unavailable. */
async function openLegacy(
  target: UpstreamTarget,
  client: LegacyClient,
  signal: AbortSignal,
): Promise<ListSource> {
  const connection = new LegacyConnection({
    target,
    client,
    unsolicited: NO_CLIENT,
    save: () => undefined,
  });
  // The server may be slow to answer the DELETE request.
  const close = (): void => void connection.close();
  try {
    const { handshake, transport } = await connection.open();
    const { revision, capabilities, serverInfo, instructions } = handshake;
    // Required before any request (lifecycle).
    await connection.notify({ method: "notifications/initialized" });
    return {
      ...{ era: "legacy", revision, transport },
      about: { capabilities, serverInfo, instructions },
      // What a server did not advertise MUST NOT be asked for (lifecycle, operation).
      mayHave: (list) => advertises(capabilities, list),
      isLawful: () => true,
      ask: (method, params) => connection.request({ method, params }, NO_CLIENT, signal),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** @throws UpstreamError `other-era` when the server has no modern era; or why it is unavailable. */
async function openModern(
  target: UpstreamTarget,
  clientCapabilities: JsonObject,
  signal: AbortSignal,
): Promise<ListSource> {
  const { slug } = target;
  const { era } = await discover(target);
  if (era === "legacy") throw legacyOnly(target);
  if (era === "unknown-modern") {
    throw new UpstreamError(slug, "other-era", "speaks none of this gateway's revisions");
  }
  const ask = async (method: string, params: JsonObject): Promise<Reply> => {
    const { reply } = await sendModern(target, {
      call: { method, params },
      clientCapabilities,
      clientInfo: CLIENT_INFO,
      signal,
    });
    if ("error" in reply) return reply;
    // A server may not ask for input before it returns a list.
    if (completeModernResult(method, reply.result)?.resultType !== "complete") {
      throw new UpstreamError(slug, "malformed", `answered ${method} with a wrong type of result`);
    }
    return reply;
  };
  let reply = await ask("server/discover", {});
  if ("error" in reply && isWorthRetrying(reply.error)) reply = await ask("server/discover", {});
  if ("error" in reply) {
    // It was a modern server an hour ago, or for other capabilities.
    forgetVerdict(target);
    if (judge(reply).era === "legacy") throw legacyOnly(target);
    const { code } = reply.error;
    throw new UpstreamError(slug, "malformed", `answered server/discover with error ${code}`);
  }
  const { capabilities, instructions } = reply.result;
  const serverInfo = serverInfoOf(reply.result);
  return {
    ...{ era: "modern", revision: LATEST_MODERN, transport: "streamable-http" },
    about: {
      capabilities: isObject(capabilities) ? capabilities : {},
      serverInfo: isObject(serverInfo) ? serverInfo : undefined,
      instructions: typeof instructions === "string" ? instructions : undefined,
    },
    // Some servers have lists that `server/discover` does not advertise.
    mayHave: () => true,
    isLawful: (list, item) => list !== "tools" || hasLawfulBindings(item),
    ask,
    close: () => undefined,
  };
}
