/** The login doctor: the attempts to sign in, and the step at which one of them stopped. */

import { type Html, html } from "./html.ts";
import type { Nav, View } from "./layout.ts";
import {
  badge,
  type BadgeLook,
  clientName,
  foreign,
  listOf,
  part,
  stop,
  verification,
} from "./parts.ts";
import { loginPath, PATHS } from "./paths.ts";
import { exactly, when } from "./time.ts";

export interface LoginsView {
  readonly nav: Nav;
  readonly now: number;
  readonly logins: readonly LoginRow[];
  /** The reference that was searched for and not found. */
  readonly missing: string | undefined;
}

type LoginOutcome = "succeeded" | "failed" | "open";

interface LoginRow {
  readonly reference: string;
  readonly startedAt: number;
  readonly clientName: string;
  readonly outcome: LoginOutcome;
  /** Its current state, or why it failed, in a few words. */
  readonly summary: string;
}

export interface LoginTraceView {
  readonly nav: Nav;
  readonly now: number;
  readonly reference: string;
  readonly startedAt: number;
  readonly clientName: string;
  readonly verifiedHost: string | undefined;
  readonly outcome: LoginOutcome;
  /** One sentence on what is probably wrong. */
  readonly likelyCause: string | undefined;
  readonly steps: readonly LoginStepView[];
}

export interface LoginStepView {
  readonly at: number;
  /** The title of the step, e.g. `Registered itself`. */
  readonly title: string;
  /** Without secrets; strangers' text is cleaned here. */
  readonly detail: string | undefined;
  readonly outcome: "ok" | "failed" | "noted";
}

const MAX_DETAIL = 400;
const OUTCOMES: Record<LoginOutcome, readonly [label: string, look: BadgeLook]> = {
  succeeded: ["Succeeded", "good"],
  failed: ["Failed", "bad"],
  open: ["Under way", ""],
};
const STEP_OUTCOMES: Record<LoginStepView["outcome"], readonly [label: string, look: BadgeLook]> = {
  ok: ["Went well", "good"],
  failed: ["Failed", "bad"],
  noted: ["", ""],
};

export function loginsView({ nav, logins, now, missing }: LoginsView): View {
  const body = html`
    <h1>Sign-ins</h1>
    <p class="lede">Each attempt has a reference, which error pages show to the person.</p>
    <form method="get" action="${PATHS.logins}" class="search" role="search">
      <label for="reference">Reference</label>
      ${
        missing !== undefined &&
        html`<p class="error" id="reference-error" role="alert">
          There is no attempt ${foreign(missing, "of that name")}. Attempts are kept for some days.
        </p>`
      }
      <span class="row"
        ><input
          class="field"
          id="reference"
          name="reference"
          value="${missing ?? ""}"
          required
          autocomplete="off"
          spellcheck="false"
          ${missing !== undefined && html`aria-invalid="true" aria-describedby="reference-error"`}
        /><button class="plain">Find</button></span
      >
    </form>
    ${part(
      "Recent",
      undefined,
      listOf(
        logins.map((login) => row(login, now)),
        "Nobody has tried to sign in yet.",
      ),
    )}
  `;
  return { title: "Sign-ins", body, width: "wide", kind: "site", nav };
}

function row({ reference, clientName: name, ...login }: LoginRow, now: number): Html {
  return html`<li class="entry">
    <h3>
      <a href="${loginPath(reference)}">${clientName(name)}</a> ${badge(...OUTCOMES[login.outcome])}
    </h3>
    <p>${login.summary}</p>
    <p class="small"><code>${reference}</code> · ${when(login.startedAt, now)}</p>
  </li>`;
}

export function loginTraceView(model: LoginTraceView): View {
  const [first] = model.steps;
  const body = html`
    <p class="small back"><a href="${PATHS.logins}">All sign-ins</a></p>
    <h1>${clientName(model.clientName)}</h1>
    <p class="lede">
      ${badge(...OUTCOMES[model.outcome])} ${verification(model.verifiedHost)}
      <span class="small"><code>${model.reference}</code> · ${exactly(model.startedAt)}</span>
    </p>
    ${
      model.likelyCause !== undefined &&
      stop("Likely cause", html`<p class="main-fact">${model.likelyCause}</p>`, "warn")
    }
    <h2 class="unseen">What happened</h2>
    ${
      model.steps.length === 0
        ? html`<p class="empty">Nothing was recorded.</p>`
        : html`<ol class="trace">
            ${model.steps.map((each) => step(each, first?.at ?? each.at))}
          </ol>`
    }
  `;
  return { title: `Sign-in ${model.reference}`, body, width: "wide", kind: "site", nav: model.nav };
}

function step({ at, title, detail, outcome }: LoginStepView, start: number): Html {
  const [label, look] = STEP_OUTCOMES[outcome];
  return html`<li class="stop ${look}">
    <p>
      <b>${title}</b>${outcome !== "noted" && html` ${badge(label, look)}`}
      <span class="small">${elapsed(at - start)}</span>
    </p>
    ${detail !== undefined && html`<p class="small">${foreign(detail, "", MAX_DETAIL)}</p>`}
  </li>`;
}

/** The time since the first step: a reader looks for the slow steps. */
function elapsed(ms: number): string {
  if (ms < 1000) return `+${ms} ms`;
  // Rounded before it is divided: 59.96 s are a minute, and 119.6 s are two.
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `+${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `+${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
