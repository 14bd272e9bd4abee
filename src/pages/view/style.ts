/**
 * The one stylesheet, sent inside every page. A line leads down from the mark, and the facts stand
 * along it as stops; addresses, which a person has to compare, are in a typeface that keeps their
 * letters apart. System typefaces, light and dark, from 320 pixels up.
 */

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f5f7f6;
  --surface: #ffffff;
  --ink: #13211f;
  --quiet: #4f605d;
  --line: #c9d5d2;
  --edge: #788d88;
  --accent: #0a6464;
  --accent-hover: #074d4d;
  --on-accent: #ffffff;
  --good: #0a6464;
  --good-ground: #e2f1ee;
  --warn: #7a4a00;
  --warn-line: #c98a12;
  --warn-ground: #fff3d9;
  --bad: #a1261b;
  --bad-ground: #fdebe8;
  --focus: #1a63d6;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, Cantarell, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1514;
    --surface: #172120;
    --ink: #e6eeec;
    --quiet: #a2b3af;
    --line: #2e3e3b;
    --edge: #607571;
    --accent: #74d2c7;
    --accent-hover: #97e2d9;
    --on-accent: #06211f;
    --good: #74d2c7;
    --good-ground: #14302d;
    --warn: #f2c46d;
    --warn-line: #b98426;
    --warn-ground: #2c2413;
    --bad: #ff9b8f;
    --bad-ground: #341a17;
    --focus: #8fb8ff;
  }
}

