/** What has to be known of a modern server's tool to call it, and to read what comes of it. */

import type { ParamBinding } from "../protocol/param-headers.ts";

export interface ToolFacts {
  /** Which arguments the server wants in headers. */
  readonly bindings: readonly ParamBinding[];
  /** As the server gave it. */
  readonly outputSchema?: unknown;
}

/**
 * Never rejects.
 *
 * @param name the server's own.
 * @param isDoubted what was said before did not fit: the server is asked anew.
 * @returns `undefined` when the tool is not listed, or no list can be had.
 */
export type ToolFactsOf = (name: string, isDoubted: boolean) => Promise<ToolFacts | undefined>;
