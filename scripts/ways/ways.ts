/** The six ways through the gateway, driven by the wire alone: any version of it can be asked. */

import { setTimeout as sleep } from "node:timers/promises";

import {
  type Headers,
  legacyHeaders,
  META,
  modernHeaders,
  openSession,
  post,
} from "../../bench/machinery/mcp.ts";
import { obtainToken } from "../../test/support/oauth-client.ts";
import { overHttp } from "../../test/support/oauth-over-http.ts";
import { OWNER_CODE } from "../../test/support/oauth-owner.ts";
import { requestToken, tokensIn } from "../../test/support/oauth-requests.ts";
import { readEvents } from "../../test/support/read-events.ts";

export interface Origins {
  /** A gateway without sign-in, with the servers `modern` and `legacy`: the fixture in each era. */
  readonly open: string;
  /** A gateway with sign-in. */
  readonly signIn: string;
  /** The fixture itself. */
  readonly fixture: string;
}

export interface Way {
  readonly title: string;
  readonly gateway: "open" | "signIn";
  /** @returns what goes the way once, to the last byte of its answer. */
  prepare(origins: Origins): Promise<() => Promise<void>>;
}

const PATIENCE_MS = 30_000;
const POLL_MS = 5;
const WATCHED_URI = "test://watched-resource";

export const WAYS = {
  modern: {
    title: "modern tools/call, modern server",
    gateway: "open",
    prepare: async ({ open }) => {
      return async () => {
        await callModern(`${open}/mcp/modern`, { name: "test_simple_text" });
      };
    },
  },
  legacy: {
    title: "legacy tools/call, plain",
    gateway: "open",
    prepare: async ({ open }) => {
      const url = `${open}/mcp/legacy`;
      const session = await openSession(url);
      return () => callLegacy(url, session, { name: "test_simple_text" });
    },
  },
  streamed: {
    title: "legacy tools/call, streamed",
    gateway: "open",
    prepare: async ({ open }) => {
      const url = `${open}/mcp/legacy`;
      const session = await openSession(url);
      const params = { name: "test_tool_with_progress", _meta: { progressToken: "ways" } };
      return () => callLegacy(url, session, params);
    },
  },
  elicitation: {
    title: "elicitation, modern client, legacy server",
    gateway: "open",
    prepare: async ({ open }) => {
      const url = `${open}/mcp/legacy`;
      const params = { name: "test_elicitation", arguments: { message: "Which tea?" } };
      return async () => {
        const asked = await callModern(url, params);
        const { requestState, inputRequests } = asked;
        if (typeof inputRequests !== "object") throw new Error(`Not asked: ${said(asked)}`);
        const answer = { action: "accept", content: { username: "ways", email: "w@example.com" } };
        const keys = Object.keys(inputRequests ?? {});
        const inputResponses = Object.fromEntries(keys.map((key) => [key, answer]));
        await callModern(url, { ...params, requestState, inputResponses });
      };
    },
  },
  refresh: {
    title: "token refresh",
    gateway: "signIn",
    prepare: async ({ signIn }) => {
      const gateway = { origin: signIn, send: overHttp };
      const granted = await obtainToken(gateway, { code: OWNER_CODE, resource: `${signIn}/mcp` });
      const { client_id } = granted.client;
      let { refresh_token } = granted.tokens;
      return async () => {
        const parameters = { grant_type: "refresh_token", client_id, refresh_token };
        ({ refresh_token } = await tokensIn(await requestToken(gateway, parameters)));
      };
    },
  },
  update: {
    title: "one update, to one session and one listener",
    gateway: "open",
    prepare: async ({ open, fixture }) => {
      const url = `${open}/mcp/modern`;
      const session = await openSession(url);
      const received = { session: 0, listener: 0 };
      const headers = { ...legacyHeaders(session), Accept: "text/event-stream" };
      void readUpdates(await fetch(url, { headers }), () => received.session++);
      const subscribe = { id: 1, method: "resources/subscribe", params: { uri: WATCHED_URI } };
      await (await post(url, legacyHeaders(session), subscribe)).text();
      const listen = {
        id: 1,
        method: "subscriptions/listen",
        params: { notifications: { resourceSubscriptions: [WATCHED_URI] }, _meta: META },
      };
      // Not by `post`, which would end the stream after a while.
      const init = { method: "POST", headers: modernHeaders("subscriptions/listen") };
      const body = JSON.stringify({ jsonrpc: "2.0", ...listen });
      void readUpdates(await fetch(url, { ...init, body }), () => received.listener++);
      // The gateway watches the server once this reaches both.
      await until(async () => {
        await callModern(fixture, { name: "test_touch_watched" });
        await sleep(20 * POLL_MS);
        return received.session > 0 && received.listener > 0;
      });
      return async () => {
        const before = { ...received };
        await callModern(fixture, { name: "test_touch_watched" });
        await until(() => received.session > before.session && received.listener > before.listener);
      };
    },
  },
} satisfies Record<string, Way>;

export type WayName = keyof typeof WAYS;

interface ModernResult {
  readonly requestState?: unknown;
  readonly inputRequests?: object | null;
}

let id = 0;

async function callModern(
  url: string,
  params: { name: string; [more: string]: unknown },
): Promise<ModernResult> {
  const capabilities = { elicitation: { form: {} } };
  const _meta = { ...META, "io.modelcontextprotocol/clientCapabilities": capabilities };
  const message = { id: ++id, method: "tools/call", params: { ...params, _meta } };
  return answerIn(await post(url, modernHeaders("tools/call", params.name), message));
}

async function callLegacy(url: string, session: Headers, params: object): Promise<void> {
  const message = { id: ++id, method: "tools/call", params };
  await answerIn(await post(url, legacyHeaders(session), message));
}

/** Reads an answer to its last byte. @throws Error when it is not a result. */
async function answerIn(response: Response): Promise<ModernResult> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  let text = "";
  if (isStream) await readEvents(response, { event: ({ data }) => void (text = data || text) });
  else text = await response.text();
  const { result } = JSON.parse(text) as { result?: ModernResult & { isError?: boolean } };
  if (result === undefined || result.isError === true) throw new Error(`It failed: ${text}`);
  return result;
}

/** Until the gateway is gone. */
async function readUpdates(response: Response, onUpdate: () => void): Promise<void> {
  if (!response.ok) throw new Error(`No stream: ${response.status} ${await response.text()}`);
  const event = ({ data }: { readonly data: string }): void => {
    if (data.includes("notifications/resources/updated")) onUpdate();
  };
  await readEvents(response, { event }).catch(() => undefined);
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (Date.now() > endsAt)
      throw new Error("The update did not reach the session and the listener");
    await sleep(POLL_MS);
  }
}

function said(value: unknown): string {
  return JSON.stringify(value);
}
