/** The login doctor: for every way in which an attempt can stop, the sentence that names it. */

import { describe, test } from "vitest";

import { diagnose } from "../../../../src/auth/doctor/diagnose.ts";
import type { Diagnosis } from "../../../../src/auth/doctor/diagnose.ts";
import type { TokenReason } from "../../../../src/auth/trace/trace.ts";
import type { LoginStep, TracedStep } from "../../../../src/auth/trace/trace.ts";

const LIMITS = { attemptMinutes: 10, codeSeconds: 120 };
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const NOW = 1_800_000_000_000;

const CLIENT = { client: "c1" };
const URI = "http://127.0.0.1:1234/cb";
const registered: LoginStep = { kind: "registered", ...CLIENT, name: "T", redirectUris: [URI] };
const asked: LoginStep = {
  ...{ kind: "asked", ...CLIENT, name: "T", redirectUri: URI },
  ...{ resource: "https://gw.example.com/mcp", scopes: ["mcp"] },
};
const shown: LoginStep = { kind: "consent_shown", ...CLIENT };
const approved: LoginStep = { kind: "answered", ...CLIENT, decision: "approved" };
const away: LoginStep = { kind: "sent_to_provider", ...CLIENT, provider: "github" };
const signedIn: LoginStep = { kind: "signed_in", ...CLIENT, provider: "github", user: "u_1" };
const code: LoginStep = { kind: "code_issued", ...CLIENT, user: "u_1" };
const token: LoginStep = { kind: "token_issued", ...CLIENT };
const used: LoginStep = { kind: "used", ...CLIENT, path: "/mcp", status: 200 };
const probed: LoginStep = { kind: "probed", path: "/.well-known/x", isFound: true };
const missed: LoginStep = { kind: "probed", path: "/mcp/.well-known/x", isFound: false };
const challenged: LoginStep = { kind: "challenged", path: "/mcp" };
const badBearer: LoginStep = { kind: "bearer_refused", path: "/mcp" };

type Ask = Extract<LoginStep, { kind: "ask_refused" }>;
const ask = (reason: Ask["reason"], more: Partial<Ask> = {}): LoginStep => ({
  ...{ kind: "ask_refused", ...CLIENT, reason },
  ...more,
});
const stopped = (reason: Extract<LoginStep, { kind: "attempt_refused" }>["reason"]): LoginStep => ({
  kind: "attempt_refused",
  ...CLIENT,
  reason,
});
const noSignIn = (reason: string, detail = ""): LoginStep => ({
  ...{ kind: "sign_in_refused", ...CLIENT, provider: "github", reason, detail },
});
type Refused = Extract<LoginStep, { kind: "token_refused" }>;
const noToken = (
  error: string,
  reason?: TokenReason,
  grantType: Refused["grantType"] = "authorization_code",
): LoginStep => ({
  ...{ kind: "token_refused", ...CLIENT, grantType, error },
  ...(reason !== undefined && { reason }),
});
const noRefresh = (error: string, reason?: TokenReason): LoginStep =>
  noToken(error, reason, "refresh_token");
const noRegistration = (error: string, redirectUris?: readonly string[]): LoginStep => ({
  ...{ kind: "registration_refused", error },
  ...(redirectUris !== undefined && { redirectUris }),
});

/** @param ages of the steps in milliseconds, or of the last one; the others come a second apart. */
function traced(steps: readonly LoginStep[], ages: number | readonly number[] = 0): TracedStep[] {
  return steps.map((step, n) => {
    const age = typeof ages === "number" ? ages + (steps.length - 1 - n) * SECOND : (ages[n] ?? 0);
    const at = NOW - age;
    const common = { at, lastAt: at, times: 1, address: "192.0.2.1", agent: "test" };
    return { step, reference: `r${n}`, ...common };
  });
}

interface Case {
  readonly steps: readonly LoginStep[];
  readonly ages?: number | readonly number[];
  readonly outcome: Diagnosis["outcome"];
  readonly says: string;
}

