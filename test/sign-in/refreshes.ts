/** Refreshes of an application that is connected, and what is done to the object that has its grant. */

import { type Tokens, tokensIn } from "../support/oauth-requests.ts";
import { SECOND } from "./clock.ts";
import { ask, type Connected, refreshing, statusAndError } from "./codes.ts";

/** Past the window in which the same request gets the same answer. */
export const WINDOW = 31 * SECOND;

export async function refresh(application: Connected, { refresh_token }: Tokens): Promise<Tokens> {
  return tokensIn(await ask(refreshing(application, refresh_token)));
}

export async function refusal(application: Connected, { refresh_token }: Tokens): Promise<unknown> {
  return statusAndError(await ask(refreshing(application, refresh_token)));
}

/** What a token gets that is good for nothing. */
export const REFUSED = [400, "invalid_grant"];
