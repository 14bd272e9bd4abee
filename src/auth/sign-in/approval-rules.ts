/**
 * When the question whether an application may act for somebody need not be asked again, and what
 * has changed when it is.
 */

import { isLoopback } from "../../lib/loopback.ts";
import { covers } from "../scopes.ts";
import { redirectKind } from "../clients/redirect-uris.ts";
import type { Approval } from "../store/approvals.ts";
import type { AskingClient } from "./asking-client.ts";
import type { AuthorizeContent } from "./attempt.ts";

/** What is not as it was when the person last approved the application. */
export interface Changes {
  /** What it was called then. */
  readonly earlierName?: string;
  /** Where it listens, or how it proves who it is. */
  readonly isOtherwise: boolean;
  /** Scopes that were not approved before; empty when nothing was. */
  readonly newScopes: readonly string[];
}

export const NO_CHANGES: Changes = { isOtherwise: false, newScopes: [] };

type Asked = Pick<AuthorizeContent, "client" | "request" | "scopes">;

/** A program on a person's machine listens on another port each time: it is the same program. */
function redirectClass(redirectUri: string): string {
  const url = new URL(redirectUri);
  if (!isLoopback(url.hostname)) return redirectUri;
  url.port = "";
  return url.href;
}

/**
 * Whether an approval spares its person the next question. One for a program of their own machine
 * never does: whatever listens there, or opens links of its scheme, may be another one this time
 * (RFC 8252 section 8.6). It is kept to tell what has changed.
 */
export function isRemembered({ redirectUri }: Pick<Approval, "redirectUri">): boolean {
  return redirectKind(redirectUri) === "https";
}

/** Whether an approval stands for this request as well. */
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

/** Whether somebody has approved an application at this address before, for whatever it was. */
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
    ...{ client: id, digest, name, scopes, approvedAt },
    redirectUri: redirectClass(request.redirectUri),
    resource: request.resource,
  };
}
