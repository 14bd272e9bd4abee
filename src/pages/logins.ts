/**
 * `/admin/logins`: the login doctor. A page for an administrator who is signed in; for a program
 * the same as JSON, with a token for the operator's pages. A token opens no page, and a cookie is
 * not accepted as a token.
 */

import { verifiedHost } from "../auth/clients/client-id-url.ts";
import type { AuthContext } from "../auth/context/context.ts";
import type { SiteContext } from "./account-context.ts";
import { attentionOf } from "./attention-facts.ts";
import { diagnose } from "../auth/doctor/diagnose.ts";
import { findLogin, recentLogins } from "../auth/doctor/read-traces.ts";
import type { LoginStep, LoginTrace, StepKind, TracedStep } from "../auth/trace/trace.ts";
import { clientOf } from "../auth/trace/trace-key.ts";
import { authenticate } from "../auth/resource/bearer.ts";
import { operatorOf, readerOf } from "./operator-visit.ts";
import { shown } from "./page-guard.ts";
import { navFor, visitorFrom } from "./page-visitor.ts";
import { clientNameOf } from "./login-names.ts";
import { page } from "./respond.ts";
import {
  type LoginStepView,
  loginsView,
  loginTraceView,
  type LoginTraceView,
} from "./view/logins-view.ts";
import { PATHS } from "./view/paths.ts";
import { wordsFor } from "./words.ts";

const SHOWN = 100;

/** Serves `/admin/logins`, and `/admin/logins/<reference>` for one attempt. */
export async function showLogins(context: SiteContext, request: Request): Promise<Response> {
  const accept = request.headers.get("accept") ?? "";
  const wantsJson = accept.includes("application/json") && !accept.includes("text/html");
  return wantsJson ? asJson(context, request) : asPage(context, request);
}

const asPage = shown({ forAdmins: true }, async (context, who, request) => {
  const { origin, store, limits } = context;
  const now = Date.now();
  const visitor = visitorFrom(context, who);
  const items = await attentionOf(operatorOf(context), readerOf(visitor));
  const nav = navFor(visitor, "logins", items.length);
  const reference = referenceIn(request);
  if (reference !== undefined) {
    const trace = await findLogin(store, reference);
    if (trace !== undefined) {
      const view = loginTraceView({ nav, ...traceModel(trace, reference, now, limits) });
      return page(view, { origin });
    }
  }
  const logins = (await recentLogins(store, SHOWN)).map((trace) => {
    const { outcome, sentence } = diagnose(trace.steps, now, limits);
    const { reference, startedAt } = trace;
    return { reference, startedAt, clientName: clientNameOf(trace), outcome, summary: sentence };
  });
  const status = reference === undefined ? 200 : 404;
  return page(loginsView({ nav, now, logins, missing: reference }), { origin, status });
});

function traceModel(
  trace: LoginTrace,
  reference: string,
  now: number,
  limits: AuthContext["limits"],
): Omit<LoginTraceView, "nav"> {
  const { steps, startedAt, key } = trace;
  const { outcome, sentence } = diagnose(steps, now, limits);
  return {
    now,
    reference,
    startedAt,
    outcome,
    clientName: clientNameOf(trace),
    verifiedHost: verifiedHost(clientOf(key) ?? ""),
    likelyCause: outcome === "failed" ? sentence : undefined,
    steps: steps.map((step, n) => stepView(step, steps[n - 1])),
  };
}

async function asJson(context: AuthContext, request: Request): Promise<Response> {
  // A page for administrators alone does not use cached checks of tokens.
  const limits = { ...context.limits, bearerCacheSeconds: 0 };
  const authentication = await authenticate({ ...context, limits }, request, PATHS.admin);
  if (authentication.kind === "refused") return authentication.response;
  const { store } = context;
  const reference = referenceIn(request);
  const now = Date.now();
  if (reference === undefined) {
    const traces = await recentLogins(store, SHOWN);
    return answer({ logins: traces.map((trace) => summary(trace, now, limits)) });
  }
  const trace = await findLogin(store, reference);
  if (trace === undefined) return answer({ error: "not_found" }, 404);
  return answer({ ...summary(trace, now, limits), steps: trace.steps });
}

