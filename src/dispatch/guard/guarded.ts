/**
 * Guards every routed request to a server, in both eras: with limits on concurrency, rate and result
 * size, the circuit breaker, and the line in the log.
 */

import { effectAtHand } from "../../catalog/cache/tool-facts.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { CallSpan } from "../../protocol/call-span.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { ownData, ownError } from "../../protocol/own-error.ts";
import { personIn } from "../../lib/principal.ts";
import { serverKey } from "../../upstream/server-key.ts";
import type { UpstreamFailure } from "../../upstream/upstream-error.ts";
import type { Trouble } from "../../catalog/catalog.ts";
import type { Server } from "../../endpoint/server.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import type { Breaker, BreakerTransition, Pass } from "./breaker.ts";
import { type GateDecision, gateOf } from "./gate.ts";
import { type Answered, logged, replyBytes } from "./logged.ts";
import { isOpen } from "../../policy/item-policy.ts";
import { ErrorCode } from "../../protocol/error-codes.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { noCompletions, resourceNotFound } from "../../catalog/routing/routing-refusals.ts";
import { Meta, metaOf } from "../../protocol/envelope.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { ToolEffect } from "../../protocol/tool-effect.ts";

type Context = Pick<
  RequestScope,
  "endpoint" | "principal" | "feeds" | "limits" | "sinks" | "waitUntil"
>;

interface RoutedRequest {
  readonly server: Server;
  /** In the server's own names. */
  readonly call: Call;
  readonly client: ClientKind;
  readonly span: CallSpan | undefined;
}

/**
 * Runs one request of a client at its server.
 *
 * @param run rejects only when the client cancelled, with the reason of its signal; an upstream's
 *   failure is an error reply (`failureReply`).
 * @param now the clock, in milliseconds since 1970.
 */
export function guarded(
  context: Context,
  { server, call, client, span }: RoutedRequest,
  run: () => Promise<Reply>,
  now: () => number = () => Date.now(),
): Promise<Reply> {
  const { principal, limits } = context;
  const { slug } = server;
  const effect = (): ToolEffect | undefined => effectAtHand(server, client, call);
  const act = async (): Promise<Answered> => {
    const gate = gateOf(server, limits, now);
    const entry = gate.enter();
    if (entry.kind === "refused") return refused(slug, call, entry);
    let reply: Reply;
    try {
      reply = await run();
    } catch (error) {
      gate.breaker.abandoned(entry.pass);
      throw error;
    } finally {
      gate.leave(entry);
    }
    const transition = reportToBreaker(reply, gate.breaker, entry.pass, principal);
    if (transition !== undefined) announce(context, server, transition, now());
    return measured(slug, call, settled(context.endpoint, server, call, reply), limits.resultBytes);
  };
  return logged(context, { span, server: slug, call, effect }, act, now);
}

function refused(
  slug: string,
  call: Call,
  entry: Extract<GateDecision, { kind: "refused" }>,
): Answered {
  const seconds = Math.max(1, Math.ceil(entry.waitMs / 1000));
  const reply = entry.why === "paused" ? paused(slug, seconds) : overloaded(slug, call, seconds);
  return { reply, refusal: entry.why };
}

function measured(slug: string, call: Call, reply: Reply, limit: number): Answered {
  const bytes = replyBytes(reply);
  if (bytes <= limit) return { reply, bytes };
  return { reply: tooLarge(slug, call, bytes, limit), refusal: "result_size", bytes };
}

/** Some servers send this status when a tool fails: it proves that they answer. */
const INTERNAL_SERVER_ERROR = 500;

/**
 * Reports the outcome of a request to the breaker. A tool that crashes behind a proxy causes a 502 or
 * 504, and a slow one a timeout: only a failure to connect proves that the server is unreachable; any
 * other may be the call's own fault.
 */
function reportToBreaker(
  reply: Reply,
  breaker: Breaker,
  pass: Pass,
  principal: string,
): BreakerTransition {
  const { reason, status } = ownData(reply);
  // Without an account, one person's request says nothing of the server; and of one that is known to be offline
  // there is nothing to find out.
  if (reason === ("account" satisfies UpstreamFailure) || reason === OFFLINE) {
    breaker.abandoned(pass);
    return undefined;
  }
  const isUnreachable = reason === "unreachable" && status !== INTERNAL_SERVER_ERROR;
  if (!isUnreachable && reason !== "timeout") return breaker.answered();
  const isConnected = reason === "timeout" || status !== undefined;
  // A person has as many applications as they like.
  return isConnected ? breaker.failed(pass, personIn(principal)) : breaker.failed(pass);
}

const OFFLINE = "offline" satisfies UpstreamFailure;

/** Reports the transition to the server's feed: it marks the server, or looks for changes. */
function announce(
  { feeds, waitUntil }: Context,
  { slug, target }: Server,
  transition: BreakerTransition,
  now: number,
): void {
  const message = `Upstream "${slug}" is not answering`;
  const trouble: Trouble | undefined =
    transition === "opened" ? { reason: "unreachable", message, since: now } : undefined;
  const report = async (): Promise<void> => {
    const key = await serverKey(target);
    if (key !== undefined) await feeds.of(key).report(trouble);
  };
  // Without the report the feed finds out later.
  waitUntil(report().catch(() => undefined));
}

/** The codes of 2026-07-28 and of earlier revisions; servers on the SDKs use the former in all. */
const NOT_FOUND: ReadonlySet<number> = new Set([
  ErrorCode.InvalidParams,
  ErrorCode.ResourceNotFound,
]);

/** Replaces a server's error where it would break a promise of the gateway. */
function settled({ isMerged }: Endpoint, server: Server, call: Call, reply: Reply): Reply {
  if (!("error" in reply)) return reply;
  const { code } = reply.error;
  const { method, params } = call;
  if (method === "completion/complete" && isMerged && code === ErrorCode.MethodNotFound) {
    return noCompletions(eraOfCall(call));
  }
  // A missing resource must look like a forbidden one, and a forbidden one never reaches the server.
  if (method === "resources/read" && !isOpen(server.resources) && NOT_FOUND.has(code)) {
    return resourceNotFound(eraOfCall(call), params?.uri);
  }
  return reply;
}

/** A request of 2026-07-28 names its revision in `_meta`. */
function eraOfCall({ params }: Call): Era {
  return Object.hasOwn(metaOf(params), Meta.protocolVersion) ? "modern" : "legacy";
}

/** The limit on concurrency or rate is reached. */
function overloaded(slug: string, call: Call, retryAfter: number): Reply {
  const sentence = `Upstream "${slug}" has more requests than it may be given; come back in ${retryAfter} s`;
  return call.method === "tools/call"
    ? toolFailed(call, sentence)
    : {
        ...ownError(ErrorCode.Transport, sentence, {
          upstream: slug,
          reason: "overloaded",
          retryAfter,
        }),
        refusedWith: 429,
      };
}

/** The server has not answered for a while. */
function paused(slug: string, retryAfter: number): Reply {
  const sentence = `Upstream "${slug}" is not answering; it is tried again in ${retryAfter} s`;
  const data = { upstream: slug, reason: "unreachable", retryAfter };
  return ownError(ErrorCode.InternalError, sentence, data);
}

/** A result is never cut: a client could take a part for the whole. */
function tooLarge(slug: string, call: Call, bytes: number, limit: number): Reply {
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
