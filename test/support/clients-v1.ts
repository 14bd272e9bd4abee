/** Clients of `@modelcontextprotocol/sdk`, the SDK of the revisions up to 2025-11-25. */

import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { Client as SdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type ClientCapabilities,
  type ClientResult,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";

import { connectCommand } from "./cli.ts";
import { isLateProgress } from "./late-progress.ts";
import { defaultAnswers } from "./clients-answers.ts";
import {
  type Answers,
  CALL,
  type Client,
  type ConnectOptions,
  type Json,
  type Message,
  RECONNECTION,
} from "./clients-face.ts";

const anything = z.looseObject({});

/** Tasks are offered too: only this SDK can be asked as a task. */
const CAPABILITIES: ClientCapabilities = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  tasks: { requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
};

type V1Kind = "v1-http" | "v1-sse" | "v1-stdio";

export async function connectV1(
  kind: V1Kind,
  url: string,
  options: ConnectOptions,
): Promise<Client> {
  const capabilities = options.capabilities ?? CAPABILITIES;
  const client = new SdkClient(
    { name: `test-${kind}`, version: "1.0.0" },
    {
      capabilities,
      taskStore: new InMemoryTaskStore(),
      defaultTaskPollInterval: 100,
    },
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
    if (kind === "v1-http" || !isLateProgress(error)) errors.push(error);
  };
  answerWith({ ...defaultAnswers, ...options.answers }, client, capabilities, asked);

  const transport = createTransport(kind, url, options);
  // Over HTTP+SSE the SDK keeps it to itself.
  let revision: string | undefined;
  const agree = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    agree?.(version);
  };
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

  return {
    kind,
    server: {
      revision,
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
    request: (method, params = {}, call = {}) =>
      client.request({ method, params }, anything, { ...CALL, ...call }),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args = {}, call = {}) =>
      client.callTool({ name, arguments: args }, undefined, { ...CALL, ...call }),
    notify: (method) => client.notification({ method }),
    async setLogLevel(level) {
      await client.request({ method: "logging/setLevel", params: { level } }, anything);
    },
    async watch(...uris) {
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

function createTransport(
  kind: V1Kind,
  url: string,
  { fetch, sessionId, revision, env = {} }: ConnectOptions,
): Transport {
  if (kind === "v1-stdio") {
    return asking(
      revision,
      new StdioClientTransport({ ...connectCommand(url, env), stderr: "pipe" }),
    );
  }
  const init = fetch === undefined ? {} : { fetch };
  if (kind === "v1-sse") return new SSEClientTransport(new URL(url), init);
  const session = sessionId === undefined ? {} : { sessionId };
  return new StreamableHTTPClientTransport(new URL(url), {
    ...init,
    ...session,
    reconnectionOptions: RECONNECTION,
  });
}

type Handle = Parameters<SdkClient["setRequestHandler"]>[1];
type Extra = Parameters<Handle>[1];

/** The SDK always asks for its newest revision. */
function asking(revision: string | undefined, transport: Transport): Transport {
  const send = transport.send.bind(transport);
  if (revision === undefined) return transport;
  transport.send = (message, options) => {
    if (!("method" in message) || message.method !== "initialize") return send(message, options);
    return send({ ...message, params: { ...message.params, protocolVersion: revision } }, options);
  };
  return transport;
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
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler(CreateMessageRequestSchema, (request, extra) =>
      asTask(note(request), extra, (params) => answers.sampling(params)),
    );
  }
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, (request, extra) =>
      asTask(note(request), extra, (params) => answers.elicitation(params)),
    );
  }
  if (capabilities.roots !== undefined) {
    client.setRequestHandler(ListRootsRequestSchema, (request) => {
      note(request);
      return { roots: answers.roots() };
    });
  }
}

/** Answers at once, or as a task when the server asks for one: done already, or still at work. */
async function asTask(
  params: Json,
  { taskStore }: Extra,
  answer: (params: Json) => Json | Promise<Json>,
): Promise<ClientResult> {
  if (params["task"] === undefined || taskStore === undefined) {
    return answer(params);
  }
  const task = await taskStore.createTask({ pollInterval: 100 });
  const store = (result: Json): Promise<void> =>
    taskStore.storeTaskResult(task.taskId, "completed", result);
  const answered = answer(params);
  if (answered instanceof Promise) {
    void answered.then(store);
    return { task: { ...task } };
  }
  await store(answered);
  return { task };
}
