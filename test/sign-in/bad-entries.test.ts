/** With sign-in, what is wrong with an entry of `MCP_SERVERS` is for administrators alone. */

import { env } from "cloudflare:workers";
import { beforeAll, describe, test } from "vitest";

import { PATHS } from "../../src/pages/view/paths.ts";
import {
  CAPABILITIES_KEY,
  MODERN,
  modern,
  send,
  Session,
  VERSION_KEY,
} from "../integration/client.ts";
import { changeConfiguration } from "../integration/configuration.ts";
import { responseIn } from "../integration/event-reader.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { ORIGIN } from "./gateway.ts";
import { as, Person, ROOT_EMAIL, SOMEBODY } from "./people.ts";
import { Visitor } from "./visitor.ts";

const MCP = `${ORIGIN}/mcp`;
const ENTRY = "MCP_SERVERS.bad";
const SENTENCE = `${ENTRY} needs a "url" or a "service".`;

beforeAll(() => {
  const servers = JSON.parse(String(env["MCP_SERVERS"])) as Record<string, Json>;
  changeConfiguration({ MCP_SERVERS: JSON.stringify({ ...servers, bad: {} }) });
});

async function signIn(isAdmin: boolean): Promise<Person> {
  const person = await Person.signIn();
  if (isAdmin) await person.shard.users.change(person.id, { email: ROOT_EMAIL });
  return person;
}

async function modernNotes(token: string): Promise<string> {
  const _meta = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: {} };
  const answer = await modern({ mcp: MCP }, "tools/list", { _meta }, { headers: as(token) });
  return JSON.stringify((await responseIn(answer)).result);
}
const notesIn = async (session: Session): Promise<string> =>
  JSON.stringify((await responseIn(await session.request("tools/list", {}))).result);

describe.for([
  { who: "an administrator reads it", isAdmin: true },
  { who: "nobody else reads it", isAdmin: false },
])("$who", ({ isAdmin }) => {
  test("in lists", async ({ expect }) => {
    const person = await signIn(isAdmin);
    const keys = [
      (await person.key({ path: "/mcp" })).token,
      (await person.connect({ path: "/mcp" })).tokens.access_token,
    ];
    for (const key of keys) {
      const session = await Session.open(MCP, { headers: as(key) });
      for (const notes of [await modernNotes(key), await notesIn(session)]) {
        expect(notes.includes(SENTENCE.replaceAll('"', String.raw`\"`))).toBe(isAdmin);
        expect(notes.includes("misconfigured")).toBe(isAdmin);
      }
    }
  });

  test("on pages", async ({ expect }) => {
    const visitor = await Visitor.arrive({ isAdmin });
    const admin = await visitor.visit(PATHS.admin);
    expect(admin.status).toBe(isAdmin ? 200 : 403);
    const front = await visitor.visit("/");
    for (const { text } of [admin, front]) {
      expect(text.includes(SENTENCE)).toBe(isAdmin);
      expect(text.includes("Not served")).toBe(isAdmin);
    }
  });
});

test("who is no administrator any more is told no more, in the same session", async ({
  expect,
}) => {
  const person = await signIn(true);
  const { token } = await person.key({ path: "/mcp" });
  const session = await Session.open(MCP, { headers: as(token) });
  expect(await notesIn(session)).toContain(ENTRY);
  await person.shard.users.change(person.id, { email: SOMEBODY.email });
  await expect.poll(() => notesIn(session)).not.toContain(ENTRY);
});

test("a token for a server stays good while its entry is bad, and strangers learn nothing", async ({
  expect,
}) => {
  const { token } = await (await signIn(false)).key({ path: "/mcp/bad" });
  const served = await send(`${MCP}/bad`, { method: "POST", headers: as(token) });
  expect(served.status).toBe(503);
  expect(await served.text()).toContain("so it is not served");
  for (const path of ["/", "/mcp", "/mcp/bad", "/health"]) {
    const answer = await send(ORIGIN + path, { headers: { Accept: "text/html" } });
    expect(await answer.text()).not.toContain(ENTRY);
  }
});
