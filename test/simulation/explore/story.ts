/**
 * A trace in plain English: what clients and servers sent and got, what broke and who noticed it, and what the
 * session's object was told. The rest of the steps is left out.
 */

import type { Plan } from "./plan.ts";

type Match = Record<string, string>;

/** What a step, or a note of those outside, says. The first that fits counts. */
const SENTENCES: readonly (readonly [RegExp, (found: Match) => string])[] = [
  [
    /^FAULT (?<kind>[\w-]+): (?<what>.*)$/,
    ({ kind = "", what = "" }) => `*** ${broken(kind, what)}`,
  ],
  [/^(?<who>\w+): gets (?<json>\{.*)$/, ({ who = "", json = "" }) => got(who, json)],
  [
    /^(?<who>client\w+): (?<name>\S+) broke: /,
    ({ who, name }) => `${who} notices that the answer to ${name} broke`,
  ],
  [
    /^(?<who>(?:server|files)\w+): changes (?<what>.*)$/,
    ({ who, what }) => `${who} changes ${what}`,
  ],
  [
    /^(?<who>client\w+) → (?<request>\w+) \/\S+ (?<id>#\d+): arrives$/,
    ({ who = "", request, id }) => `${asks(who, request ?? "")} (request ${id})`,
  ],
  [
    /^(?<who>client\w+) → \S+ \S+ (?<id>#\d+): answered (?<status>\d+)$/,
    ({ who, id, status }) => `the gateway answers request ${id} of ${who} with ${status}`,
  ],
  [
    /^(?<who>client\w+) → \S+ \S+ (?<id>#\d+).*: (?:found cut by the reader|broken)$/,
    ({ who, id }) => `${who} notices that request ${id} was cut`,
  ],
  [
    /^(?<who>client\w+) → \S+ \S+ (?<id>#\d+).*: found cut by the (?:writer|server)$/,
    ({ id }) => `the gateway's Worker notices that request ${id} was cut`,
  ],
  [
    /^(?<who>Worker \S+) → (?<session>SessionObject \d+)\.receive #\d+: arrives$/,
    ({ who, session }) => `${who} hands a message of the client to ${session}`,
  ],
  [
    /^(?<who>Worker \S+) → (?<session>SessionObject \d+)\.detach #\d+: arrives$/,
    ({ who, session }) => `${who} tells ${session} that the reader of its answer has gone`,
  ],
  [
    /^(?<who>Worker \S+) → GET \/ #\d+: arrives$/,
    ({ who }) =>
      `${who} reaches the session's object, to read on for its client in the place of the reader before`,
  ],
  [
    /^(?<who>Worker \S+) → GET \/ (?<id>#\d+): answered 101$/,
    ({ who }) => `${who} is connected to it`,
  ],
  [
    /^(?<who>SessionObject \d+) → POST \/\S+ #\d+ \(answer\): a chunk arrives$/,
    ({ who }) => `${who} gets the next part of the server's answer`,
  ],
  [
    /^(?<who>SessionObject \d+): writes are confirmed$/,
    ({ who }) => `what ${who} has written so far is safe`,
  ],
];

function broken(kind: string, what: string): string {
  const name = what.replace(/ → (\w+) \S+ (#\d+)/, "'s request $2 ($1)");
  switch (kind) {
    case "cut-client":
    case "cut-inside":
      return `the connection of ${name} breaks`;
    case "crash":
      return `${name} dies`;
    case "sleep":
      return `${name} is put to sleep`;
    case "server":
      return `the process of ${name} is restarted`;
    case "isolate":
      return `a machine dies, with ${name}`;
    default:
      return `the clock jumps: ${name}`;
  }
}

function asks(who: string, request: string): string {
  const what: Readonly<Record<string, string>> = {
    POST: "a message",
    GET: "to read a stream, or to read on where one broke",
    DELETE: "to end its session",
  };
  return `${who} sends ${what[request] ?? request}`.replace("sends to", "asks to");
}

interface Message {
  readonly method?: string;
  readonly id?: unknown;
  readonly params?: {
    readonly message?: string;
    readonly uri?: string;
    readonly arguments?: { readonly call: string; readonly events: number };
  };
  readonly error?: { readonly message: string };
}

/** What a machine that publishes gets: a message, or something about its connection. */
interface Frame {
  readonly t: string;
  readonly body?: Message;
}

function got(who: string, json: string): string {
  const said = JSON.parse(json) as Message | Frame;
  if ("t" in said && said.t !== "message") return `${who} is told by the gateway: ${said.t}`;
  const message = "t" in said ? (said.body ?? {}) : said;
  const { method, id, params, error } = message;
  switch (method) {
    case "tools/call": {
      const { call, events } = params?.arguments ?? { call: "", events: 0 };
      return `${who} gets the call ${call}, and is to send ${events} events before its result`;
    }
    case "notifications/progress":
      return `${who} gets the event ${params?.message?.split(" ")[0] ?? ""}`;
    case "elicitation/create":
      return `${who} is asked ${params?.message ?? ""}`;
    case undefined: {
      if (error !== undefined) return `${who} gets an error for ${String(id)}: ${error.message}`;
      return `${who} gets the ${who.startsWith("client") ? "result of" : "answer to"} ${String(id)}`;
    }
    default:
      return `${who} gets ${method} ${params?.uri ?? ""}`.trimEnd();
  }
}

/** @returns a sentence; `undefined` for what tells nothing to a stranger. */
export function sentenceOf(text: string): string | undefined {
  const line = text.trim();
  if (line.includes("intruder")) return undefined;
  for (const [pattern, say] of SENTENCES) {
    const found = pattern.exec(line);
    if (found !== null) return say(found.groups ?? {});
  }
  return undefined;
}

/** Who takes part, and what is special. */
export function cast({ clients, servers, order, faults, limits = {} }: Plan): string {
  const lines = [
    ...servers.map((each, index) => `server${index}: ${each.era}`),
    ...clients.map(
      (each, index) =>
        `client${index}: ${each.era}, calls server${each.server} ${each.calls} times, for up to ${each.events} events each`,
    ),
    ...Object.entries(limits).map(([name, limit]) => `${name}: ${limit}`),
    ...(order?.kind === "slow"
      ? [`slow, by up to ${order.ms} ms: whatever has "${order.what.join('" or "')}" in its name`]
      : []),
    ...(order?.kind === "late" ? [`goes last: whatever has "${order.what}" in its name`] : []),
    ...faults.map(({ kind, moment, count, later, times }) => {
      const often = times > 1 ? `, ${times} times` : "";
      return `fault: ${kind}, ${later} steps after the ${count}. "${moment}"${often}`;
    }),
  ];
  return lines.join("\n");
}
