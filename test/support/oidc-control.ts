/** How tests turn the switches of the OpenID provider: also from workerd, over HTTP. */

import type { Fault } from "./oidc-faults.ts";

/** The claims about a person in the next token or userinfo response. */
export interface Person {
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly groups: readonly string[];
}

export type Subject = "alice" | "bob";

export interface Switches {
  /** A callback address that the client may use from now on. */
  readonly allowRedirect?: string;
  /** The session of this person, and all that was given out in it, is over. */
  readonly endSession?: string;
  /** How ID tokens are wrong from now on; `null`: they are right. */
  readonly misbehave?: Fault | null;
  /** Whether every request is answered with 503. */
  readonly isOut?: boolean;
  readonly change?: Readonly<Record<string, Partial<Person>>>;
}

export interface OidcState {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Every request so far, like "POST /token". */
  readonly requests: readonly string[];
}

declare module "vitest" {
  interface ProvidedContext {
    /** The issuer of a real OpenID provider, for the one file of tests that turns its switches. */
    oidc: string;
  }
}

export const CONTROL_PATH = "/control";

/** The same from another process, or from inside workerd. */
export async function turn(issuer: string, switches: Switches): Promise<OidcState> {
  const response = await fetch(`${issuer}${CONTROL_PATH}`, {
    method: "POST",
    body: JSON.stringify(switches),
  });
  if (!response.ok) throw new Error(`The provider's switches: ${await response.text()}`);
  return (await response.json()) as OidcState;
}
