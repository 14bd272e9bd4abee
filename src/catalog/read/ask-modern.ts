/** Asks a modern server: its requests are independent, so nothing is opened or closed. */

import { serverInfoOf } from "../../protocol/envelope.ts";
import { isObject, type JsonObject, type Reply } from "../../protocol/json-rpc.ts";
import { completeModernResult } from "../../protocol/modern-result.ts";
import { hasLawfulBindings } from "../../protocol/param-headers.ts";
import { discover, forgetVerdict, legacyOnly } from "../../upstream/modern/discover.ts";
import { sendModern } from "../../upstream/modern/send.ts";
import type { UpstreamTarget } from "../../upstream/target.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { CLIENT_INFO } from "../../protocol/gateway-info.ts";
import type { About } from "../catalog.ts";
import { advertises, type ListSource } from "./list-source.ts";

/** @throws UpstreamError `other-era` when the server has no modern era; or why it is unavailable. */
export async function askModern(
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
    if (completeModernResult(method, reply.result)?.["resultType"] !== "complete") {
      throw new UpstreamError(slug, "malformed", `answered ${method} with a wrong type of result`);
    }
    return reply;
  };
  const reply = await ask("server/discover", {});
  if ("error" in reply) {
    // It was a modern server an hour ago, or for other capabilities.
    forgetVerdict(target);
    const { code } = reply.error;
    throw new UpstreamError(slug, "malformed", `answered server/discover with error ${code}`);
  }
  const about = readAbout(reply.result);
  return {
    era: "modern",
    about,
    advertises: (list) => advertises(about.capabilities, list),
    // Some servers have lists that `server/discover` does not advertise.
    mayHave: () => true,
    isLawful: (list, thing) => list !== "tools" || hasLawfulBindings(thing),
    ask,
    close: () => undefined,
  };
}

function readAbout(result: JsonObject): About {
  const { capabilities, instructions } = result;
  const serverInfo = serverInfoOf(result);
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(serverInfo) ? serverInfo : undefined,
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}