const BEFORE_ASKING: readonly Case[] = [
  { steps: [], outcome: "open", says: "Nothing has happened yet." },
  { steps: [probed], outcome: "open", says: "The application looks up how to sign in." },
  {
    ...{ steps: [missed, probed], ages: 5 * MINUTE, outcome: "failed" },
    says: "The application looked up how to sign in and went no further: it may know neither of the ways to register.",
  },
  {
    ...{ steps: [missed], outcome: "failed" },
    says: "The application looked for its way to sign in where there is none: check the address that it was given.",
  },
  { steps: [challenged], outcome: "open", says: "The application was told to sign in." },
  {
    ...{ steps: [challenged], ages: 5 * MINUTE, outcome: "failed" },
    says: "The application was told to sign in, and never looked up how: it may not be able to.",
  },
  {
    ...{ steps: [badBearer], outcome: "failed" },
    says: "The application sent a token that is not good here: it has expired, was revoked, or is for another server.",
  },
  { steps: [probed, registered], outcome: "open", says: "The application has registered itself." },
  {
    ...{ steps: [registered], ages: 5 * MINUTE, outcome: "failed" },
    says: "The application registered itself and never asked for access: its browser window may have been blocked.",
  },
  {
    ...{ steps: [noRegistration("invalid_redirect_uri", ["ftp://a/b"])], outcome: "failed" },
    says: "The application wanted to register a redirect address that is not allowed: ftp://a/b.",
  },
  {
    ...{ steps: [noRegistration("invalid_redirect_uri")], outcome: "failed" },
    says: "The application wanted to register a redirect address that is not allowed.",
  },
  {
    ...{ steps: [noRegistration("invalid_client_metadata")], outcome: "failed" },
    says: "The application's registration says something that is not supported here.",
  },
  {
    ...{ steps: [noRegistration("limited")], outcome: "failed" },
    says: "Too many applications registered from this address: wait a minute and try again.",
  },
  {
    ...{ steps: [noRegistration("invalid_request")], outcome: "failed" },
    says: "The application's registration could not be read.",
  },
];

const ASKING: readonly Case[] = [
  { steps: [registered, asked], outcome: "open", says: "The application has asked for access." },
  {
    ...{ steps: [registered, asked], ages: 11 * MINUTE, outcome: "failed" },
    says: "The application asked for access, and the person did not go on.",
  },
  {
    ...{ steps: [ask("unknown-client")], outcome: "failed" },
    says: "The client id is not known any more: remove the server from the application and add it again.",
  },
  {
    steps: [
      ask("redirect-mismatch", {
        redirectUri: "http://127.0.0.1:1234/cb",
        registered: ["https://a.example/other", "http://localhost:1234/cb"],
      }),
    ],
    outcome: "failed",
    says: "The application was registered with http://localhost:1234/cb but asked for http://127.0.0.1:1234/cb.",
  },
  {
    steps: [
      ask("redirect-mismatch", {
        redirectUri: "https://a.example/new",
        registered: ["https://b.example/x", "https://a.example/old"],
      }),
    ],
    outcome: "failed",
    says: "The application was registered with https://a.example/old but asked for https://a.example/new.",
  },
  {
    steps: [ask("redirect-mismatch", { redirectUri: "nothing", registered: ["app://x/y"] })],
    outcome: "failed",
    says: "The application was registered with app://x/y but asked for nothing.",
  },
  {
    ...{ steps: [ask("redirect-mismatch")], outcome: "failed" },
    says: "The application asked for a redirect address that it has not registered.",
  },
  {
    steps: [ask("unknown-resource", { resource: "https://gw.example.com/old" })],
    outcome: "failed",
    says: "The application asked for a resource that is not here: https://gw.example.com/old.",
  },
  {
    ...{ steps: [ask("unknown-resource")], outcome: "failed" },
    says: "The application asked for a resource that is not here.",
  },
  {
    ...{ steps: [ask("document", { detail: "Its document is too long." })], outcome: "failed" },
    says: "Its document is too long.",
  },
  {
    ...{ steps: [ask("document", { detail: "timeout" })], outcome: "failed" },
    says: "The host of the application's metadata document did not answer in time.",
  },
  {
    ...{ steps: [ask("document")], outcome: "failed" },
    says: "The document that the application's client id leads to could not be used.",
  },
  {
    ...{ steps: [ask("unknown-scope")], outcome: "failed" },
    says: "The application asked for scopes, and none of them is to be had here.",
  },
  {
    ...{ steps: [ask("no-pkce")], outcome: "failed" },
    says: "The application did not use PKCE with S256, which is needed here.",
  },
  {
    ...{ steps: [ask("unsupported")], outcome: "failed" },
    says: "The application asked in a way that is not supported here.",
  },
  {
    ...{ steps: [ask("malformed")], outcome: "failed" },
    says: "The application's request could not be read: something is missing or came twice.",
  },
  {
    ...{ steps: [ask("limited")], outcome: "failed" },
    says: "There were too many requests from this address: wait a minute and try again.",
  },
];

