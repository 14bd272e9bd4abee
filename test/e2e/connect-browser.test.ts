/**
 * The login of `edgeway connect` as a person has it: the host starts the command, the command opens a real browser,
 * and the person approves there.
 */

import { afterAll, beforeAll, describe } from "vitest";

import { test as withClients } from "../support/clients.ts";
import { Person } from "../support/cli-person.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { OpenedChromium } from "../support/opened-chromium.ts";
import { type Server, startGateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { textOf } from "./outcome.ts";

let gateway: Server;
beforeAll(async () => {
  const servers = { fixture: { url: sharedServers().fixture } };
  gateway = await startGateway({ auth: "oauth", servers });
});
afterAll(() => gateway?.stop());

const test = withClients
  // oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
  .extend("person", async ({}, { onCleanup }): Promise<Person> => {
    const person = await Person.arrive();
    onCleanup(() => person.leave());
    return person;
  })
  // oxlint-disable-next-line no-empty-pattern -- the same
  .extend("chromium", async ({}, { onCleanup }): Promise<OpenedChromium> => {
    const chromium = await OpenedChromium.prepare();
    onCleanup(() => chromium.remove());
    return chromium;
  });

describe.each(["v1-stdio", "v2-stdio-modern"] as const)("a host of the kind %s", (kind) => {
  test("waits while its person signs in, and the next ones open no page", async ({
    chromium,
    connect,
    expect,
    person,
  }) => {
    const env = { ...person.env, ...chromium.env };
    const url = `${gateway.url}/mcp`;
    const first = connect(kind, url, { env });
    const page = await chromium.page();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByLabel("Owner code", { exact: true }).fill(OWNER_CODE);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("You are signed in. You can close this page.").waitFor();
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/);
    await page.close();

    const hosts = [
      await first,
      await connect(kind, url, { env }),
      await connect(kind, url, { env }),
    ];
    for (const host of hosts) {
      expect(textOf(await host.callTool("test_simple_text"))).toContain("simple text");
    }
    expect(await chromium.opened()).toHaveLength(1);
    expect(await person.opened()).toEqual([]);
  });
});
