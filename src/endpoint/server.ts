/** One configured server: its target, and the names and policies of its items. */

import type { ItemPolicy } from "../policy/item-policy.ts";
import type { IdentitySettings, ServerAuth } from "../accounts/settings.ts";
import { hashOf } from "../lib/random.ts";
import type { UpstreamTarget } from "../upstream/target.ts";

export interface Server {
  /** The operator's name for it, as in `target`. */
  readonly slug: string;
  /** The name that the slug was made of, for people. */
  readonly label?: string;
  readonly target: UpstreamTarget;
  /** How the gateway is known to it. */
  readonly auth: ServerAuth;
  /** The prefix of its names at an endpoint of several servers. */
  readonly prefix: string;
  /** Its names stay what they are also beside other servers: without a prefix, and whatever is in them. */
  readonly keepsNames?: true;
  /** The server's own name of the tool that connects an account, at a personal endpoint. */
  readonly connectTool?: string;
  /** The server is told who calls. */
  readonly identity?: IdentitySettings;
  readonly tools: ItemPolicy;
  readonly prompts: ItemPolicy;
  readonly resources: ItemPolicy;
}

/** @returns the prefix of a server, unless the operator has chosen another one. */
export function defaultPrefix(slug: string): string {
  return /^[a-z]/.test(slug) ? `${slug}__` : `_${slug}__`;
}

/** @returns whether a public name begins like those of a server with such a prefix. */
export function hasDefaultPrefix(publicName: string): boolean {
  return /^_?[a-z0-9-]+__/.test(publicName);
}

/** True where a server is reached in the same way, so that what was opened there goes on. */
export function isSameTarget(one: Server | undefined, other: Server | undefined): boolean {
  return one === other || (one && wayTo(one)) === (other && wayTo(other));
}

/** True where a server also knows its caller in the same way: by the same account, and told the same. */
export function isSameForCaller(one: Server | undefined, other: Server | undefined): boolean {
  return isSameTarget(one, other) && callerAt(one) === callerAt(other);
}

function callerAt(server: Server | undefined): string {
  const { credentials, assertion } = server?.target ?? {};
  return JSON.stringify([credentials?.owner, assertion?.caller]);
}

/** @returns a hash of the way in which the server is reached, with which another isolate can compare its own. */
export function targetHash(server: Server): Promise<string> {
  return hashOf(wayTo(server));
}

function wayTo({ auth, identity, target }: Server): string {
  const { endpoint, headers, transport, era, timeoutMs } = target;
  return JSON.stringify([endpoint.href, headers, transport, era, timeoutMs, auth, identity]);
}
