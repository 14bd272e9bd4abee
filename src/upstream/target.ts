/** One configured upstream server, resolved: its address, its headers and its limits. */

import type { Era } from "../protocol/revisions.ts";
import type { Credentials } from "./credentials.ts";

export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/** Says who calls, in a header that the gateway signs (`src/accounts/assertion`). */
export interface Assertion {
  readonly header: string;
  /** Plain data. */
  readonly caller: AssertedCaller;
  value(): Promise<string>;
}

export interface AssertedCaller {
  /** The gateway's id of the person, or of a service client; absent where the gateway itself asks. */
  readonly person?: string;
  /** The application that calls: of a service client, itself. Absent where there is no sign-in. */
  readonly application?: string;
  /** Of the gateway, as the caller knows it. */
  readonly origin: string;
}

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
  /** The person who publishes the server from a machine of theirs: nobody else has it, or anything kept of it. */
  readonly publisher?: string;
  /** Of a server that is told who calls; asked for each request. */
  readonly assertion?: Assertion;
  readonly transport: "auto" | "streamable-http" | "sse";
  readonly era: "auto" | Era;
  /** For one call without a message of the server, in milliseconds. */
  readonly timeoutMs: number;
  /** For one message that the upstream sends, in characters. */
  readonly maxMessageChars: number;
}
