/**
 * The mark: one way in, through an edge, and on to many. Its stem stands on the line that leads
 * down every page.
 */

import { html } from "./html.ts";

const EDGE = "M20 4h-7a5 5 0 0 0-5 5v6a5 5 0 0 0 5 5h7";
const WAY = "M2 12h17";

/** Says nothing to a screen reader: the name stands beside it. */
export const MARK = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
  <path class="edge" d="${EDGE}" />
  <path class="way" d="${WAY}" />
</svg>`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke-width="3" stroke-linecap="round"><style>path{stroke:#14211f}.w{stroke:#0b6b6b}@media(prefers-color-scheme:dark){path{stroke:#e7efed}.w{stroke:#6fd0c6}}</style><path d="${EDGE}"/><path class="w" d="${WAY}"/></svg>`;

/** In the page itself, so that no page asks for another file. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
