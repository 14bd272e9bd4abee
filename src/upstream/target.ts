/** One configured upstream server, resolved: its address, its headers and its limits. */

import type { Era } from "../protocol/revisions.ts";
import type { Credentials } from "./credentials.ts";

export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

export interface UpstreamTarget {
  readonly slug: string;
  readonly endpoint: URL;
  /** The platform's `fetch`, or a service binding's. */
  readonly fetch: Fetch;
  /** The platform holds the server to the lengths that it declares, which it does not through a binding. */
  readonly isOverNetwork?: boolean;
  /** The operator's headers with secrets filled in; sent on every request, logged never. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a server that knows its callers by an account; asked for each request. */
  readonly credentials?: Credentials;
  readonly transport: "auto" | "streamable-http" | "sse";
  readonly era: "auto" | Era;
  /** For one call without a message of the server, in milliseconds. */
  readonly timeoutMs: number;
  /** For one message that the upstream sends, in characters. */
  readonly maxMessageChars: number;
}
