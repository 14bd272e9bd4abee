/**
 * The tool by which a person connects an account. While there is none, a call of it is refused as every
 * other call is: with the link. A client with an older list may call it when the account is there.
 */

import { labelOf } from "../../accounts/settings.ts";
import { knownCatalog } from "../../catalog/cache/catalogs.ts";
import { itemIndex } from "../../catalog/cache/lookups.ts";
import type { RequestScope } from "../../catalog/request-scope.ts";
import type { ClientKind } from "../../endpoint/client-kind.ts";
import type { Server } from "../../endpoint/server.ts";
import type { CallSpan } from "../../protocol/call-span.ts";
import type { Call } from "../../protocol/exchange.ts";
import type { Reply } from "../../protocol/json-rpc.ts";
import { eraOf } from "../../protocol/revisions.ts";
import { logged, type RecordScope } from "../guard/logged.ts";

/**
 * Answers a call of the tool, with its line in the log.
 *
 * @param span of the client's request.
 * @returns `undefined` for every other call, and while no account can be used.
 */
export async function answerConnectTool(
  scope: RecordScope & Pick<RequestScope, "feeds" | "limits">,
  server: Server,
  client: ClientKind,
  call: Call,
  span: CallSpan | undefined,
): Promise<Reply | undefined> {
  const { method, params } = call;
  const { slug, connectTool, target } = server;
  if (connectTool === undefined || target.credentials === undefined) return undefined;
  if (method !== "tools/call" || params?.name !== connectTool) return undefined;
  if ((await target.credentials.current()).kind !== "use") return undefined;
  const { catalog } = await knownCatalog(scope, server, client);
  // The server may have a tool of that name.
  if (catalog !== undefined && itemIndex(catalog, "tools", connectTool) !== undefined) {
    return undefined;
  }
  const text = `An account at ${labelOf(server)} is connected. List the tools again to see what it has.`;
  const result = { content: [{ type: "text", text }] };
  const isModern = eraOf(client.revision) === "modern";
  const reply = { result: isModern ? { ...result, resultType: "complete" } : result };
  return logged(scope, { span, server: slug, call }, () => Promise.resolve({ reply }));
}
