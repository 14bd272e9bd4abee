/**
 * Counts the streams and resources on which each principal listens in this isolate, so that no
 * principal uses up the capacity shared by all.
 */

import { TimedLeases } from "../../lib/timed-leases.ts";
import type { Limits } from "../../policy/limits.ts";

/** One principal's part of the resources, and of their characters, that a server is watched for. */
const SHARE = 1 / 4;

export interface Asking {
  readonly principal: string;
  readonly uris: readonly string[];
}

/** One stream's part of its principal's share. */
interface Part {
  readonly uriCount: number;
  readonly uriChars: number;
}

export interface ListenSlot {
  /** The first of the requested URIs, as far as the principal's share goes. */
  readonly uris: readonly string[];
  readonly leave: () => void;
}

export interface ListenSlotsOptions {
  readonly limits: Pick<Limits, "listenStreamsPerPrincipal" | "subscribedUrisPerServer">;
  /** The limit for all URIs watched at one server, in characters. */
  readonly maxUrisChars: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class ListenSlots {
  readonly #parts = new TimedLeases<Part>();

  /** @returns `undefined` when the principal has no stream left. Call `leave` in any case. */
  enter({ principal, uris }: Asking, options: ListenSlotsOptions): ListenSlot | undefined {
    const { limits, maxUrisChars, now } = options;
    const parts = this.#parts.held(principal, now);
    if (parts.length >= limits.listenStreamsPerPrincipal) return undefined;
    let countLeft = Math.ceil(limits.subscribedUrisPerServer * SHARE);
    let charsLeft = maxUrisChars * SHARE;
    for (const { uriCount, uriChars } of parts) {
      countLeft -= uriCount;
      charsLeft -= uriChars;
    }
    const taken: string[] = [];
    let uriChars = 0;
    for (const uri of uris) {
      if (taken.length >= countLeft || uriChars + uri.length > charsLeft) break;
      taken.push(uri);
      uriChars += uri.length;
    }
    const part: Part = { uriCount: taken.length, uriChars };
    return { uris: taken, leave: this.#parts.take(principal, part, now) };
  }
}
