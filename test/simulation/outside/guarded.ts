/**
 * A server that knows its callers by an account: what has no access token that its vendor honours is answered 401,
 * before anything runs. What comes is checked against whose call it is.
 */

import { connectionOf, type Network } from "../platform/network.ts";
import { IsolateResponse } from "../platform/request-response.ts";
import type { Ledger } from "./ledger.ts";
import type { Vendor } from "./vendor.ts";

/** Each person has an account of their own, or all share one. */
export type Login = "oauth" | "oauth-shared";

/** The owner of the account that all share. */
export const SHARED = "shared";

/** A disconnected account may be used for `credentialCacheSeconds`, and what was sent may be on its way. */
const LATE_MS = 8000;

export function guard(network: Network, url: string, vendor: Vendor, ledger: Ledger): void {
  const { host } = new URL(url);
  const open = network.hosts.get(host);
  if (open === undefined) throw new Error(`There is no ${host}`);
  /** The account with which each session was opened. */
  const sessions = new Map<string, object>();
  network.hosts.set(host, {
    ...open,
    serve: async (request) => {
      const token = request.headers.get("authorization") ?? "";
      const grant = vendor.grantOf(token);
      if (grant === undefined || !vendor.accepts(token)) {
        const headers = { "www-authenticate": 'Bearer error="invalid_token"' };
        return new IsolateResponse(null, { status: 401, headers });
      }
      const late = vendor.now - (grant.endedAt ?? Infinity);
      // The sessions of an account are ended with its last credential.
      if (late > LATE_MS && request.method === "POST")
        ledger.find(`${grant.person} ended an account, which is used ${late} ms later`);
      const session = request.headers.get("mcp-session-id");
      if (session !== null && (sessions.get(session) ?? grant) !== grant)
        ledger.find(`the session ${session} is used with another account: ${token}`);
      const connection = connectionOf(request);
      if (connection !== undefined) ledger.owners.came.set(connection, grant.person);
      const response = await open.serve(request);
      const opened = response.headers.get("mcp-session-id");
      if (opened !== null) sessions.set(opened, grant);
      return response;
    },
  });
}
