/**
 * The port to the servers behind the gateway, as one person has them: the pages are a client of the
 * gateway, `console`, and get the lists that every client of this person gets.
 */

import type { Call } from "../../protocol/exchange.ts";
import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";

export type ItemKind = "tools" | "resources" | "templates" | "prompts";

/** In the order in which people read them. */
export const ITEM_KINDS: readonly ItemKind[] = ["tools", "prompts", "resources", "templates"];

export interface ConsoleItem {
  /** The server's own name, URI or URI template. */
  readonly name: string;
  /** The item as JSON, as the server sent it. */
  readonly text: string;
}

export interface ConsoleServer {
  readonly slug: string;
  /** The operator's name for it. */
  readonly label: string;
  /** Its `serverInfo`. */
  readonly info: JsonObject | undefined;
  readonly instructions: string | undefined;
  /** What this person may use, and nothing else. */
  readonly lists: Readonly<Record<ItemKind, readonly ConsoleItem[]>>;
  /** What is missing, and why: sentences of the gateway's own. */
  readonly notes: readonly string[];
  /** `asked`: it has not said yet what it offers. `unconnected`: this person has no account there yet. */
  readonly state: "well" | "failing" | "down" | "asked" | "unconnected";
  /** The person publishes it: nobody else has it. */
  readonly isOwn: boolean;
  /** @returns the name of a tool at `/mcp`. @param tool the server's own name. */
  readonly publicName: (tool: string) => string | undefined;
}

export interface Console {
  /** In the operator's order. */
  readonly slugs: readonly string[];
  /**
   * Waits for a slow server as long as a list does. Never rejects.
   *
   * @param isOneOfMany waits for a third of that, since one slow server holds up the page of all.
   */
  server(slug: string, isOneOfMany?: true): Promise<ConsoleServer | undefined>;
  /**
   * Calls a server as any client of this person does: by the same policy, under the same limits, and
   * with a line in the log.
   *
   * @param call in the server's own names.
   * @throws only the reason of the signal.
   */
  call(slug: string, call: Call, run: ConsoleRun): Promise<Reply>;
}

export interface ConsoleRun {
  readonly onNotice: (notice: Call) => Promise<void>;
  /** Aborted when the person has left the page. */
  readonly signal: AbortSignal;
}
