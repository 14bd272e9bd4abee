/**
 * A client that registers is forgotten within a day; one that gets tokens is kept, for as long as
 * its grants can be refreshed. An authorization server that forgets the client of a live grant
 * signs its users out, and many applications never register again.
 */

import type { Limits } from "../../../policy/limits.ts";
import { isDocumentUrl } from "../../clients/client-id-url.ts";
import type { AuthStore } from "../../context/auth-store.ts";

const DAY_SECONDS = 86_400;

/** Extends a registration, once a day at most. */
export async function keepRegistration(
  store: Pick<AuthStore, "ofClient">,
  clientId: string,
  { registrationDays, refreshIdleDays }: Pick<Limits, "registrationDays" | "refreshIdleDays">,
): Promise<void> {
  // A client with a document has no registration.
  if (isDocumentUrl(clientId)) return;
  const days = Math.max(registrationDays, refreshIdleDays + 1);
  const expiresAt = Math.floor(Date.now() / 1000) + days * DAY_SECONDS;
  await store
    .ofClient(clientId)
    .rows.extend(`client:${clientId}`, expiresAt, expiresAt - DAY_SECONDS);
}
