/** Addresses that nobody else can read along with. */

import { isLoopback } from "../../src/lib/loopback.ts";

export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}
