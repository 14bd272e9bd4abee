/** `edgeway status`, in each way in which `connect` would not work: what it is, what to do, and an exit code. */

import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, test as base } from "vitest";

import { Person } from "../support/cli-person.ts";
import { machineNode, startCli } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { NODE } from "../support/process.ts";
import { INITIALIZE } from "../support/raw-session.ts";
import { startGateway, type Server as Gateway } from "../support/servers.ts";
import { sharedServers } from "../support/shared-servers.ts";
import { startStubGateway } from "../support/stub-gateway.ts";

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ auth: "oauth" });
});
afterAll(() => gateway.stop());

// oxlint-disable-next-line no-empty-pattern -- vitest reads what a fixture needs off the pattern
const test = base.extend("person", async ({}, { onCleanup }): Promise<Person> => {
  const person = await Person.arrive();
  onCleanup(() => person.leave());
  return person;
});

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

async function statusOf(
  url: string,
  env: Readonly<Record<string, string>>,
  node = NODE,
): Promise<Said> {
  const command = startCli(["status", url], { env, node });
  const code = await command.exitCode;
  return { code, out: command.lines.join("\n"), errors: command.stderr() };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Servers that are no gateways. */
const OTHERS: readonly (readonly [what: string, answer: RequestListener, said: string])[] = [
  [
    "a website",
    (_, response) => response.setHeader("content-type", "text/html").end("<html>Hello</html>"),
    "answers, but not as a gateway does",
  ],
  [
    "a login in front",
    (_, response) => response.writeHead(302, { location: "https://login.example.com/" }).end(),
    "leads to https://login.example.com",
  ],
  [
    "a login of another kind",
    (_, response) => response.writeHead(401, { "www-authenticate": "Basic" }).end(),
    "asks for a login that is not a gateway’s",
  ],
  [
    "a gateway with mistakes",
    (_, response) =>
      response.writeHead(503, { "content-type": "text/plain" }).end("It has mistakes.\n"),
    "cannot serve now. Its operator finds the reason in the log of the gateway (status 503: It has mistakes)",
  ],
  [
    "a proxy without its gateway",
    (_, response) => response.writeHead(502, { "content-type": "text/html" }).end(),
    "does not reach the gateway behind it",
  ],
];

describe("status", () => {
  test("of a gateway that lets one in says so, and which it is", async ({ expect, person }) => {
    const url = `${sharedServers().gateway}/mcp`;
    const { code, out, errors } = await statusOf(url, person.alone);
    expect([code, errors]).toEqual([0, ""]);
    expect(out).toMatch(/can be reached, without a login\. It is \S+ \d/);
  });

  test("of a gateway that is down names the port", async ({ expect, person }) => {
    const port = await freePort();
    const { code, errors } = await statusOf(`http://127.0.0.1:${port}/mcp`, person.alone);
    expect(code).toBe(1);
    expect(errors).toContain(`Nothing listens at 127.0.0.1:${port}. Does the gateway run`);
  });

  test("of a path that is no endpoint says where they are", async ({ expect, person }) => {
    const { code, errors } = await statusOf(`${gateway.url}/account/mcp`, person.alone);
    expect(code).toBe(1);
    expect(errors).toContain(`That of a gateway is ${gateway.url}/mcp`);
  });

  test("without a login says how to get one", async ({ expect, person }) => {
    const { code, errors } = await statusOf(gateway.url, person.alone);
    expect(code).toBe(1);
    expect(errors).toContain(`Run: edgeway login ${gateway.url}/mcp`);
    expect(errors).toContain("set EDGEWAY_KEY");
    expect(await person.opened()).toEqual([]);
  });

  test("with a key that is refused says where to make another", async ({ expect, person }) => {
    const env = { ...person.alone, EDGEWAY_KEY: "edgeway_sk_wrong" };
    const { code, errors } = await statusOf(gateway.url, env);
    expect(code).toBe(1);
    expect(errors).toContain("refused the API key in EDGEWAY_KEY");
    expect(errors).toContain(`${gateway.url}/account`);
    expect(errors).not.toContain("edgeway_sk_wrong");
  });

  test("of a login that has ended says that it has", async ({ expect, onTestFinished, person }) => {
    const stub = await startStubGateway();
    onTestFinished(() => stub.close());
    await person.keep(stub.url, stub.login);
    stub.trouble = 400;
    const { code, errors } = await statusOf(stub.url, person.alone);
    expect(code).toBe(1);
    expect(errors).toContain("The login of this machine has ended");
    expect(errors).toContain(`Run: edgeway login ${stub.url}`);
  });

  test("of a login that cannot be renewed now says that it is the network", async ({
    expect,
    onTestFinished,
    person,
  }) => {
    const stub = await startStubGateway();
    onTestFinished(() => stub.close());
    await person.keep(stub.url, stub.login);
    stub.trouble = 500;
    const { code, errors } = await statusOf(stub.url, person.alone);
    expect(code).toBe(1);
    expect(errors).toContain("/token answered with status 500");
    expect(await person.login()).toHaveProperty("tokens.refresh", "refresh-0");
  });

  test.for(OTHERS)(
    "of %s says what it is",
    async ([, answer, said], { expect, onTestFinished, person }) => {
      const server = createServer(answer);
      onTestFinished(() => void server.close());
      const { code, errors } = await statusOf(await listen(server), person.alone);
      expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
    },
  );
});

test.for([["status"], ["login"], ["logout"], ["publish", "files", "--to"], ["connect"]])(
  "%j where the folder of the logins cannot be used says which variable names another one",
  async (args, { expect, onTestFinished, person }) => {
    const dashes = args[0] === "publish" ? ["--", "true"] : [];
    const command = startCli([...args, `${gateway.url}/mcp`, ...dashes], { env: person.homeless });
    onTestFinished(() => command.kill("SIGKILL"));
    const sentence = `The folder of the logins, ${person.homeless["EDGEWAY_STATE"]}, cannot be used (ENOTDIR). Set EDGEWAY_STATE to another`;
    if (args[0] === "connect") {
      command.send(INITIALIZE);
      const answer = await command.answer(INITIALIZE.id);
      expect(answer).toHaveProperty("error.message", sentence);
    } else {
      expect(await command.exitCode).toBe(1);
      expect(command.stderr()).toBe(`edgeway: ${sentence}\n`);
    }
  },
);

describe("login", () => {
  test.for(OTHERS)(
    "at %s ends with code 1, and does not say that nobody has to sign in",
    async ([, answer], { expect, onTestFinished, person }) => {
      const server = createServer(answer);
      onTestFinished(() => void server.close());
      const url = await listen(server);
      const command = startCli(["login", url], { env: person.alone });
      expect(await command.exitCode).toBe(1);
      expect(command.stderr()).toContain(new URL(url).origin);
      expect(command.stderr()).not.toContain("asks for no login");
    },
  );

  test("at an endpoint without sign-in says that it asks for none", async ({ expect, person }) => {
    const url = `${sharedServers().gateway}/mcp`;
    const command = startCli(["login", url], { env: person.alone });
    expect(await command.exitCode).toBe(0);
    expect(command.stderr()).toContain(`${url} asks for no login`);
  });
});

// Both wait for a time-out, which keeps no process of Node 20.
describe.concurrent("status", () => {
  test.for([
    ["says nothing", false],
    ["hangs up at once", true],
  ] as const)(
    "of a server that %s ends, with a sentence",
    async ([, hangsUp], { expect, onTestFinished, person }) => {
      const server = createSocketServer((socket) => {
        socket.on("error", () => undefined);
        if (hangsUp) socket.destroy();
      });
      onTestFinished(() => void server.close());
      const { code, errors } = await statusOf(await listen(server), person.alone, machineNode());
      expect(code).toBe(1);
      expect(errors).toMatch(/^edgeway: 127\.0\.0\.1:\d+ (?:takes|closes) the connection.*\n$/);
    },
  );
});
