/** Clients of `@modelcontextprotocol/client`, the SDK of both eras. */

import {
  Client as SdkClient,
  type ClientCapabilities,
  type ListRootsResult,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import * as z from "zod";

import { connectCommand } from "./cli.ts";
import { isLateProgress } from "./late-progress.ts";
import { defaultAnswers } from "./clients-answers.ts";
import {
  type Answers,
  CALL,
  type CallOptions,
  type Client,
  type ConnectOptions,
  type Json,
  type Message,
  RECONNECTION,
} from "./clients-face.ts";

const anything = z.looseObject({});
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

const MODES = {
  "v2-legacy": "legacy",
  "v2-modern": { pin: "2026-07-28" },
  "v2-auto": "auto",
  "v2-stdio-legacy": "legacy",
  "v2-stdio-modern": { pin: "2026-07-28" },
  "v2-stdio-auto": "auto",
} as const;

const CAPABILITIES: ClientCapabilities = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

export async function connectV2(
  kind: keyof typeof MODES,
  url: string,
  options: ConnectOptions,
): Promise<Client> {
  const capabilities = options.capabilities ?? CAPABILITIES;
  const client = new SdkClient(
    { name: `test-${kind}`, version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: MODES[kind] } },
  );
  const notifications: Message[] = [];
  const asked: Message[] = [];
  const replies: Json[] = [];
  const repliesTo: unknown[] = [];
  const progress: Json[] = [];
  const errors: Error[] = [];
  client.fallbackNotificationHandler = async ({ method, params }) => {
    notifications.push({ method, params: params ?? {} });
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's hook, not an event
  client.onerror = (error) => {
    if (!isOverStdio(kind) || !isLateProgress(error)) errors.push(error);
  };
  answerWith({ ...defaultAnswers, ...options.answers }, client, capabilities, asked);

  const transport = createTransport(kind, url, options);
  await client.connect(transport);
  const deliver = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's hook, not an event
  transport.onmessage = (message) => {
    if (!("method" in message)) repliesTo.push(message.id);
    if ("result" in message) replies.push(message.result);
    else if ("error" in message) replies.push({ error: message.error });
    else if (message.method === "notifications/progress") progress.push(message.params ?? {});
    deliver?.(message);
  };

  const isModern = client.getProtocolEra() === "modern";
  let meta: Json = {};
  const withMeta = (params: Json): Json =>
    Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };

  return {
    kind,
    server: {
      revision: client.getNegotiatedProtocolVersion(),
      capabilities: client.getServerCapabilities(),
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
    },
    get sessionId() {
      return transport.sessionId;
    },
    notifications,
    asked,
    replies,
    repliesTo,
    progress,
    errors,
    request: (method, params = {}, call: CallOptions = {}) =>
      client.request({ method, params: withMeta(params) }, anything, { ...CALL, ...call }),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args = {}, call: CallOptions = {}) =>
      client.callTool({ name, arguments: args, ...withMeta({}) }, { ...CALL, ...call }),
    notify: (method) => client.notification({ method }),
    async setLogLevel(level) {
      if (isModern) meta = { [LOG_LEVEL]: level };
      else await client.request({ method: "logging/setLevel", params: { level } }, anything);
    },
    async watch(...uris) {
      if (isModern) {
        const lists = {
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
        };
        const subscription = await client.listen({ ...lists, resourceSubscriptions: uris });
        return () => subscription.close();
      }
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    async terminate() {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
    },
    disconnect: () => client.close(),
  };
}

function isOverStdio(kind: keyof typeof MODES): boolean {
  return kind.startsWith("v2-stdio-");
}

function createTransport(
  kind: keyof typeof MODES,
  url: string,
  { fetch, env = {} }: ConnectOptions,
): Transport {
  if (isOverStdio(kind)) {
    return new StdioClientTransport({ ...connectCommand(url, env), stderr: "pipe" });
  }
  const init = fetch === undefined ? {} : { fetch };
  return new StreamableHTTPClientTransport(new URL(url), {
    ...init,
    reconnectionOptions: RECONNECTION,
  });
}

function answerWith(
  answers: Answers,
  client: SdkClient,
  capabilities: ClientCapabilities,
  asked: Message[],
): void {
  const note = ({ method, params = {} }: { method: string; params?: Json | undefined }): Json => {
    asked.push({ method, params });
    return params;
  };
  // What a test answers may be wrong on purpose, so its type says little.
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler(
      "sampling/createMessage",
      async (request) => (await answers.sampling(note(request))) as never,
    );
  }
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler(
      "elicitation/create",
      async (request) => (await answers.elicitation(note(request))) as never,
    );
  }
  if (capabilities.roots !== undefined) {
    client.setRequestHandler("roots/list", (request) => {
      note(request);
      return { roots: answers.roots() } as unknown as ListRootsResult;
    });
  }
}
