/**
 * Dynamic client registration (RFC 7591). The answer is read by rules of our own: the library demands
 * members that servers leave out.
 */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import type { ClientAuthMethod } from "../settings.ts";
import type { Trouble } from "../trouble.ts";
import { registrationBody, type RegistrationFacts } from "./client-metadata.ts";
import { type EndpointAccess, sendRequest } from "./send-request.ts";

/** Plain data. What the server says counts, and not what was asked for. */
export interface RegisteredClient {
  readonly id: string;
  readonly method: ClientAuthMethod;
  readonly secret?: string;
  /** In milliseconds since 1970; never without it. */
  readonly secretExpiresAt?: number;
}

export type RegistrationOutcome =
  | { readonly kind: "registered"; readonly client: RegisteredClient }
  | {
      readonly kind: "failed";
      readonly trouble: Extract<Trouble, "registration-refused" | "registration-failed">;
    };

const TIMEOUT_MS = 10_000;

export async function register(
  endpoint: string,
  facts: RegistrationFacts,
  access: EndpointAccess,
): Promise<RegistrationOutcome> {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(registrationBody(facts)),
  };
  const answer = await sendRequest(endpoint, init, { ...access, timeoutMs: TIMEOUT_MS });
  if (typeof answer === "string") return failed("registration-failed");
  const { status, body } = answer;
  // Overload is no refusal: it may be tried again.
  if (status >= 400 && status < 500 && status !== 429) return failed("registration-refused");
  const isDone = status === 200 || status === 201;
  const client = isDone && body !== undefined ? parseClient(body) : undefined;
  return client === undefined ? failed("registration-failed") : { kind: "registered", client };
}

const METHODS: readonly unknown[] = ["none", "client_secret_basic", "client_secret_post"];
/** What can be sent in a header and a form. */
const VISIBLE = /^[\x20-\x7e]{1,4096}$/;

function parseClient(body: JsonObject): RegisteredClient | undefined {
  const { client_id: id, client_secret: secret, client_secret_expires_at: expiresAt } = body;
  if (typeof id !== "string" || !VISIBLE.test(id)) return undefined;
  const hasSecret = typeof secret === "string" && VISIBLE.test(secret);
  const method = methodOf(body["token_endpoint_auth_method"], hasSecret);
  if (method === undefined) return undefined;
  const expires = typeof expiresAt === "number" && expiresAt > 0 ? expiresAt * 1000 : undefined;
  return {
    id,
    method,
    ...(hasSecret && { secret }),
    ...(hasSecret && expires !== undefined && { secretExpiresAt: expires }),
  };
}

/** RFC 7591 section 2: Basic is the default. Without a secret there is nothing to send. */
function methodOf(value: unknown, hasSecret: boolean): ClientAuthMethod | undefined {
  const method = value ?? (hasSecret ? "client_secret_basic" : "none");
  if (!METHODS.includes(method)) return undefined;
  return hasSecret ? (method as ClientAuthMethod) : "none";
}

function failed(
  trouble: Extract<RegistrationOutcome, { kind: "failed" }>["trouble"],
): RegistrationOutcome {
  return { kind: "failed", trouble };
}
