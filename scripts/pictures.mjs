/**
 * `npm run pictures` makes the picture in the README. It starts the gateway, makes a call with `curl`,
 * opens the page that says how to connect a client, and draws both side by side in a real browser.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { launchBrowser } from "../test/support/browser.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const storage = mkdtempSync(join(tmpdir(), "edgeway-pictures-"));
const START_MS = 60_000;
const SIZE = { width: 1200, height: 535 };
const PIXELS_PER_POINT = 1.5;
const CALL = `curl -s localhost:8787/mcp \\
  -H 'Content-Type: application/json' \\
  -H 'Accept: application/json, text/event-stream' \\
  -H 'MCP-Protocol-Version: 2026-07-28' \\
  -H 'Mcp-Method: tools/call' \\
  -H 'Mcp-Name: steeping_guide' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{
    "name":"steeping_guide","arguments":{"tea":"oolong"},
    "_meta":{
      "io.modelcontextprotocol/protocolVersion":"2026-07-28",
      "io.modelcontextprotocol/clientCapabilities":{}}}}'`;

/** The picture shows this address, so nothing else may serve there. */
const origin = "http://localhost:8787";
const given = ["--var", "AUTH_MODE:none", "--persist-to", storage];
const gateway = spawn(process.execPath, [`${root}scripts/start.mjs`, ...given], {
  stdio: "ignore",
});
const browser = await launchBrowser();
try {
  await untilReady();
  const call = callWithCurl();
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: PIXELS_PER_POINT });
  const connect = await browser.newPage({
    viewport: { width: SIZE.width / 2, height: SIZE.height },
    deviceScaleFactor: PIXELS_PER_POINT,
  });
  await connect.goto(origin);
  const shot = await connect.screenshot({ type: "png" });
  await page.setContent(frame(call, shot.toString("base64")));
  mkdirSync(`${root}docs/images`, { recursive: true });
  await page.screenshot({ path: `${root}docs/images/edgeway.png` });
} finally {
  await browser.close();
  const closed = new Promise((resolve) => gateway.once("exit", resolve));
  gateway.kill("SIGTERM");
  await closed;
  rmSync(storage, { recursive: true, force: true });
}

async function untilReady() {
  const end = Date.now() + START_MS;
  while (Date.now() < end && gateway.exitCode === null) {
    const health = await fetch(`${origin}/health`).catch(() => undefined);
    if (health?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`The gateway did not answer at ${origin}/health; is the port taken?`);
}

/** @returns the command as somebody types it, and what it printed. */
function callWithCurl() {
  const answer = execFileSync("sh", ["-c", CALL]).toString();
  const { structuredContent } = JSON.parse(answer).result;
  return `$ ${CALL} \\\n  | jq .result.structuredContent\n${JSON.stringify(structuredContent, undefined, 2)}`;
}

/** @returns HTML: the call in a terminal, and the page beside it. */
function frame(/** @type {string} */ call, /** @type {string} */ png) {
  const text = call.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<!doctype html><style>
    body { margin: 0; display: grid; grid-template-columns: 1fr 1fr; height: 100vh; background: #10201c }
    pre { margin: 0; padding: 32px; color: #d7efe6; font: 14px/1.55 monospace; white-space: pre-wrap }
    img { width: 100%; height: 100vh; object-fit: cover; object-position: top }
  </style><pre>${text}</pre><img src="data:image/png;base64,${png}">`;
}
