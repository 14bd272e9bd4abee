/** Steps of attempts that a test makes up, and what is kept of them. */

import { findLogin } from "../../src/auth/doctor/read-traces.ts";
import type { LoginStep, LoginTrace, Trace } from "../../src/auth/trace/trace.ts";
import { traceInto } from "../../src/auth/context/tracer.ts";
import { ORIGIN } from "./gateway.ts";
import { records } from "./people.ts";

const URI = "http://127.0.0.1:9/cb";

let count = 0;
export const newName = (kind: string): string => `${kind}-${(count += 1)}-${crypto.randomUUID()}`;

/** Requests of one client: their steps are stored when `kept` is over. */
export function teller(
  address = newName("address"),
  agent = "test/1",
): { trace: Trace; kept: () => Promise<unknown> } {
  const promises: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>): void => void promises.push(promise);
  const trace = traceInto({ store: records().store, waitUntil, address, agent });
  return { trace, kept: () => Promise.all(promises) };
}

/** Records all of them at once. @returns the references. */
export async function tell(
  steps: readonly LoginStep[],
  from: ReturnType<typeof teller> = teller(),
): Promise<readonly string[]> {
  const references = steps.map((step) => from.trace(step));
  await from.kept();
  return references;
}

/** Somebody without a token, at ever new addresses, more often than a page lists attempts. */
export async function comeWithoutToken(times = 120): Promise<void> {
  const tellers = Array.from({ length: times }, () => teller());
  await Promise.all(tellers.map((from) => tell([{ kind: "challenged", path: "/mcp" }], from)));
}

export async function traceOf(reference: string | undefined): Promise<LoginTrace> {
  const found = await findLogin(records().store, reference ?? "");
  if (found === undefined) throw new Error(`No trace ${reference}`);
  return found;
}

export const kinds = ({ steps }: LoginTrace): readonly string[] =>
  steps.map(({ step }) => step.kind);

export const registered = (client: string): LoginStep => ({
  ...{ kind: "registered", client, name: "Test app", redirectUris: [URI] },
});
export const asked = (client: string): LoginStep => ({
  ...{ kind: "asked", client, name: "Test app", redirectUri: URI },
  ...{ resource: `${ORIGIN}/mcp`, scopes: ["mcp"] },
});
export const used = (client: string, grant?: string): LoginStep => ({
  ...{ kind: "used", client, path: "/mcp", status: 200 },
  ...(grant !== undefined && { grant }),
});
/** @param grant of the client's, if it has any. */
export const noToken = (client: string, grant?: string): LoginStep => ({
  ...{ kind: "token_refused", client, grantType: "refresh_token", error: "invalid_grant" },
  ...(grant !== undefined && { grant }),
});
