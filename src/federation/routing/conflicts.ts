/**
 * Resources that two servers of an endpoint speak for. The one that is configured earlier has them,
 * and nobody is to find that out by surprise: each conflict is told to whoever lists, in the log and
 * to the operator.
 */

import { Recent } from "../../lib/recent.ts";
import { logConflict } from "../../observability/server-log.ts";
import type { Catalog, ListKind } from "../catalog/catalog.ts";
import type { Server } from "../server.ts";
import { ServerResources } from "./server-resources.ts";
import { Steps } from "./steps.ts";

export interface Conflict {
  /** The server that is configured later: it gives way. */
  readonly server: string;
  /** The server that is configured earlier. */
  readonly with: string;
  /** Quotes nothing of either server. */
  readonly message: string;
  /** The first of the URIs and templates that it is about. */
  readonly uris: readonly string[];
}

/** Of one conflict: as many as tell an operator what to look for. */
const MAX_URIS = 5;
/** A longer one is counted and not shown. */
const MAX_URI_CHARS = 1024;
/** What comparing two servers may cost: about two milliseconds. */
const MAX_STEPS = 200_000;

interface Comparison {
  /** What the later one has, and gives up: by list. */
  readonly taken: Readonly<Record<"resources" | "templates", ReadonlySet<string>>>;
  readonly conflicts: readonly Conflict[];
}

const made = new WeakMap<ServerResources, WeakMap<ServerResources, Comparison>>();

/** Worked out once for two catalogs, and gone with them. */
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
  const steps = new Steps(MAX_STEPS, Infinity);
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
  const [first, second] = [earlier.slug, later.slug];
  const rule = `"${first}" is configured earlier`;
  const conflict = (uris: readonly string[], sentence: string): Conflict[] =>
    uris.length === 0
      ? []
      : [
          {
            ...{ server: second, with: first, message: `${sentence}: ${rule}` },
            uris: uris
              .filter(({ length }) => length > 0 && length <= MAX_URI_CHARS)
              .slice(0, MAX_URIS),
          },
        ];
  const of = `of upstream "${second}"`;
  return {
    taken: { resources: new Set([...same, ...fitting]), templates: isSame },
    conflicts: [
      ...conflict(
        same,
        `${counted(same, "resource")} ${of} left out, since upstream "${first}" has the same URI`,
      ),
      ...conflict(
        fitting,
        `${counted(fitting, "resource")} ${of} left out, since a template of upstream "${first}" fits`,
      ),
      ...conflict(
        sameTemplates,
        `${counted(sameTemplates, "resource template")} ${of} left out, since upstream "${first}" has the same`,
      ),
      ...conflict(
        takenBack,
        `${counted(takenBack, "resource")} of upstream "${first}" ${takenBack.length === 1 ? "fits" : "fit"} a template ${of}; requests go to "${first}"`,
      ),
      ...conflict(
        overlapping,
        `What fits both ${counted(overlapping, "resource template")} ${of} and one of upstream "${first}" is read at "${first}"`,
      ),
      ...(steps.isUsedUp
        ? conflict(
            [""],
            `Upstreams "${first}" and "${second}" have more resources and templates than are compared`,
          )
        : []),
    ],
  };
}

function counted({ length }: readonly string[], thing: string): string {
  return length === 1 ? `1 ${thing}` : `${length} ${thing}s`;
}

/** Each conflict has one line in the life of an isolate. */
const logged = new Recent(1000);

function log(conflict: Conflict): void {
  if (logged.add(JSON.stringify(conflict))) logConflict(conflict);
}

/** What is known of a server. */
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

/** Whether requests for what a server lists go to one that is configured earlier. */
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
