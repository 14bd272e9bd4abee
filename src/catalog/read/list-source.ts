/** A server whose lists can be read, in one era. */

import type { JsonObject, Reply } from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { About, ListKind } from "../catalog.ts";

export interface ListSource {
  readonly era: Era;
  readonly about: About;
  /** The server advertises such items. */
  advertises(list: ListKind): boolean;
  /** The server may be asked for the list. */
  mayHave(list: ListKind): boolean;
  /** The item may be passed on to clients. */
  isLawful(list: ListKind, thing: JsonObject): boolean;
  /** @throws UpstreamError when no answer is available. */
  ask(method: string, params: JsonObject): Promise<Reply>;
  /** Ends what was opened. Nothing waits for it. */
  close(): void;
}

const CAPABILITY: Readonly<Record<ListKind, string>> = {
  tools: "tools",
  resources: "resources",
  templates: "resources",
  prompts: "prompts",
};

/** An object, by the letter; some servers say `true`. */
export function advertises(capabilities: JsonObject, list: ListKind): boolean {
  const said = capabilities[CAPABILITY[list]];
  return said !== undefined && said !== null && said !== false;
}
