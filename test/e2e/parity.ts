/** Does the same at a server and at the same server behind the gateway, and compares. */

import type { ExpectStatic } from "vitest";

import type { Client, Connect, ConnectOptions, Kind } from "../support/clients-face.ts";
import { withoutRepeats } from "./without-repeats.ts";

/** The same server by two ways. The SDKs are the same, the transports need not be. */
export interface Route {
  readonly name: string;
  readonly direct: readonly [kind: Kind, url: string];
  readonly through: readonly [kind: Kind, url: string];
}

export type Script = (client: Client) => Promise<unknown>;

/**
 * Runs a script by both ways, one after the other. What it returns must be the same, and so must
 * every reply on the wire, whatever the SDK makes of it.
 */
export async function expectSame(
  expect: ExpectStatic,
  connect: Connect,
  { direct, through }: Route,
  script: Script,
  options?: ConnectOptions,
): Promise<void> {
  const expected = await play(script, withoutRepeats(await connect(...direct, options)));
  const actual = await play(script, await connect(...through, options));
  expect(actual.outcome).toEqual(expected.outcome);
  expect(actual.replies).toEqual(expected.replies);
  expect(actual.errors).toEqual(expected.errors);
}

async function play(
  script: Script,
  client: Client,
): Promise<{ outcome: unknown; replies: unknown; errors: unknown }> {
  const outcome = normalise(await script(client));
  const errors = client.errors.map(({ message }) => normalise(message));
  return { outcome, replies: normalise([...client.replies]), errors };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TASK_ID = /\b[0-9a-f]{32}\b/g;
const TIME_OF_DAY = /\b\d{1,2}:\d{2}:\d{2}(?: [AP]M)?/g;
const TIMESTAMP = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

/** Takes out what differs between any two runs: ids of sessions and tasks, and the time. */
export function normalise(value: unknown): unknown {
  if (typeof value === "string") {
    return value
      .replaceAll(TIMESTAMP, "<timestamp>")
      .replaceAll(UUID, "<uuid>")
      .replaceAll(TASK_ID, "<task>")
      .replaceAll(TIME_OF_DAY, "<time>");
  }
  if (Array.isArray(value)) return value.map(normalise);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, normaliseMember(key, member)]),
  );
}

function normaliseMember(key: string, member: unknown): unknown {
  switch (key) {
    // Sealed anew each time.
    case "requestState":
      return "<state>";
    // Each hop has its own; that they lead back to the right call is tested elsewhere.
    case "progressToken":
      return "<token>";
    // server-everything puts the time into its binary resources too.
    case "blob":
      return typeof member === "string" && isText(member)
        ? normalise(Buffer.from(member, "base64").toString())
        : member;
    default:
      return normalise(member);
  }
}

function isText(base64: string): boolean {
  return /^[\x20-\x7e]*$/.test(Buffer.from(base64, "base64").toString("latin1"));
}
