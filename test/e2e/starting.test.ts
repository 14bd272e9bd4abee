/** What `npm start` believes of a request, shows of a call, says of a busy port, and leaves behind. */

import { execFile, spawn } from "node:child_process";
import { createServer, type Server as HttpServer } from "node:http";
import { connect } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, test } from "vitest";

import { freePort } from "../support/free-port.ts";
import { NODE, type Program, ROOT, startProgram } from "../support/process.ts";
import { type Server, startWithNpm } from "../support/servers.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const START = `${ROOT}scripts/start.mjs`;
/** What no client may read: a stack, a path, a module. */
const INTERNALS = /\n {4}at |\/etc\/passwd|node_modules|file:\/\//;

let gateway: Server;
let port: number;

beforeAll(async () => {
  gateway = await startWithNpm();
  port = Number(new URL(gateway.url).port);
});
afterAll(() => gateway.stop());

/** @returns everything that the server sends for these lines until it closes the connection. */
function exchange(at: number, head: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(at, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket.on("error", reject).on("close", () => resolve(text));
    socket.write(`${[...head, "Connection: close"].join("\r\n")}\r\n\r\n`);
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

/** @returns what a start prints that ends by itself, with its exit code. */
async function failedStart(at: number): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = [START, "--port", String(at), "--inspector-port", "0"];
  return run(NODE, args, { cwd: ROOT, timeout: 60_000 }).then(
    () => Promise.reject(new Error("It started.")),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

async function listening(host: string): Promise<{ server: HttpServer; port: number } | undefined> {
  const own = await freePort();
  const server = createServer((_, response) => response.end("no gateway"));
  return new Promise((resolve) => {
    server.on("error", () => resolve(undefined));
    server.listen(own, host, () => resolve({ server, port: own }));
  });
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** All processes but those that have ended and are still listed. */
async function processes(): Promise<readonly Process[]> {
  const { stdout } = await run("ps", ["-eo", "pid=,ppid=,stat=,args="], { maxBuffer: 2 ** 26 });
  return [...stdout.matchAll(/^\s*(\d+)\s+(\d+)\s+([^Z\s]\S*)\s+(.*)$/gm)].map(
    ([, pid, parent, , command = ""]) => ({ pid: Number(pid), parent: Number(parent), command }),
  );
}

async function descendantsOf(pid: number): Promise<readonly Process[]> {
  const all = await processes();
  const found = all.filter(({ parent }) => parent === pid);
  for (const { pid: next } of found) {
    found.push(...all.filter(({ parent }) => parent === next));
  }
  return found;
}

async function stillThere(family: readonly Process[]): Promise<readonly Process[]> {
  const now = new Map((await processes()).map((one) => [one.pid, one.command]));
  return family.filter(({ pid, command }) => now.get(pid) === command);
}

async function ended(program: Program, family: readonly Process[]): Promise<void> {
  let left: readonly Process[] = family;
  await until(
    async () => (left = await stillThere(family)).length === 0,
    () => `${left.map(({ command }) => command).join("\n")} is left:\n${program.output()}`,
  );
}

describe("at the port of the gateway,", () => {
  test.for([
    "MF-Original-URL: http://localhost/health",
    "mf-original-url: http://localhost/health",
    "MF-Op-Original-URL: http://localhost/health",
    "X-Forwarded-Host: localhost",
    "CF-Connecting-IP: 127.0.0.1",
  ])(
    "a foreign host is refused, whatever the other headers are: %s",
    async (header, { expect }) => {
      const answer = await exchange(port, ["GET /health HTTP/1.1", "Host: evil.example", header]);
      expect(statusOf(answer)).toBe(503);
      expect(answer).toContain("it serves loopback hosts only");
    },
  );

  test.for([
    "MF-Original-URL: file:///etc/passwd",
    "MF-Original-URL: http://evil.example/nowhere",
    "MF-Original-URL: nonsense",
    "MF-CF-Blob: nonsense",
    "MF-Route-Override: edgeway-demo-server",
    "MF-Proxy-Shared-Secret: nonsense",
    "MF-Disable-Pretty-Error: true",
  ])("a header that only the runtime may set is ignored: %s", async (header, { expect }) => {
    const answer = await exchange(port, [
      "GET /health HTTP/1.1",
      `Host: localhost:${port}`,
      header,
    ]);
    expect(statusOf(answer)).toBe(200);
    expect(answer).toContain('"status":"ok"');
    expect(answer).not.toMatch(INTERNALS);
  });

  test.for([
    { head: ["OPTIONS * HTTP/1.1", "Host: localhost"] },
    { head: ["GET file:///etc/passwd HTTP/1.1", "Host: localhost"] },
    { head: ["GET http://localhost/health HTTP/1.1", "Host: evil.example"] },
    { head: ["GET /health HTTP/1.1", "Host: local host"] },
    { head: ["GET /health HTTP/1.1", "Host: localhost/../evil.example"] },
    { head: ["GET /health HTTP/1.1", "Host: localhost", "Host: evil.example"] },
    { head: ["GET /health HTTP/1.1", "Host:"] },
    { head: ["GET /health HTTP/1.1"] },
  ])(
    "a request without a plain address is refused, and the answer reveals nothing of the inside: $head",
    async ({ head }, { expect }) => {
      const answer = await exchange(port, head);
      expect(statusOf(answer)).toBe(400);
      expect(answer).not.toMatch(INTERNALS);
    },
  );

  test("an address that a client gives itself only counts against it", async ({ expect }) => {
    const head = ["GET /health HTTP/1.1", "Host: localhost", "CF-Connecting-IP: 203.0.113.9"];
    expect(await exchange(port, head)).toContain("this machine only");
  });

  test("the port that wrangler listens on serves no client directly", async ({ expect }) => {
    const own = await freePort();
    const program = await startProgram({
      command: NODE,
      args: [START, "--port", String(own), "--inspector-port", "0", "--log-level", "info"],
      readyUrl: `http://localhost:${own}/health`,
    });
    const inner = (): string | undefined =>
      /Ready on http:\/\/127\.0\.0\.1:(\d+)/.exec(program.output())?.[1];
    await until(() => inner() !== undefined, "wrangler to say where it listens");
    const head = [
      "GET /health HTTP/1.1",
      "Host: evil.example",
      "MF-Original-URL: http://localhost/health",
    ];
    const answer = await exchange(Number(inner()), head);
    await program.stop();
    expect(inner()).not.toBe(String(own));
    expect(statusOf(answer)).toBe(403);
  });
});

describe("a call", () => {
  test("is logged in one line that people can read", async ({ expect }) => {
    const response = await fetch(`${gateway.url}/mcp`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "steeping_guide",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "steeping_guide",
          arguments: { tea: "oolong" },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    await response.text();
    const line = /^\d\d:\d\d:\d\d {2}tools\/call {2}demo {2}steeping_guide {2}ok {2}\d+ ms {2}.*$/m;
    await until(() => line.test(gateway.program.output()), "the line of the call");
    // Requests as wrangler counts them, and the table of bindings, would hide it.
    expect(gateway.program.output()).not.toMatch(/\[wrangler|env\.|oolong/);
  });
});

test("a gateway at another address of the machine says at localhost that it is ready", async ({
  expect,
}) => {
  const own = await freePort();
  const args = [START, "--ip", "127.0.0.2", "--port", String(own), "--inspector-port", "0"];
  const readyUrl = `http://127.0.0.2:${own}/health`;
  const program = await startProgram({ command: NODE, args, readyUrl });
  await until(
    () => program.output().includes("is ready"),
    () => program.output(),
    30_000,
  );
  expect(program.output()).toContain(`http://localhost:${own}/mcp`);
  await program.stop();
});

describe("a warning of the gateway", () => {
  test("is shown in words", async ({ expect }) => {
    const servers = { demo: { service: "DEMO" }, files: { command: "npx" } };
    const warned = await startWithNpm({ servers });
    await (await fetch(`${warned.url}/mcp`)).body?.cancel();
    const line = /^\d\d:\d\d:\d\d {2}configuration {2}server=files .* starts a program/m;
    await until(
      () => line.test(warned.program.output()),
      () => warned.program.output(),
    );
    expect(warned.program.output()).not.toMatch(/\[WARNING\]|\{"event"/);
    await warned.stop();
  });
});

describe("a busy port", () => {
  test("of another gateway is reported as such, and the launcher does not get ready", async ({
    expect,
  }) => {
    const { code, stdout, stderr } = await failedStart(port);
    expect(code).toBe(1);
    expect(stdout).not.toContain("ready");
    expect(stderr).toContain(`Port ${port} is taken by another Edgeway (`);
    expect(stderr).toContain(`npm start -- --port ${port + 1}`);
  });

  test.for(["127.0.0.1", "::1"])(
    "of another program at %s is not taken either",
    async (host, { expect, skip }) => {
      const other = await listening(host);
      if (other === undefined) return skip("This machine has no such address.");
      try {
        const { code, stdout, stderr } = await failedStart(other.port);
        expect(code).toBe(1);
        expect(stdout).not.toContain("ready");
        expect(stderr).toContain(`Port ${other.port} is taken by another program`);
      } finally {
        other.server.close();
      }
    },
  );
});

describe("the launcher ends all that it has started when it is ended", () => {
  test.for(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
    "by %s",
    async (signal, { expect }) => {
      const started = await startWithNpm();
      const { pid } = started.program;
      const family = await descendantsOf(pid);
      expect(family.some(({ command }) => command.includes("workerd"))).toBe(true);
      process.kill(pid, signal);
      await ended(started.program, family);
      await started.stop();
    },
  );

  test("by SIGKILL to npm", async ({ expect }) => {
    const own = await freePort();
    const npm = spawn("npm", ["start", "--", "--port", String(own), "--inspector-port", "0"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    npm.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    await until(
      () => output.includes("is ready"),
      () => `npm to start it: ${output}`,
    );
    const family = await descendantsOf(npm.pid ?? 0);
    expect(family.some(({ command }) => command.includes("workerd"))).toBe(true);
    npm.kill("SIGKILL");
    await until(async () => (await stillThere(family)).length === 0, "all of them to have ended");
  });
});