*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1.5rem; }
body {
  margin: 0 auto;
  padding: 1.5rem 1.25rem 4rem;
  max-width: 34rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 var(--sans);
  overflow-wrap: break-word;
}
body.wide { max-width: 52rem; }
h1, h2, h3, p, ul, ol, dl, dd, pre, fieldset { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 {
  font-size: 1.75rem;
  line-height: 1.2;
  font-weight: 650;
  letter-spacing: -0.015em;
  text-wrap: balance;
  overflow-wrap: anywhere;
}
h2 { font-size: 1.1875rem; line-height: 1.3; font-weight: 650; letter-spacing: -0.005em; }
h3 { font-size: 1rem; line-height: 1.5; font-weight: 600; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
a:hover { color: var(--accent-hover); text-decoration-thickness: 2px; }
b, strong { font-weight: 600; }
code, pre, .host { font-family: var(--mono); font-size: 0.9375em; }
.host { overflow-wrap: anywhere; }
.small { font-size: 0.875rem; color: var(--quiet); }
.lede { color: var(--quiet); font-size: 1.0625rem; text-wrap: pretty; }
.lede b { color: var(--ink); }
.back + h1 { margin-top: -1.25rem; }
.labelled { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.25rem; }
.pager { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; }
.empty { color: var(--quiet); }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: 1rem; top: -4rem; z-index: 1; }
.skip:focus { top: 0.5rem; padding: 0.5rem 0.75rem; background: var(--surface); }

/* The mark, and the line that leads down from its stem. */
.top {
  position: relative;
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0 1.5rem;
  padding-bottom: 1rem;
}
.top::after, .line::before {
  content: "";
  position: absolute;
  left: calc(0.583rem - 1px);
  top: 0;
  bottom: 0;
  width: 2px;
  background: var(--line);
}
.top::after { top: 2.5rem; }
.brand { min-height: 2.75rem; }
.brand, .brand a {
  display: flex;
  align-items: center;
  gap: 0.5rem;
  color: inherit;
  font-weight: 600;
  letter-spacing: -0.01em;
  text-decoration: none;
}
.mark { width: 1.75rem; height: 1.75rem; fill: none; stroke-width: 2.5; stroke-linecap: round; }
.mark .edge { stroke: var(--ink); }
.mark .way { stroke: var(--accent); }
.top nav { padding-left: 2.25rem; }
.top nav ul { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.top nav a {
  display: block;
  padding: 0.625rem 0;
  color: var(--quiet);
  text-decoration: none;
}
.top nav a:hover { color: var(--ink); }
.top nav a[aria-current] { color: var(--ink); box-shadow: 0 2px 0 var(--accent); }

.line {
  position: relative;
  display: grid;
  gap: 1.625rem;
  grid-template-columns: minmax(0, 1fr);
  padding-left: 2.25rem;
}
.line h1 + .lede { margin-top: -1.25rem; }
.line form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.625rem; }
.stop form, .account form, .action form { gap: 0.5rem; }
.stop { position: relative; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.stop::before {
  content: "";
  position: absolute;
  left: calc(0.583rem - 2.25rem - 6px);
  top: 0.25rem;
  width: 12px;
  height: 12px;
  border: 2px solid var(--edge);
  border-radius: 50%;
  background: var(--ground);
}
.stop.good::before { border-color: var(--good); background: var(--good); }
.stop.warn::before { border-color: var(--warn-line); background: var(--warn-line); }
.stop.bad::before { border-color: var(--bad); background: var(--bad); border-radius: 2px; }
.stop.choices::before { top: calc(1.375rem - 6px); }
.stop.last { min-height: 3rem; align-content: center; }
.stop.last::before { border-radius: 2px; top: calc(1.5rem - 6px); }
.line:has(.stop.last)::before { bottom: 1.5rem; }
.label { font-size: 0.875rem; font-weight: 400; letter-spacing: 0; color: var(--quiet); }
.main-fact { font-size: 1.125rem; font-weight: 600; overflow-wrap: anywhere; }
.main-fact .host, .main-fact code { font-weight: 600; }

.note {
  padding: 0.75rem 0.875rem;
  border-left: 3px solid var(--edge);
  border-radius: 0 6px 6px 0;
  background: var(--surface);
}
.note.warn { border-color: var(--warn-line); background: var(--warn-ground); }
.note.good { border-color: var(--good); background: var(--good-ground); }
.note ul { padding-left: 1.125rem; list-style: disc; }
.note form { margin-top: 0.75rem; }
.badge {
  display: inline-block;
  padding: 0.0625rem 0.5rem;
  border: 1px solid var(--edge);
  border-radius: 1rem;
  color: var(--quiet);
  font-size: 0.8125rem;
  font-weight: 400;
  line-height: 1.4;
}
.badge.good { border-color: var(--good); color: var(--good); }
.badge.warn { border-color: var(--warn-line); color: var(--warn); }
.badge.bad { border-color: var(--bad); color: var(--bad); }
.chips { display: flex; flex-wrap: wrap; gap: 0.375rem; }
.chips li {
  padding: 0.125rem 0.625rem;
  border: 1px solid var(--line);
  border-radius: 6px;
  background: var(--surface);
  font-size: 0.9375rem;
  overflow-wrap: anywhere;
}
.chips a { display: block; padding: 0.25rem 0; text-decoration: none; }

/* Buttons and fields. */
button, .button, .ask > summary {
  display: inline-block;
  min-height: 2.75rem;
  padding: 0.5625rem 1.125rem;
  border: 1px solid var(--edge);
  border-radius: 8px;
  background: var(--surface);
  color: var(--ink);
  font: 600 1rem/1.5 var(--sans);
  text-align: center;
  text-decoration: none;
  cursor: pointer;
  justify-self: start;
}
button:hover, .button:hover { border-color: var(--ink); color: var(--ink); }
button.primary, .button.primary {
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
}
button.primary:hover, .button.primary:hover {
  border-color: var(--accent-hover);
  background: var(--accent-hover);
  color: var(--on-accent);
}
button.danger, .ask > summary { color: var(--bad); }
button.danger:hover, .ask > summary:hover { border-color: var(--bad); background: var(--bad-ground); color: var(--bad); }
button.link {
  min-height: 0;
  padding: 0.25rem 0;
  border-color: transparent;
  background: none;
  color: var(--accent);
  font-weight: 400;
  text-decoration: underline;
  text-underline-offset: 0.2em;
}
button.link:hover { border-color: transparent; color: var(--accent-hover); }
button.wide { width: 100%; }
.decision { display: grid; grid-template-columns: 1fr 1fr; gap: 0.75rem; }
.decision button { width: 100%; min-height: 3rem; }
.stack { display: grid; gap: 0.75rem; }
label, legend { font-weight: 600; }
.field {
  width: 100%;
  min-height: 2.75rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--edge);
  border-radius: 8px;
  background: var(--surface);
  color: var(--ink);
  font: 1rem/1.5 var(--sans);
}
.field[type="password"] { font-family: var(--mono); }
.field[aria-invalid] { border-color: var(--bad); box-shadow: 0 0 0 1px var(--bad); }
.error { color: var(--bad); font-weight: 600; }
input[type="checkbox"] { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; flex: none; accent-color: var(--accent); }
.row { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.5rem; }
.search { max-width: 26rem; }
.line .search { gap: 0.5rem; }
fieldset { border: 0; display: grid; gap: 0.25rem; min-width: 0; }
.choice { display: flex; gap: 0.75rem; padding: 0.375rem 0; font-weight: 400; }
.choice span { min-width: 0; overflow-wrap: anywhere; }
.choice .resource { display: block; }
.choice .nowrap { display: inline-block; }
.line .create { gap: 0.5rem; max-width: 30rem; padding-top: 0.75rem; }
.create .field, .create fieldset { margin-bottom: 0.75rem; }

summary { color: var(--accent); cursor: pointer; padding: 0.25rem 0; border-radius: 4px; }
summary:hover { color: var(--accent-hover); }
details .host { padding-top: 0.25rem; }
.ask > summary::-webkit-details-marker { display: none; }
.ask[open] > summary { margin-bottom: 0.75rem; }
.sure > summary { padding: 0.625rem 0; font-weight: 600; }

/* Consent. */
.scopes { display: grid; gap: 0.75rem; padding-top: 0.25rem; }
.scope, .scope label { display: flex; gap: 0.75rem; font-weight: 400; }
.scope-text { display: block; min-width: 0; }
.scope-text .small { display: block; }
.scope.warn { padding: 0.625rem 0.75rem; border-radius: 6px; background: var(--warn-ground); }
.tick { flex: none; width: 1.25rem; height: 1.5rem; position: relative; }
.tick::before {
  content: "";
  position: absolute;
  left: 0.4375rem;
  top: 0.25rem;
  width: 0.4375rem;
  height: 0.75rem;
  border: solid var(--accent);
  border-width: 0 2px 2px 0;
  transform: rotate(40deg);
}
.account {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0.5rem 1rem;
}
.account b { overflow-wrap: anywhere; }

/* Lists of what there is. */
.part { gap: 0.75rem; }
.part::before { top: 0.375rem; }
.entries { display: grid; border-top: 1px solid var(--line); margin-top: 0.25rem; }
.entry {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 0.5rem 1.5rem;
  padding: 1rem 0;
  border-bottom: 1px solid var(--line);
}
.entry .badge { margin-left: 0.25rem; }
.action { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: start; }
.facts { display: grid; gap: 0.125rem 1rem; font-size: 0.9375rem; }
.facts > div { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0 0.75rem; }
.facts dt { color: var(--quiet); }
.facts dd { overflow-wrap: anywhere; }
.facts.wide > div { grid-template-columns: minmax(0, 1fr); padding: 0.25rem 0; }
.activity { display: grid; gap: 0.5rem; }
.activity li { display: grid; gap: 0 1rem; overflow-wrap: anywhere; }
.activity .bad b { color: var(--bad); }
.trace { display: grid; gap: 1rem; }
.trace .stop { gap: 0.125rem; }
.trace .small { overflow-wrap: anywhere; }
.steps { display: grid; gap: 0.5rem; padding-left: 1.5rem; list-style: decimal; }
.steps li::marker { color: var(--quiet); }

/* What is to be copied. */
pre, .secret {
  padding: 0.75rem 0.875rem;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  border: 1px solid var(--line);
  border-radius: 8px;
  background: var(--surface);
  font-size: 0.9375rem;
}
pre code { font-size: 0.875rem; }
.secret { font-size: 1.0625rem; font-weight: 600; }
.secret code, .copyable code { user-select: all; -webkit-user-select: all; }
.copyable { position: relative; display: grid; gap: 0.375rem; }
.copyable .label { min-height: 2rem; padding-right: 5rem; align-content: end; }
.copy {
  position: absolute;
  top: 0;
  right: 0;
  min-height: 2rem;
  padding: 0.125rem 0.625rem;
  font-size: 0.875rem;
  font-weight: 400;
}
.secret ~ .copy { top: -2.25rem; }
.jump { padding-top: 0.25rem; }

@media (min-width: 44rem) {
  body { padding-top: 3.5rem; }
  body.wide { padding-top: 2.25rem; }
  h1 { font-size: 2.125rem; }
  .top nav ul { gap: 0 1.25rem; }
  .entry { grid-template-columns: minmax(0, 1fr) auto; align-items: start; }
  .entry > * { grid-column: 1; }
  .entry .action { grid-column: 2; grid-row: 1 / span 2; }
  .entry:has(> .ask) { position: relative; }
  .entry > .ask { grid-column: 1 / -1; }
  .entry:has(> .ask) > :not(.ask) { padding-right: 7rem; }
  .entry > .ask > summary { position: absolute; top: 1rem; right: 0; margin: 0; }
  .activity li { grid-template-columns: 8.5rem minmax(0, 1fr); }
  .facts > div { grid-template-columns: 8.5rem minmax(0, 1fr); }
  .facts.wide > div { grid-template-columns: 16rem minmax(0, 1fr); }
}
@media (forced-colors: active) {
  .stop::before, .line::before { forced-color-adjust: none; }
}
`;
