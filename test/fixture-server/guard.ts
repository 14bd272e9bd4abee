// DNS-rebinding guard: the fixture listens on loopback and answers only callers that address it
// by a loopback name. A browser page from elsewhere gets 403.

import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { rpcError } from "./rpc-error.ts";

/** The 403 for a foreign Host or Origin; undefined when the request may proceed. */
export function rejectForeign(request: Request): Response | undefined {
  const host = validateHostHeader(request.headers.get("host"), localhostAllowedHostnames());
  if (!host.ok) return rpcError(403, -32000, host.message);
  const origin = validateOriginHeader(request.headers.get("origin"), localhostAllowedOrigins());
  if (!origin.ok) return rpcError(403, -32000, origin.message);
  return undefined;
}