const DECIDING: readonly Case[] = [
  {
    ...{ steps: [asked, shown], ages: 9 * MINUTE, outcome: "open" },
    says: "The consent page is shown, and waits for an answer.",
  },
  {
    ...{ steps: [asked, shown], ages: 10 * MINUTE, outcome: "failed" },
    says: "The consent page was shown but nobody answered it within 10 minutes.",
  },
  {
    ...{ steps: [shown, { ...approved, decision: "denied" }], outcome: "failed" },
    says: "The person turned the application away.",
  },
  {
    ...{ steps: [shown, approved], outcome: "open" },
    says: "The application was approved, and the person signs in.",
  },
  {
    ...{ steps: [shown, approved], ages: 11 * MINUTE, outcome: "failed" },
    says: "The application was approved, but nobody signed in after it.",
  },
  {
    ...{ steps: [shown, stopped("expired")], outcome: "failed" },
    says: "The page was left open for too long: start again from the application.",
  },
  {
    ...{ steps: [shown, stopped("used")], outcome: "failed" },
    says: "The page was sent twice, or opened again with the browser's back button: start again from the application.",
  },
  {
    ...{ steps: [shown, stopped("other-browser")], outcome: "failed" },
    says: "The attempt went on in another browser than it began in, or the browser keeps no cookies.",
  },
  {
    ...{ steps: [approved, stopped("ended")], outcome: "failed" },
    says: "The person was signed out while they approved the application: start again from the application.",
  },
  {
    ...{ steps: [shown, stopped("foreign-origin")], outcome: "failed" },
    says: "The answer did not come from this gateway's own page.",
  },
  {
    ...{ steps: [shown, stopped("malformed")], outcome: "failed" },
    says: "The answer could not be read: start again from the application.",
  },
  {
    ...{ steps: [approved, away], outcome: "open" },
    says: "The person signs in with github.",
  },
  {
    ...{ steps: [approved, away], ages: 11 * MINUTE, outcome: "failed" },
    says: "The person was sent to github to sign in and did not come back.",
  },
  {
    ...{ steps: [away, noSignIn("not-allowed", "x")], outcome: "failed" },
    says: "The person proved who they are with github, but is not among those who may use this gateway.",
  },
  {
    ...{ steps: [away, noSignIn("disabled")], outcome: "failed" },
    says: "The person was disabled by an administrator.",
  },
  {
    ...{ steps: [away, noSignIn("limited")], outcome: "failed" },
    says: "There were too many tries to sign in: wait a quarter of an hour.",
  },
  {
    ...{ steps: [away, noSignIn("bad-nonce", "The answer was for another.")], outcome: "failed" },
    says: "The answer was for another.",
  },
  {
    ...{ steps: [away, noSignIn("bad-nonce")], outcome: "failed" },
    says: "github did not sign the person in.",
  },
  { steps: [away, signedIn], outcome: "open", says: "The person has signed in." },
  {
    ...{ steps: [away, signedIn], ages: 5 * MINUTE, outcome: "failed" },
    says: "The person signed in, but the application was not sent its code.",
  },
  {
    steps: [{ kind: "signed_in", provider: "github", user: "u_1" }],
    ...{ ages: 60 * MINUTE, outcome: "succeeded" },
    says: "Somebody signed in to these pages.",
  },
];

