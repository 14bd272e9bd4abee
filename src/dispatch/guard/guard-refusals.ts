/** The replies that the guard sends in place of a server's. */

import { Meta, metaOf } from "../../protocol/envelope.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { ownError } from "../../protocol/own-error.ts";
import type { Era } from "../../protocol/revisions.ts";

/** A request of 2026-07-28 names its revision in `_meta`. */
export function eraOfCall({ params }: Call): Era {
  return Object.hasOwn(metaOf(params), Meta.protocolVersion) ? "modern" : "legacy";
}

/** The limit on concurrency or rate is reached. */
export function overloaded(slug: string, call: Call, retryAfter: number): Reply {
  const sentence = `Upstream "${slug}" has more requests than it may be given; come back in ${retryAfter} s`;
  return call.method === "tools/call"
    ? toolFailed(call, sentence)
    : ownError(ErrorCode.Transport, sentence, {
        upstream: slug,
        reason: "overloaded",
        retryAfter,
      });
}

/** The server has not answered for a while. */
export function paused(slug: string, retryAfter: number): Reply {
  const sentence = `Upstream "${slug}" is not answering; it is tried again in ${retryAfter} s`;
  const data = { upstream: slug, reason: "unreachable", retryAfter };
  return ownError(ErrorCode.InternalError, sentence, data);
}

/** A result is never cut: a client could take a part for the whole. */
export function tooLarge(slug: string, call: Call, bytes: number, limit: number): Reply {
  const sentence = `The answer of upstream "${slug}" has ${bytes} bytes; LIMITS.resultBytes allows ${limit}. Ask for less of it`;
  return call.method === "tools/call"
    ? toolFailed(call, sentence)
    : ownError(ErrorCode.InternalError, sentence, { upstream: slug, reason: "too-large" });
}

/** A tool's error result: a model can read it and act on it. */
function toolFailed(call: Call, text: string): Reply {
  const result = { content: [{ type: "text", text }], isError: true };
  return { result: eraOfCall(call) === "modern" ? { ...result, resultType: "complete" } : result };
}
