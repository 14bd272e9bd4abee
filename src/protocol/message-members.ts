/**
 * The members of MCP messages that the gateway reads, in all five revisions. They are as the other side
 * sent them: each reader judges what it reads, and everything else passes unchanged. So the types of the
 * SDK, which describe messages that were judged as a whole, are not used.
 */

import type { JsonObject } from "./json-rpc.ts";

/** `params` of requests and notifications. */
export interface Params extends JsonObject {
  readonly _meta?: unknown;
  readonly arguments?: unknown;
  readonly cursor?: unknown;
  readonly inputResponses?: unknown;
  readonly level?: unknown;
  readonly name?: unknown;
  readonly notifications?: unknown;
  readonly progressToken?: unknown;
  readonly ref?: unknown;
  readonly requestId?: unknown;
  readonly requestState?: unknown;
  readonly resourceSubscriptions?: unknown;
  readonly uri?: unknown;
}

/** `_meta`, beside the keys of `Meta`. */
export interface MetaObject extends JsonObject {
  readonly progressToken?: unknown;
}

/** The result of a request, and of a task. */
export interface Result extends JsonObject {
  readonly cacheScope?: unknown;
  readonly isError?: unknown;
  readonly nextCursor?: unknown;
  readonly requestState?: unknown;
  readonly resultType?: unknown;
  readonly serverInfo?: unknown;
  readonly status?: unknown;
  readonly ttlMs?: unknown;
}

/** `data` of an error. */
export interface ErrorData extends JsonObject {
  readonly elicitations?: unknown;
  readonly requiredCapabilities?: unknown;
  readonly supported?: unknown;
  /** The slug of the server that failed, as the gateway sets it. */
  readonly upstream?: unknown;
  readonly uri?: unknown;
}
