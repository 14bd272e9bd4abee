/** The rules that only the front page needs: one client is shown, and the others are links. */

export const CONNECT_STYLE = `
.chips li:has([aria-current]) { border-color: var(--accent); box-shadow: inset 0 -2px 0 var(--accent); }
.chips [aria-current] { color: var(--ink); }
.chosen { scroll-margin-top: 1rem; }
.links { display: flex; flex-wrap: wrap; gap: 0.75rem; }
`;
