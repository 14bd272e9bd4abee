/**
 * The rules for when an approval spares the user the consent page, and for what has changed when it
 * does not.
 */

import { isLoopback } from "../../lib/loopback.ts";
import { covers } from "../scopes.ts";
import { redirectKind } from "../clients/redirect-uris.ts";
import type { Approval } from "../store/approvals.ts";
import type { AskingClient } from "./asking-client.ts";
import type { AuthorizeContent, Changes } from "./attempt.ts";

export const NO_CHANGES: Changes = { isOtherwise: false, newScopes: [] };

type Asked = Pick<AuthorizeContent, "client" | "request" | "scopes">;

/** A program on the user's machine listens on another port each time: it is the same program. */
function redirectClass(redirectUri: string): string {
  const url = new URL(redirectUri);
  if (!isLoopback(url.hostname)) return redirectUri;
  url.port = "";
  return url.href;
}

/**
 * @returns whether an approval spares its user the next question. An approval of a program on the
 *   user's own machine never does: another program may listen there, or open links of its scheme,
 *   the next time (RFC 8252 section 8.6). It is stored to show what has changed.
 */
export function isRemembered({ redirectUri }: Pick<Approval, "redirectUri">): boolean {
  return redirectKind(redirectUri) === "https";
}

/** @returns whether an approval covers this request too. */
export function isCovered(
  { client, request, scopes }: Asked,
  approvals: readonly Approval[],
): boolean {
  const { redirectUri, resource } = request;
  const approval = approvals.find(
    (each) =>
      each.client === client.id && each.redirectUri === redirectUri && each.resource === resource,
  );
  return (
    approval?.digest === client.digest &&
    isRemembered(approval) &&
    scopes.every((scope) => covers(approval.scopes, scope))
  );
}

/**
 * @returns whether the user has approved an application at this redirect before, whatever the
 *   scopes.
 */
export function isReturning(
  clientId: string,
  redirectUri: string,
  approvals: readonly Approval[],
): boolean {
  const place = redirectClass(redirectUri);
  return approvals.some((each) => each.client === clientId && each.redirectUri === place);
}

/** @param approvals newest first. */
export function changesSince(
  { client, request, scopes }: Asked,
  approvals: readonly Approval[],
): Changes {
  const ofClient = approvals.filter((each) => each.client === client.id);
  const [last] = ofClient;
  if (last === undefined) return NO_CHANGES;
  const approved = ofClient
    .filter(({ resource }) => resource === request.resource)
    .flatMap((each) => each.scopes);
  const isSame = last.digest === client.digest;
  return {
    ...(!isSame && last.name !== client.name && { earlierName: last.name }),
    isOtherwise: !isSame && last.name === client.name,
    newScopes: approved.length === 0 ? [] : scopes.filter((scope) => !covers(approved, scope)),
  };
}

export function approvalOf(
  { client, request }: Asked,
  scopes: readonly string[],
  approvedAt: number,
): Approval {
  const { id, digest, name }: AskingClient = client;
  return {
    client: id,
    digest,
    name,
    scopes,
    approvedAt,
    redirectUri: redirectClass(request.redirectUri),
    resource: request.resource,
  };
}
