/** Recognizes loopback hosts by name alone: no name is resolved. */

const NAMES: ReadonlySet<string> = new Set(["localhost", "[::1]"]);

/** @param hostname as `URL` yields it: lower case, IPv6 in brackets, IPv4 in dotted form. */
export function isLoopback(hostname: string): boolean {
  return NAMES.has(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
