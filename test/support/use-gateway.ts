/** A little of everything that leaves something in the storage of a gateway, in sign-in and at the demo. */

import { Browser } from "./oauth-browser.ts";
import { obtainToken, signIn } from "./oauth-client.ts";
import { OWNER_CODE } from "./oauth-owner.ts";
import {
  type Kept,
  mcp,
  modern,
  resultOf,
  sendTo,
  STORED_ORIGIN,
  toolsIn,
} from "./stored-gateway.ts";

/** @param address of the gateway. */
export async function useGateway(address: string): Promise<Kept> {
  const madeAt = Date.now();
  const send = sendTo(address);
  const browser = new Browser(STORED_ORIGIN, send);
  await signIn(browser, OWNER_CODE);
  const { client, tokens } = await obtainToken(
    { origin: STORED_ORIGIN, send },
    { browser, code: OWNER_CODE },
  );
  const [apiKey = ""] = await create(
    browser,
    "/account",
    "/account/keys",
    /edgeway_sk_\w{16}_[\w-]{43}/g,
  );
  const service = await create(
    browser,
    "/admin",
    "/admin/services",
    /svc_\w+|(?<![\w-])[\w-]{43}(?![\w-])/g,
  );

  const bearer = { Authorization: `Bearer ${apiKey}` };
  const opened = await mcp(send, "/mcp/demo", bearer, {
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "keeper", version: "1" },
    },
  });
  const session = opened.headers.get("mcp-session-id") ?? "";
  const inSession = { ...bearer, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25" };
  await mcp(send, "/mcp/demo", inSession, { method: "notifications/initialized" });
  const listed = await mcp(send, "/mcp/demo", inSession, { id: 1, method: "tools/list" });
  await mcp(send, "/mcp/demo", inSession, {
    ...{ id: 2, method: "resources/subscribe" },
    params: { uri: "teahouse://kettle" },
  });
  const brewed = await mcp(send, "/mcp/demo", inSession, {
    ...{ id: 3, method: "tools/call" },
    params: { name: "brew_tea", arguments: { tea: "oolong" }, _meta: { progressToken: "p" } },
  });
  const asked = await mcp(
    send,
    "/mcp/older",
    ...modern(apiKey, "tools/call", { name: "order_tea" }),
  );
  const { requestState, inputRequests } = resultOf(asked) as {
    requestState: string;
    inputRequests: object;
  };
  return {
    ...{ madeAt, cookies: browser.jar.all.map((cookie) => ({ ...cookie })) },
    client: { client_id: client.client_id },
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    ...{ apiKey, service, session },
    tools: toolsIn(listed),
    events: brewed.messages,
    question: { state: requestState, keys: Object.keys(inputRequests) },
  };
}

/** @returns the secrets that the page shows once. */
async function create(
  browser: Browser,
  path: string,
  action: string,
  secret: RegExp,
): Promise<string[]> {
  const fields = { label: "Nightly job", resource: [`${STORED_ORIGIN}/mcp`] };
  const { text } = await browser.submit(await browser.visit(path), { action, fields });
  return Array.from(text.matchAll(secret), ([found]) => found);
}
