/** The page for a failure: what happened, and what the reader can do. */

import { cleanText } from "../../lib/clean-text.ts";
import { type Html, html } from "./html.ts";
import type { View } from "./layout.ts";
import { stop } from "./parts.ts";

export interface ProblemView {
  readonly title: string;
  /** One or two sentences of our own; what a stranger sent is not repeated. */
  readonly whatHappened: string;
  readonly whatToDo: readonly string[];
  /** The reference under which the operator finds the attempt. */
  readonly reference: string | undefined;
  /** A redirect that is not trusted enough to be followed without a question. */
  readonly returnTo: { readonly href: string; readonly host: string } | undefined;
}

export function problemView(model: ProblemView): View {
  const { whatToDo, reference, returnTo } = model;
  const body = html`
    <h1>${model.title}</h1>
    <p class="lede">${model.whatHappened}</p>
    ${whatToDo.length > 0 && stop("What you can do", steps(whatToDo))}
    ${
      reference !== undefined &&
      stop(
        "Reference",
        html`<p class="main-fact"><code>${reference}</code></p>
          <p class="small">
            Tell it to whoever runs this gateway: they can see where it stopped.
          </p>`,
      )
    }
    ${
      returnTo !== undefined &&
      isWeb(returnTo.href) &&
      html`<p class="stop last">
        <a class="button plain" href="${returnTo.href}" rel="noreferrer"
          >Return to ${cleanText(returnTo.host)}</a
        >
      </p>`
    }
  `;
  return { title: model.title, body, width: "narrow", kind: "login" };
}

function steps(sentences: readonly string[]): Html {
  const [only] = sentences;
  if (sentences.length === 1 && only !== undefined) return html`<p>${only}</p>`;
  return html`<ol class="steps">
    ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
  </ol>`;
}

/** Refuses `javascript:` links, wherever the model comes from. */
function isWeb(href: string): boolean {
  return /^https?:\/\//i.test(href);
}
