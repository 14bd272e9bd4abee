/**
 * Resources that two servers of an endpoint claim. The server that is configured earlier owns them.
 * Each conflict is reported to clients that list, in the log and to the operator, so that it
 * surprises no user.
 */

import { Recent } from "../../lib/recent.ts";
import { logConflict } from "../../observability/server-log.ts";
import type { Catalog, ListKind } from "../catalog.ts";
import type { Server } from "../../endpoint/server.ts";
import { ServerResources } from "./server-resources.ts";
import { counted, leftOut } from "../read/flaws.ts";
import { StepBudget } from "../uris/step-budget.ts";

export interface Conflict {
  /** The server that is configured later: it gives way. */
  readonly server: string;
  /** The server that is configured earlier. */
  readonly with: string;
  /** Quotes nothing of either server. */
  readonly message: string;
  /** The first of the URIs and templates in conflict. */
  readonly uris: readonly string[];
}

/** The number of URIs of one conflict that are shown to the operator. */
const MAX_URIS = 5;
/** A longer URI is counted and not shown. */
const MAX_URI_CHARS = 1024;
/** The limit for comparing two servers: about two milliseconds. */
const MAX_STEPS = 200_000;

interface Comparison {
  /** The items that the later server lists and gives up, by list. */
  readonly taken: Readonly<Record<"resources" | "templates", ReadonlySet<string>>>;
  readonly conflicts: readonly Conflict[];
}

const made = new WeakMap<ServerResources, WeakMap<ServerResources, Comparison>>();

/** Computed once for two catalogs, and kept as long as they are. */
function compare(earlier: ServerResources, later: ServerResources): Comparison {
  const known = made.get(later) ?? new WeakMap<ServerResources, Comparison>();
  made.set(later, known);
  let comparison = known.get(earlier);
  if (comparison === undefined) {
    comparison = compareAnew(earlier, later);
    known.set(earlier, comparison);
    for (const conflict of comparison.conflicts) log(conflict);
  }
  return comparison;
}

function compareAnew(earlier: ServerResources, later: ServerResources): Comparison {
  const steps = new StepBudget(MAX_STEPS, Infinity);
  const same: string[] = [];
  const fitting: string[] = [];
  for (const uri of later.uris) {
    if (earlier.lists(uri)) same.push(uri);
    else if (earlier.fits(uri, steps)) fitting.push(uri);
  }
  const sameTemplates = later.templates.filter((text) => earlier.listsTemplate(text));
  const takenBack = [...earlier.uris].filter((uri) => !later.lists(uri) && later.fits(uri, steps));
  const isSame = new Set(sameTemplates);
  const overlapping = later.templates.filter(
    (text) => !isSame.has(text) && earlier.overlaps(text, later, steps),
  );
  const winner = `upstream "${earlier.slug}", configured earlier,`;
  const of = `of upstream "${later.slug}"`;
  const leavingOut = (list: "resources" | "templates", uris: readonly string[], why: string) =>
    [uris, leftOut(list, uris.length, later.slug, `${winner} ${why}`)] as const;
  const sentences: readonly (readonly [uris: readonly string[], message: string])[] = [
    leavingOut("resources", same, "has the same URI"),
    leavingOut("resources", fitting, "has a template that fits"),
    leavingOut("templates", sameTemplates, "has the same"),
    [
      takenBack,
      `Requests for what fits a template ${of} go elsewhere for ${counted("resources", takenBack.length)}: ${winner} lists the same URI`,
    ],
    [
      overlapping,
      `Requests for some of what fits ${counted("templates", overlapping.length)} ${of} go elsewhere: ${winner} has a template that fits it, too`,
    ],
  ];
  const conflicts: Conflict[] = sentences.flatMap(([uris, message]) =>
    uris.length === 0
      ? []
      : [{ server: later.slug, with: earlier.slug, message, uris: firstOf(uris) }],
  );
  if (steps.isUsedUp) {
    const message = `Not all resources and templates ${of} were compared: ${winner} has too many, or the other way round`;
    conflicts.push({ server: later.slug, with: earlier.slug, message, uris: [] });
  }
  return { taken: { resources: new Set([...same, ...fitting]), templates: isSame }, conflicts };
}

function firstOf(uris: readonly string[]): readonly string[] {
  return uris.filter(({ length }) => length <= MAX_URI_CHARS).slice(0, MAX_URIS);
}

/** Each conflict is logged once in the life of an isolate. */
const logged = new Recent(1000);

function log(conflict: Conflict): void {
  if (logged.add(JSON.stringify(conflict))) logConflict(conflict);
}

/** A server and its known catalog. */
interface Part {
  readonly server: Server;
  readonly catalog: Catalog | undefined;
}

/** @param parts in the operator's order. */
export function conflictsAmong(parts: readonly Part[]): readonly Conflict[] {
  return parts.flatMap((part, n) => conflictsWith(parts.slice(0, n), part));
}

export function conflictsWith(earlier: readonly Part[], part: Part): readonly Conflict[] {
  return earlier.flatMap((other) => comparisonOf(other, part)?.conflicts ?? []);
}

/** @returns whether requests for an item go to a server that is configured earlier. */
export function isTaken(
  earlier: readonly Part[],
  part: Part,
  list: ListKind,
  name: string,
): boolean {
  if (list !== "resources" && list !== "templates") return false;
  return earlier.some((other) => comparisonOf(other, part)?.taken[list].has(name) === true);
}

function comparisonOf(earlier: Part, later: Part): Comparison | undefined {
  if (earlier.catalog === undefined || later.catalog === undefined) return undefined;
  return compare(
    ServerResources.of(earlier.server, earlier.catalog),
    ServerResources.of(later.server, later.catalog),
  );
}
