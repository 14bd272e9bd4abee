/** The context of one request, passed as one value. A front door's context satisfies it. */

import type { CallSink } from "../observability/call-record.ts";
import type { Limits } from "../policy/limits.ts";
import type { SessionKeys } from "../endpoint/keyring.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Feeds } from "./feeds.ts";

export interface PublisherScope {
  readonly person: string;
  /** Of the list of them that the endpoint is made of; absent where nobody was asked for one. */
  readonly version?: () => number | undefined;
  /** From when on every isolate serves that list, in milliseconds since 1970. */
  readonly settledAt?: number;
  /** A server has come or gone: what is known of them is read again. Absent where that is done before. */
  readonly changed?: () => void;
}

export interface RequestScope {
  readonly endpoint: Endpoint;
  /** The path of the endpoint. */
  readonly route: string;
  /** The caller. Another principal cannot open a value that is sealed for this one. */
  readonly principal: string;
  /** The person behind the principal, where servers know people by their accounts. */
  readonly person?: string | undefined;
  /** The application of the person, where servers are told who calls. */
  readonly application?: string | undefined;
  /** Of the gateway, as the caller knows it: for links. */
  readonly origin?: string | undefined;
  /** The person runs the gateway: reads what is wrong in its configuration, and connects the account that all share. */
  readonly isAdmin?: boolean;
  /** Where people publish servers, and the endpoint may get or lose one of this person's. */
  readonly publisher?: PublisherScope | undefined;
  readonly feeds: Feeds;
  readonly keys: SessionKeys;
  readonly limits: Limits;
  /** What takes the records of calls, beside the log. */
  readonly sinks?: readonly CallSink[] | undefined;
  /** Keeps the Worker running for work that outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** The part of it that decides where a request goes. */
export type RoutingScope = Pick<
  RequestScope,
  "endpoint" | "publisher" | "feeds" | "limits" | "waitUntil"
>;
