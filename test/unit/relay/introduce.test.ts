/** How a legacy server introduces itself to the legacy clients of several people. */

import { describe, test } from "vitest";
import { introduce } from "../../../src/relay/introduce.ts";
import type { UpstreamTarget } from "../../../src/upstream/target.ts";
import { fakeTarget, type Seen } from "../upstream/fake-target.ts";
import { handshake, result } from "../upstream/legacy/legacy-servers.ts";

const CLIENT = {
  revision: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "c", version: "1" },
} as const;

/** A server that greets whoever the assertion names, and notes whom it has greeted. */
function greeting(greeted: unknown[] = []): UpstreamTarget {
  return fakeTarget(
    (seen: Seen) => {
      if (seen.body["method"] !== "initialize") return new Response(null, { status: 202 });
      const who = seen.headers.get("who");
      greeted.push(who);
      return result({ ...handshake, instructions: `You are ${who ?? "anybody"}.` })(seen);
    },
    { era: "legacy", transport: "streamable-http" },
  );
}

function toldOf(target: UpstreamTarget, person: string, application: string): UpstreamTarget {
  const caller = { origin: "https://gateway.test", person, application };
  const value = (): Promise<string> => Promise.resolve(`${person} at ${application}`);
  return { ...target, assertion: { header: "who", caller, value } };
}

async function instructionsFor(target: UpstreamTarget): Promise<unknown> {
  const opening = await introduce(target, CLIENT, () => undefined);
  return "instructions" in opening ? opening.instructions : opening;
}

describe("a server that is told who calls", () => {
  test("introduces itself to each caller in words of its own", async ({ expect }) => {
    const target = greeting();
    for (const [person, application] of [
      ["alice", "a1"],
      ["bob", "a1"],
      ["alice", "a2"],
    ] as const) {
      const expected = `You are ${person} at ${application}.`;
      expect(await instructionsFor(toldOf(target, person, application))).toBe(expected);
    }
  });

  test("is asked once by each", async ({ expect }) => {
    const greeted: unknown[] = [];
    const target = greeting(greeted);
    for (let n = 0; n < 2; n++) await instructionsFor(toldOf(target, "alice", "a1"));
    expect(greeted).toEqual(["alice at a1"]);
  });
});
