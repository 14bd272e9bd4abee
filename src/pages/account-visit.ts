/**
 * A visit to the pages of one server's account: who comes, and whose vault it is about. A GET changes
 * nothing and leads nowhere; a form has to come from a page of ours, with the token of its session. An
 * account that all share is the administrators' alone, and changing it takes a new sign-in.
 */

import { connectPath } from "../accounts/addresses.ts";
import type { Vault } from "../accounts/vault.ts";
import { signInPath } from "../auth/sign-in/browser.ts";
import { type AccountServer, type ConnectContext, isShared } from "./account-context.ts";
import { refusal, signInAgain } from "./page-guard.ts";
import { auditedAs, type PageVisitor, sentForm, visitorOf } from "./page-visitor.ts";
import { notFound, seeOther } from "./respond.ts";

export type AccountHandler = (
  context: ConnectContext,
  request: Request,
  slug: string,
) => Promise<Response>;

export interface AccountVisit {
  readonly context: ConnectContext;
  readonly request: Request;
  readonly server: AccountServer;
  readonly visitor: PageVisitor;
  /** The handle of the link that was followed. */
  readonly ask: string | undefined;
  /** The visitor's vault, or that of all, for one call. */
  readonly vault: () => Vault;
}

export interface AccountSubmission extends AccountVisit {
  readonly form: URLSearchParams;
}

/** A handle of ours; another text is no link, and is not passed on. */
const HANDLE = /^[A-Za-z0-9_-]{16,128}$/;

function askIn(parameters: URLSearchParams): string | undefined {
  const handle = parameters.get("e");
  if (handle === null) return undefined;
  return HANDLE.test(handle) ? handle : "";
}

/** Wraps a page. */
export function visited(show: (visit: AccountVisit) => Promise<Response>): AccountHandler {
  return async (context, request, slug) => {
    const server = connectable(context, slug);
    if (server === undefined) return notFound(context);
    const ask = askIn(new URL(request.url).searchParams);
    const visitor = await visitorOf(context, request);
    if (visitor === undefined) return seeOther(signInPath(connectPath(slug, ask)), context);
    if (isShared(server) && !visitor.isAdmin) return operatorsOnly(context);
    return show(visitOf({ context, request, server, visitor, ask }));
  };
}

/** A form of a page of ours, which its visitor has sent. */
export interface VisitorForm extends Pick<AccountVisit, "context" | "request" | "visitor"> {
  readonly slug: string;
  readonly form: URLSearchParams;
}

/** Wraps the action of a form, whether or not the server is configured. */
export function submittedBy(act: (submission: VisitorForm) => Promise<Response>): AccountHandler {
  return async (context, request, slug) => {
    const sent = await sentForm(context, request, connectPath(slug));
    if (sent instanceof Response) return sent;
    return act({ context, request, slug, ...sent });
  };
}

/** Wraps the action of a form of such a page. */
export function submittedFor(
  act: (submission: AccountSubmission) => Promise<Response>,
): AccountHandler {
  return submittedBy(async ({ context, request, visitor, slug, form }) => {
    const server = connectable(context, slug);
    if (server === undefined) return notFound(context);
    const ask = askIn(form);
    if (isShared(server)) {
      if (!visitor.isAdmin) {
        await auditedAs(context, request, visitor, "denied", { reason: "not an administrator" });
        return operatorsOnly(context);
      }
      if (!visitor.isFresh) return signInAgain(context, connectPath(slug, ask));
    }
    return act({ ...visitOf({ context, request, server, visitor, ask }), form });
  });
}

/** @returns a server at which a person connects an account; the gateway's own needs nobody. */
export function connectable({ accounts }: ConnectContext, slug: string): AccountServer | undefined {
  const server = accounts.servers.get(slug);
  return server?.auth.kind === "client-credentials" ? undefined : server;
}

export function visitOf(visit: Omit<AccountVisit, "vault">): AccountVisit {
  const { context, server, visitor } = visit;
  const { person } = visitor;
  const { vaults } = context.accounts;
  const owner = isShared(server)
    ? ({ kind: "shared" } as const)
    : ({ kind: "person", person } as const);
  return { ...visit, vault: () => vaults.of(owner) };
}

function operatorsOnly(context: ConnectContext): Response {
  return refusal(context, 403, {
    title: "One account for everybody",
    whatHappened:
      "This server is used with one account for all, which an administrator of this gateway connects.",
    whatToDo: ["Ask whoever runs this gateway to connect it."],
  });
}
