/**
 * Whether anything says that a request has come from another machine. Tunnels and proxies put a
 * loopback host in place of their own, and would open this machine to the world. What they say can
 * be made up, so it only ever speaks against a request.
 */

import { isLoopback } from "../lib/loopback.ts";

/** Lists of addresses or hosts. The last one is what the runtime says of the connection. */
const LISTS = ["x-forwarded-for", "x-real-ip", "x-forwarded-host", "cf-connecting-ip"];
/** RFC 7239 section 4: for whom, and for which host. The rest says nothing of where it is from. */
const FORWARDED = /(?:^|[;,])\s*(?:for|host)\s*=\s*("[^"]*"|[^;,]*)/gi;

export function isFromElsewhere(headers: Headers): boolean {
  const listed = LISTS.flatMap((name) => headers.get(name)?.split(",") ?? []);
  const forwarded = [...(headers.get("forwarded") ?? "").matchAll(FORWARDED)].map(
    ([, value = ""]) => value.replaceAll('"', ""),
  );
  return headers.has("cf-ray") || ![...listed, ...forwarded].every(isOfThisMachine);
}

/** @param node a host or an address, as it comes: with a port or without, in brackets or not. */
function isOfThisMachine(node: string): boolean {
  const name = node.trim().toLowerCase();
  const [, host = name] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(name) ?? [];
  const address = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/, "");
  return isLoopback(address.includes(":") ? `[${address}]` : address);
}
