/**
 * Rows of the key-value storage that hold what a client or a server sent. They are JSON text, because the
 * storage clones values, and numbers that JavaScript cannot hold cannot be cloned (`lib/lossless-json.ts`).
 */

import { parseLossless } from "../src/lib/lossless-json.ts";

/** @param row `undefined` where there is none; the value itself where an earlier version wrote it. */
export function readStored(row: unknown): unknown {
  return typeof row === "string" ? parseLossless(row) : row;
}
