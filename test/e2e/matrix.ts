/**
 * The matrix: clients of five revisions before servers of five, and what comes of each feature in
 * each cell. It is data: the tests run it, and the table in `docs/eras.md` is made from it.
 */

import type { Client, Json } from "../support/clients-face.ts";
import { REVISIONS, type Revision } from "../support/revisions.ts";

export interface Cell {
  readonly client: Revision;
  readonly server: Revision;
}

export const CELLS: readonly Cell[] = REVISIONS.flatMap((client) =>
  REVISIONS.map((server) => ({ client, server })),
);

export interface Feature {
  readonly name: string;
  /** The first revision with words for it; all have them, unless given. */
  readonly since?: Revision;
  /** What comes of it where one side is older than that, as it stands in `docs/eras.md`. */
  readonly instead?: string;
  /** Whether a cell can be tested at all; each can by default. */
  readonly applies?: (cell: Cell) => boolean;
  /** The capabilities of the client; by default all that its revision knows. */
  readonly capabilities?: Json;
  /**
   * What a client does, and what it sees.
   *
   * @param connectDirect connects another client to the same server, past the gateway and whatever
   *   makes it older.
   */
  readonly run: (
    client: Client,
    connectDirect: () => Promise<Client>,
    cell: Cell,
  ) => Promise<unknown>;
  /** What it is to see. */
  readonly outcome: (cell: Cell) => unknown;
}

/** Whether both sides have words for a feature. */
export function crosses({ since }: Feature, { client, server }: Cell): boolean {
  return since === undefined || (client >= since && server >= since);
}

/** The outcome of a feature that not every revision has. */
export function either(
  since: Revision,
  outcomes: {
    readonly works: (cell: Cell) => unknown;
    readonly fails: (cell: Cell) => unknown;
  },
): Pick<Feature, "since" | "outcome"> {
  return {
    since,
    outcome: (cell) =>
      cell.client >= since && cell.server >= since ? outcomes.works(cell) : outcomes.fails(cell),
  };
}

/** What a test needs of a tool's result. */
export function contentOf(result: Json): readonly Json[] {
  return result["content"] as readonly Json[];
}
