/** Which kinds of clients met which kinds of servers. */

import type { Plan } from "./plan.ts";

/** A kind of client, and the kind of what it asks. */
export type Pair = readonly [string, string];

export function pairsOf(plan: Plan): readonly Pair[] {
  const { clients, servers, holders = [], laptops, operator, vendor } = plan;
  const calls = clients.flatMap((client): Pair[] => {
    const server = servers[client.server];
    if (laptops !== undefined) return [[clientKind(client), "published"]];
    return server === undefined ? [] : [[clientKind(client), serverKind(server)]];
  });
  const uses = holders.map((): Pair => [
    "a person's account",
    `vendor, rotation ${vendor?.rotation}`,
  ]);
  const kind = operator?.adds === true ? "an added server" : "a server of MCP_SERVERS";
  const changes = operator === undefined ? [] : [["an operator", kind] as const];
  return [...calls, ...uses, ...changes];
}

function clientKind(client: Plan["clients"][number]): string {
  const revision =
    client.era === "legacy"
      ? client.revision
      : client.era === "modern"
        ? "2026-07-28"
        : "2024-11-05, HTTP+SSE";
  const subscribes = "subscribes" in client && client.subscribes !== undefined;
  return subscribes ? `${revision}, subscribes` : revision;
}

function serverKind(server: Plan["servers"][number]): string {
  if (server.era === "modern") return "2026-07-28";
  if (server.isSse === true) return "HTTP+SSE";
  const session = server.hasSessions ? "sessions" : "no sessions";
  return `legacy, ${session}, ${server.hasEventIds ? "event ids" : "no event ids"}`;
}

/** As Markdown: a row for each kind of client, a column for each kind of server. */
export function pairsTable(counts: ReadonlyMap<string, number>): string {
  const pairs = [...counts].map(([key, count]) => {
    const [client, server] = JSON.parse(key) as Pair;
    return { client, server, count };
  });
  const rows = [...new Set(pairs.map(({ client }) => client))].toSorted();
  const columns = [...new Set(pairs.map(({ server }) => server))].toSorted();
  const cell = (client: string, server: string): string => {
    const pair = pairs.find((each) => each.client === client && each.server === server);
    return pair === undefined ? "" : pair.count.toLocaleString("en");
  };
  const lines = [
    ["Client", ...columns],
    ["---", ...columns.map(() => "--:")],
    ...rows.map((client) => [client, ...columns.map((server) => cell(client, server))]),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
