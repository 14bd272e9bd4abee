/** Commands and pieces of configuration, to be copied. */

import { type Html, html } from "./html.ts";
import { copyable } from "./parts.ts";

export interface Snippet {
  /** The place for it, e.g. `In a terminal`. */
  readonly label: string;
  readonly text: string;
}

export function terminal(text: string): Snippet {
  return { label: "In a terminal", text };
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** @param about what it is for, for people to whom a screen reader reads the button alone. */
export function snippet({ label, text }: Snippet, about: string): Html {
  return copyable(
    `what goes ${label.replace(/^Or /, "").toLowerCase()}, for ${about}`,
    html`<p class="label">${label}</p>
      <pre><code>${text}</code></pre>`,
  );
}