function summary(trace: LoginTrace, now: number, limits: AuthContext["limits"]): object {
  const { reference, key, startedAt, updatedAt, steps } = trace;
  const { outcome, sentence } = diagnose(steps, now, limits);
  return {
    reference,
    startedAt,
    updatedAt,
    clientId: clientOf(key),
    clientName: clientNameOf(trace),
    outcome,
    summary: sentence,
  };
}

/** @returns the reference in the path, or in the query for a person who typed it into the form. */
function referenceIn({ url }: Request): string | undefined {
  const { pathname, searchParams } = new URL(url);
  const [, inPath] = /^\/admin\/logins\/([a-z0-9]{1,40})$/i.exec(pathname) ?? [];
  return inPath?.toLowerCase() ?? searchParams.get("reference")?.trim().toLowerCase();
}

function answer(body: object, status = 200): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
}

const TITLES: Readonly<Record<StepKind, string>> = {
  probed: "Looked for metadata",
  challenged: "Was told to sign in",
  bearer_refused: "Came with a token that is not good",
  registered: "Registered itself",
  registration_refused: "Could not register",
  asked: "Asked for access",
  ask_refused: "Could not ask for access",
  consent_shown: "The consent page was shown",
  answered: "The person answered",
  attempt_refused: "The attempt could not go on",
  sent_to_provider: "The person was sent to sign in",
  signed_in: "The person signed in",
  sign_in_refused: "The person was not signed in",
  code_issued: "A code was sent",
  token_issued: "A token was issued",
  token_refused: "No token was issued",
  used: "The token was used",
};

const FAILURES: ReadonlySet<StepKind> = new Set([
  ...(["bearer_refused", "registration_refused", "ask_refused", "attempt_refused"] as const),
  ...(["sign_in_refused", "token_refused"] as const),
]);
const NOTED: ReadonlySet<StepKind> = new Set(["probed", "challenged", "consent_shown", "asked"]);

/** The members that are not shown as fields of a step: our ids mean nothing to a person. */
const HIDDEN_MEMBERS: ReadonlySet<string> = new Set([
  "kind",
  "client",
  "attempt",
  "grant",
  "isFound",
]);

/** The label of a field whose value alone is not clear. */
const WORDS: Readonly<Record<string, string>> = {
  redirectUri: "back to ",
  redirectUris: "back to ",
  registered: "registered ",
  resource: "for ",
  scopes: "with ",
  provider: "with ",
  user: "as ",
  claimed: "client id: ",
  error: "OAuth error ",
  status: "HTTP status ",
};

/** Fields whose values are codes. */
const CODES: ReadonlySet<string> = new Set(["reason", "grantType", "decision"]);

/** @param before the previous step, so that only changes of the sender are shown. */
function stepView(traced: TracedStep, before: TracedStep | undefined): LoginStepView {
  const { step, at, times, address, agent } = traced;
  const isElsewhere = before?.address !== address || before.agent !== agent;
  const from = isElsewhere ? [`from ${address}`, agent] : [];
  const detail = [...detailsOf(step), ...from].filter((each) => each !== "").join(" · ");
  return {
    at,
    title: times === 1 ? TITLES[step.kind] : `${TITLES[step.kind]} (${times} times)`,
    detail: detail === "" ? undefined : detail,
    outcome: outcomeOf(step),
  };
}

function detailsOf(step: LoginStep): readonly string[] {
  const isDocument = step.kind === "ask_refused" && step.reason === "document";
  const said = Object.entries(step)
    .filter(([name]) => !HIDDEN_MEMBERS.has(name))
    // The likely cause already has the sentence for it.
    .filter(([name]) => name !== "detail" || !isDocument)
    .map(([name, value]: [string, unknown]) => {
      const text = Array.isArray(value) ? value.join(", ") : String(value);
      // The one error code that no RFC defines.
      if (name === "error" && text === "limited") return wordsFor(text);
      return (WORDS[name] ?? "") + (CODES.has(name) ? wordsFor(text) : text);
    });
  return step.kind === "probed" && !step.isFound ? [...said, "there is none"] : said;
}

function outcomeOf(step: LoginStep): LoginStepView["outcome"] {
  const isDenied = step.kind === "answered" && step.decision === "denied";
  const isTooLittle = step.kind === "used" && step.status !== 200;
  if (FAILURES.has(step.kind) || isDenied || isTooLittle) return "failed";
  return NOTED.has(step.kind) ? "noted" : "ok";
}
