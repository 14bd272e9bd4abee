/**
 * The methods of every revision in one table. Each era refuses the methods that do not list
 * it; there are no special cases. `mirrored-name.ts` has what `Mcp-Name` mirrors of them, which the command needs, too.
 */

import type { Era } from "./revisions.ts";

interface MethodFacts {
  readonly eras: readonly Era[];
  /** Complete results carry `ttlMs` and `cacheScope` (2026-07-28, caching: MUST). */
  readonly isCacheable?: true;
  /** A server may answer with questions first; no other method allows it (2026-07-28, MRTR: MUST NOT). */
  readonly mayHaveRounds?: true;
  /** A server may answer with a task (the extension for tasks, supported methods). */
  readonly mayBecomeTask?: true;
  /** The method belongs to the extension for tasks: only clients that declare it may use it. */
  readonly isOfTasks?: true;
}

const BOTH: readonly Era[] = ["legacy", "modern"];
const LEGACY: readonly Era[] = ["legacy"];
const MODERN: readonly Era[] = ["modern"];

const CLIENT_REQUESTS: Readonly<Record<string, MethodFacts>> = {
  initialize: { eras: LEGACY },
  ping: { eras: LEGACY },
  "server/discover": { eras: MODERN, isCacheable: true },
  "tools/list": { eras: BOTH, isCacheable: true },
  "tools/call": { eras: BOTH, mayHaveRounds: true, mayBecomeTask: true },
  "resources/list": { eras: BOTH, isCacheable: true },
  "resources/templates/list": { eras: BOTH, isCacheable: true },
  "resources/read": { eras: BOTH, mayHaveRounds: true, isCacheable: true },
  "resources/subscribe": { eras: LEGACY },
  "resources/unsubscribe": { eras: LEGACY },
  "prompts/list": { eras: BOTH, isCacheable: true },
  "prompts/get": { eras: BOTH, mayHaveRounds: true },
  "completion/complete": { eras: BOTH },
  "logging/setLevel": { eras: LEGACY },
  "subscriptions/listen": { eras: MODERN },
  // The methods of the same names in 2025-11-25 exist only between a server and clients of its own era.
  "tasks/get": { eras: MODERN, isOfTasks: true },
  "tasks/update": { eras: MODERN, isOfTasks: true },
  "tasks/cancel": { eras: MODERN, isOfTasks: true },
};

// Method names come from clients: `constructor` must not be found.
function factsOf(method: string): MethodFacts | undefined {
  return Object.hasOwn(CLIENT_REQUESTS, method) ? CLIENT_REQUESTS[method] : undefined;
}

export function isServed(method: string, era: Era): boolean {
  return factsOf(method)?.eras.includes(era) ?? false;
}

/**
 * True when 2026-07-28 has the method and no legacy revision does. The extension for tasks does not
 * count: methods of 2025-11-25 have the same names.
 */
export function isOfModernEraAlone(method: string): boolean {
  const facts = factsOf(method);
  return facts !== undefined && facts.isOfTasks !== true && !facts.eras.includes("legacy");
}

export function isCacheable(method: string): boolean {
  return factsOf(method)?.isCacheable ?? false;
}

export function mayHaveRounds(method: string): boolean {
  return factsOf(method)?.mayHaveRounds ?? false;
}

export function mayBecomeTask(method: string): boolean {
  return factsOf(method)?.mayBecomeTask ?? false;
}

export function isOfTasks(method: string): boolean {
  return factsOf(method)?.isOfTasks ?? false;
}