const GETTING_A_TOKEN: readonly Case[] = [
  { steps: [asked, code], outcome: "open", says: "The application was sent its code." },
  {
    ...{ steps: [asked, code], ages: 2 * MINUTE, outcome: "failed" },
    says: `The application never came back with its code: it may have been closed, or something blocks its redirect to ${URI}.`,
  },
  {
    ...{ steps: [code], ages: 2 * MINUTE, outcome: "failed" },
    says: "The application never came back with its code: it may have been closed, or something blocks its redirect.",
  },
  { steps: [code, token], outcome: "open", says: "The application has its token." },
  {
    ...{ steps: [code, token], ages: 5 * MINUTE, outcome: "failed" },
    says: "The application got its token and never used it: it may have been closed, or it did not accept the answer.",
  },
  {
    ...{ steps: [code, token, noToken("invalid_grant")], outcome: "failed" },
    says: "The application sent its code twice, so its access was ended: connect the application again.",
  },
  {
    ...{ steps: [noToken("invalid_grant", "used-code")], outcome: "failed" },
    says: "The application sent its code twice, so its access was ended: connect the application again.",
  },
  {
    ...{ steps: [token, code, noToken("invalid_grant", "verifier")], outcome: "failed" },
    says: "The application's code verifier does not belong to its request: it may have begun twice at once.",
  },
  {
    ...{ steps: [code, noToken("invalid_grant", "redirect")], outcome: "failed" },
    says: "The application named another redirect address for its code than it had asked for.",
  },
  {
    ...{ steps: [code, noToken("invalid_grant", "other-client")], outcome: "failed" },
    says: "The application sent a code that was given to another one.",
  },
  {
    ...{ steps: [code, noToken("invalid_grant")], ages: [2 * MINUTE, 0], outcome: "failed" },
    says: "The application sent its code too late: it is good for 120 seconds.",
  },
  {
    ...{ steps: [code, noToken("invalid_grant")], outcome: "failed" },
    says: "The application sent a code that is not good, or not any more.",
  },
  {
    ...{ steps: [noToken("invalid_client", "unknown-client")], outcome: "failed" },
    says: "The client id is not known any more: remove the server from the application and add it again.",
  },
  {
    ...{ steps: [noToken("invalid_client", "wrong-secret")], outcome: "failed" },
    says: "The application did not prove who it is: its secret is missing or wrong.",
  },
  {
    ...{ steps: [code, noToken("invalid_target")], outcome: "failed" },
    says: "The application asked for a token for another resource than it was approved for.",
  },
  {
    ...{ steps: [code, noToken("invalid_scope")], outcome: "failed" },
    says: "The application asked for scopes that it was not given.",
  },
  {
    ...{ steps: [noToken("unsupported_grant_type", undefined, "other")], outcome: "failed" },
    says: "The application asked for a token in a way that is not supported here.",
  },
  {
    ...{ steps: [noToken("unauthorized_client")], outcome: "failed" },
    says: "The application asked for a token in a way that is not supported here.",
  },
  {
    steps: [noToken("temporarily_unavailable", "limited", "client_credentials")],
    outcome: "failed",
    says: "The application asked for tokens too often: it has to use each of them for longer.",
  },
  {
    ...{ steps: [noToken("temporarily_unavailable", "document")], outcome: "failed" },
    says: "Too many metadata documents of applications were asked for at that host: the application will try again.",
  },
  {
    ...{ steps: [noRefresh("temporarily_unavailable", "host-fails")], outcome: "failed" },
    says: "The application's own host did not give its metadata document, or its keys: the application will try again.",
  },
  {
    ...{ steps: [noToken("temporarily_unavailable", "internal-error")], outcome: "failed" },
    says: "The gateway itself failed, and its log says how: the application will try again.",
  },
  {
    ...{ steps: [noToken("invalid_request")], outcome: "failed" },
    says: "The application's request for a token could not be read.",
  },
];

