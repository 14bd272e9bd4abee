/**
 * `/admin/logins`: the login doctor. A page for an administrator who is signed in; for a program
 * the same as JSON, with a token for the operator's pages. A token opens no page, and a cookie is
 * not accepted as a token.
 */

import { verifiedHost } from "../auth/clients/client-id-url.ts";
import type { AuthContext } from "../auth/context/context.ts";
import { diagnose } from "../auth/doctor/diagnose.ts";
import { findLogin, recentLogins } from "../auth/doctor/read-traces.ts";
import type { LoginTrace } from "../auth/trace/trace.ts";
import { clientOf } from "../auth/trace/trace-key.ts";
import { authenticate } from "../auth/resource/bearer.ts";
import { shown } from "./page-guard.ts";
import { stepView } from "./login-steps.ts";
import { page } from "./respond.ts";
import { loginsView, loginTraceView } from "./view/logins-view.ts";
import { PATHS } from "./view/paths.ts";

const SHOWN = 100;

/** Serves `/admin/logins`, and `/admin/logins/<reference>` for one attempt. */
export async function showLogins(context: AuthContext, request: Request): Promise<Response> {
  const accept = request.headers.get("accept") ?? "";
  const wantsJson = accept.includes("application/json") && !accept.includes("text/html");
  return wantsJson ? asJson(context, request) : asPage(context, request);
}

const asPage = shown({ forAdmins: true }, async (context, _who, request) => {
  const { origin, store, limits } = context;
  const now = Date.now();
  const reference = referenceIn(request);
  if (reference !== undefined) {
    const trace = await findLogin(store, reference);
    if (trace !== undefined) return page(tracePage(trace, reference, now, limits), { origin });
  }
  const logins = (await recentLogins(store, SHOWN)).map((trace) => {
    const { outcome, sentence } = diagnose(trace.steps, now, limits);
    const { reference, startedAt } = trace;
    return { reference, startedAt, clientName: nameOf(trace), outcome, summary: sentence };
  });
  const status = reference === undefined ? 200 : 404;
  return page(loginsView({ now, logins, missing: reference }), { origin, status });
});

function tracePage(
  trace: LoginTrace,
  reference: string,
  now: number,
  limits: AuthContext["limits"],
): ReturnType<typeof loginTraceView> {
  const { steps, startedAt, key } = trace;
  const { outcome, sentence } = diagnose(steps, now, limits);
  return loginTraceView({
    now,
    reference,
    startedAt,
    outcome,
    clientName: nameOf(trace),
    verifiedHost: verifiedHost(clientOf(key) ?? ""),
    likelyCause: outcome === "failed" ? sentence : undefined,
    steps: steps.map((step, n) => stepView(step, steps[n - 1])),
  });
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
    clientName: nameOf(trace),
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

function nameOf({ key, steps }: LoginTrace): string {
  const names = steps.flatMap(({ step }) => ("name" in step ? [step.name] : []));
  const name = names.findLast((each) => each !== undefined && each !== "");
  const client = clientOf(key);
  if (name !== undefined || client !== undefined) return name ?? client ?? "";
  return steps.some(({ step }) => step.kind === "signed_in" || step.kind === "sign_in_refused")
    ? "The pages of this gateway"
    : (steps[0]?.agent ?? "");
}

function answer(body: object, status = 200): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
}
