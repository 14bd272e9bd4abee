/**
 * Identifies the person for whom a page is requested: by the session, or by a proxy in front of the
 * gateway.
 */

import { signedIn } from "./browser.ts";
import type { AuthContext } from "../context/context.ts";
import { admit } from "./admit.ts";
import type { Problem } from "./ending.ts";
import { identify } from "./identify.ts";
import type { SignedInPerson } from "./signed-in-person.ts";

export interface Presence {
  readonly kind: "presence";
  /** The signed-in person. */
  readonly person?: SignedInPerson;
  /** The cookies of a session that was opened just now. */
  readonly cookies: readonly string[];
}

/** @returns a problem when the person is identified but not admitted. */
export async function whoIsThere(
  context: AuthContext,
  request: Request,
): Promise<Presence | Problem> {
  const found = await signedIn(context, request);
  if (found !== undefined) {
    const { user, session } = found;
    const { authenticatedAt, codeMac } = session;
    const person = { user, authenticatedAt, ...(codeMac !== undefined && { codeMac }) };
    return { kind: "presence", person, cookies: [] };
  }
  const identified = await identify(context, request);
  if (identified === undefined) return { kind: "presence", cookies: [] };
  const admitted = await admit(context, request, identified);
  return admitted.kind === "problem" ? admitted : { ...admitted, kind: "presence" };
}