const USING_IT: readonly Case[] = [
  {
    ...{ steps: [token, used], ages: 9999 * MINUTE, outcome: "succeeded" },
    says: "The application is connected.",
  },
  {
    ...{ steps: [token, { ...used, status: 403 }], outcome: "failed" },
    says: "The application's token does not allow what it tried: it has to ask for more access.",
  },
  {
    ...{ steps: [token, badBearer], outcome: "failed" },
    says: "The application got a token and sent it to another address than it is for, or sent another one.",
  },
  // What goes on before and after by itself decides nothing.
  { steps: [token, used, probed], outcome: "succeeded", says: "The application is connected." },
  { steps: [token, used, challenged], outcome: "succeeded", says: "The application is connected." },
  {
    ...{ steps: [noRefresh("invalid_grant", "expired")], outcome: "failed" },
    says: "The application's access was not used for too long: connect the application again.",
  },
  {
    ...{ steps: [noRefresh("invalid_grant", "ended")], outcome: "failed" },
    says: "The application's access was ended: connect the application again.",
  },
  {
    ...{ steps: [code, token, used, noRefresh("invalid_grant", "replaced")], outcome: "failed" },
    says: "The application sent a token that was replaced before: it lost its newest one, or somebody has a copy. Its access was ended: connect the application again.",
  },
  {
    ...{ steps: [noRefresh("invalid_grant", "other-client")], outcome: "failed" },
    says: "The application sent a token that was given to another one.",
  },
  {
    ...{ steps: [noRefresh("invalid_grant", "provider-ended")], outcome: "failed" },
    says: "The sign-in provider has ended the person's session: they have to sign in again.",
  },
  {
    ...{ steps: [noRefresh("invalid_grant", "too-old")], outcome: "failed" },
    says: "The person signed in too long ago: connect the application again.",
  },
  {
    ...{ steps: [noRefresh("invalid_grant", "user-gone")], outcome: "failed" },
    says: "The person may not use this gateway any more.",
  },
  {
    ...{ steps: [noRefresh("invalid_grant")], outcome: "failed" },
    says: "The application sent a token that is not good any more: connect the application again.",
  },
  {
    steps: [noRefresh("temporarily_unavailable", "provider-unreachable")],
    outcome: "failed",
    says: "The sign-in provider could not be reached: the application will try again.",
  },
];

describe("an attempt is judged by its last step", () => {
  const all = [BEFORE_ASKING, ASKING, DECIDING, GETTING_A_TOKEN, USING_IT].flat();
  const named = all.map((each): [string, Case] => [
    each.steps.map(({ kind }) => kind).join(", ") || "nothing",
    each,
  ]);
  test.for(named)("%s", ([, { steps, ages, outcome, says }], { expect }) => {
    const found = traced(steps, ages);
    expect(diagnose(found, NOW, LIMITS)).toEqual({ outcome, sentence: says });
  });

  test("an error that was got over is none", ({ expect }) => {
    const steps = traced([ask("unknown-client"), registered, asked, shown, code, token, used]);
    expect(diagnose(steps, NOW, LIMITS).outcome).toBe("succeeded");
  });

  test("an error that came again after all had gone well is one", ({ expect }) => {
    const steps = traced([code, noRefresh("invalid_grant"), token, used]);
    const again = steps.map((each, n) => (n === 1 ? { ...each, lastAt: NOW + 1, times: 2 } : each));
    expect(diagnose(again, NOW, LIMITS).outcome).toBe("failed");
  });

  test("the times are those of the configuration", ({ expect }) => {
    const limits = { attemptMinutes: 3, codeSeconds: 10 };
    expect(diagnose(traced([shown], 3 * MINUTE), NOW, limits).sentence).toContain(
      "within 3 minutes",
    );
    const late = traced([code, noToken("invalid_grant")], [10 * SECOND, 0]);
    expect(diagnose(late, NOW, limits).sentence).toContain("for 10 seconds");
  });
});
