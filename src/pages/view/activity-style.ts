/** The rules that only the pages of what happened need: tables that become lists on a phone, and charts. */

export const ACTIVITY_STYLE = `
.filters { max-width: 48rem; }
.line .filters { gap: 0.75rem; }
.filters .row { grid-template-columns: minmax(0, 1fr); }
.calls { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
.calls th, .calls td { padding: 0.625rem 0.75rem 0.625rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.calls tr { border-bottom: 1px solid var(--line); }
.calls thead th { padding-top: 0; color: var(--quiet); font-size: 0.875rem; font-weight: 400; white-space: nowrap; }
.calls th[scope="row"] { font-weight: 400; }
.calls .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.calls .number:last-child { padding-right: 0; }
.calls thead .number { width: 7.5rem; }
.calls time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.calls .small { display: block; }
.calls code { font-size: 0.8125rem; user-select: all; -webkit-user-select: all; }
.calls:not(:has(tbody tr)) { display: none; }
.calls:has(tbody tr) + .empty { display: none; }
.chips a[aria-current] { color: var(--ink); font-weight: 600; }
.chart { margin: 0; }
.chart svg { display: block; width: 100%; height: 10rem; border: solid var(--line); border-width: 1px 0; }
.chart .bar { fill: var(--accent); }
.chart .failed { fill: var(--bad); }
.chart .ends { display: flex; justify-content: space-between; }
.legend { display: flex; gap: 1rem; }
.legend span::before { content: ""; display: inline-block; width: 0.75rem; height: 0.75rem; margin-right: 0.375rem; background: var(--accent); }
.legend .failed::before { background: var(--bad); }
@media (max-width: 43.99rem) {
  .calls thead { position: absolute; clip-path: inset(50%); }
  .calls tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.125rem 0.75rem; padding: 0.75rem 0; }
  .calls th, .calls td { padding: 0; }
  .calls .whole { grid-column: 1 / -1; }
  .calls .number { text-align: left; }
  .calls .number .small { display: inline; margin-left: 0.75rem; }
  .calls .number[data-label]::before { content: attr(data-label) " "; color: var(--quiet); font-size: 0.875rem; }
}
@media (min-width: 44rem) {
  .filters .row { grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; grid-template-columns: none; align-items: end; }
}
@media (forced-colors: active) {
  .chart .bar { fill: CanvasText; }
  .chart .failed { fill: Mark; }
}
`;
