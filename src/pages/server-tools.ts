/**
 * The tools of a server for whoever runs the gateway: which of them the configuration hides, which are denied beside
 * it, and the form that denies one or allows it again. It never allows what the configuration hides.
 */

import { tryJson } from "../lib/try-json.ts";
import { hidingRule } from "../policy/item-policy.ts";
import { has, rowOf, wordsOf } from "./catalog-items.ts";
import type { ConsoleItem } from "./console/console.ts";
import { operated, type OperatorVisit } from "./operator-visit.ts";
import type { ListedTools, ShownSwitch } from "./operator/gateway-servers.ts";
import { done, signInAgain } from "./page-guard.ts";
import { auditedAs } from "./page-visitor.ts";
import { pageOf, queryOf } from "./paging.ts";
import { notFound } from "./respond.ts";
import { adminServerPath } from "./view/paths.ts";
import { type ServerTools, toolsPath } from "./view/server-tools-view.ts";

/** @param listed `undefined` of a server that is not served. */
export function serverTools(
  { request }: Pick<OperatorVisit, "request">,
  listed: ListedTools | undefined,
  { deniedTools }: ShownSwitch,
): ServerTools | undefined {
  if (listed === undefined) return undefined;
  const { items = [], policy } = listed;
  const names = new Set(items.map(({ name }) => name));
  const denied = new Set(deniedTools);
  // What is denied can be allowed again when the server does not list it any more, or cannot be asked.
  const all = [...items, ...deniedTools.filter((name) => !names.has(name)).map(unlisted)];
  const query = queryOf(request);
  const words = wordsOf(query);
  const { shown, ...place } = pageOf(
    all.filter((item) => has(item, words)),
    request,
  );
  return {
    ...{ query, ...place, deniedCount: denied.size, isKnown: listed.items !== undefined },
    rows: shown.map((item) => ({
      ...rowOf({ kind: "tools", item }),
      isListed: names.has(item.name),
      isDenied: denied.has(item.name),
      hiddenBy: hidingRule(policy, item.name),
    })),
  };
}

function unlisted(name: string): ConsoleItem {
  return { name, text: JSON.stringify({ name }) };
}

/** What others use ends, so a new sign-in is needed. */
export const denyTool = operated(adminServerPath, async (visit) => {
  const { context, request, visitor, slug, form } = visit;
  const { servers } = context;
  const tool = tryJson(form.get("tool") ?? "");
  if (typeof tool !== "string") return notFound(context);
  const isDenied = form.get("to") === "denied";
  const listed = await servers.tools(slug, visitor.person);
  if (listed === undefined || (isDenied && !isOffered(listed, tool))) return notFound(context);
  if (!visitor.isFresh) return signInAgain(context, adminServerPath(slug));
  const change = { tool, isDenied };
  const outcome = await servers.putSwitch(slug, change, Number(form.get("revision")));
  const path = toolsPath(slug, { query: form.get("q") ?? "", page: Number(form.get("page")) });
  if (outcome === "full") return done(context, path, "tool-switches-full");
  if (outcome === "changed") {
    const event = isDenied ? "tool_denied" : "tool_allowed";
    await auditedAs(context, request, visitor, event, { server: slug, tool });
  } else if ((await servers.switchOf(slug)).deniedTools.includes(tool) !== isDenied) {
    return done(context, path, "tool-changed-elsewhere");
  }
  return done(context, path, isDenied ? "tool-denied" : "tool-allowed");
});

/** True of a tool that there is, as far as the configuration says. */
function isOffered({ items = [], policy }: ListedTools, tool: string): boolean {
  return items.some(({ name }) => name === tool) && hidingRule(policy, tool) === undefined;
}
