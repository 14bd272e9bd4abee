/** The rules that only the catalog needs: tables that become lists on a phone. */

export const CATALOG_STYLE = `
bdi.prose { display: block; white-space: pre-line; overflow-wrap: anywhere; }
.schema { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
.schema th, .schema td { padding: 0.625rem 0.75rem 0.625rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.schema tr { border-bottom: 1px solid var(--line); }
.schema thead th { padding-top: 0; color: var(--quiet); font-size: 0.875rem; font-weight: 400; }
.schema th[scope="row"] { font-weight: 400; }
.schema th .small { display: block; }
.pager span { color: var(--quiet); }
.part form { max-width: 34rem; gap: 1rem; }
.part fieldset { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.25rem; }
legend { padding: 0; }
textarea.field { field-sizing: content; max-height: 30rem; resize: vertical; }
textarea.json { font-family: var(--mono); font-size: 0.875rem; }
.answers { display: flex; flex-wrap: wrap; gap: 0.75rem; }
.run { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.run:has(.part) > .running, .progress:has(~ .progress), .run:has(.part) > .progress { display: none; }
.progress { color: var(--quiet); overflow-wrap: anywhere; }
.part h3 { padding-top: 0.5rem; }
.part img { max-width: 100%; height: auto; border-radius: 6px; background: #fff; }
.part audio { width: 100%; max-width: 30rem; }
@media (max-width: 43.99rem) {
  .schema thead { position: absolute; clip-path: inset(50%); }
  .schema tr { display: grid; grid-template-columns: minmax(0, 1fr) fit-content(45%); gap: 0 0.75rem; padding: 0.625rem 0; }
  .schema th, .schema td { padding: 0; }
  .schema td:nth-child(2) { color: var(--quiet); }
  .schema td:last-child { grid-column: 1 / -1; }
}
@media (min-width: 44rem) {
  .schema th[scope="row"] { width: 30%; }
  .schema td:nth-child(2) { width: 20%; }
}
`;
