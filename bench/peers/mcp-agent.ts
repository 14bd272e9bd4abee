/**
 * `McpAgent` as its documentation has it, on version 1 of the SDK, which it needs. With
 * `COST_REPORT` on, what the platform bills is counted and told at `/debug/costs`.
 */

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpAgent } from "agents/mcp";
import { z } from "zod";

import { manyTools } from "./many-tools.ts";
import { countCalls, countMessage, countObject, readCosts } from "./metered-object.ts";

interface Env {
  readonly MCP_OBJECT: DurableObjectNamespace<BenchAgent>;
  readonly COST_REPORT?: string;
  readonly TOOLS?: string;
}

const ECHO = { description: "Says what it was told", inputSchema: { text: z.string() } };
const BURST = {
  description: "Sends `count` progress notifications of `bytes` characters",
  inputSchema: { count: z.number().int(), bytes: z.number().int() },
};
const ANNOUNCE = { ...BURST, description: "Sends `count` log messages that belong to no request" };

export class BenchAgent extends McpAgent<Env> {
  server = new McpServer({ name: "bench", version: "1.0.0" }, { capabilities: { logging: {} } });

  constructor(ctx: DurableObjectState, env: Env) {
    if (env.COST_REPORT === "on") countObject(ctx);
    super(ctx, env);
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    countMessage();
    await super.webSocketMessage?.(socket, message);
  }

  override async init(): Promise<void> {
    const { server } = this;
    server.registerTool("echo", ECHO, ({ text }) => ({ content: [{ type: "text", text }] }));
    server.registerTool("burst", BURST, async ({ count, bytes }, extra) => {
      const progressToken = extra._meta?.progressToken ?? 0;
      const message = "x".repeat(bytes);
      for (let progress = 1; progress <= count; progress++) {
        const params = { progressToken, progress, total: count, message };
        await extra.sendNotification({ method: "notifications/progress", params });
      }
      return { content: [{ type: "text", text: `${count} sent` }] };
    });
    server.registerTool("announce", ANNOUNCE, async ({ count, bytes }) => {
      const text = "x".repeat(bytes);
      for (let n = 1; n <= count; n++) {
        await server.sendLoggingMessage({ level: "info", data: { n, text } });
      }
      return { content: [{ type: "text", text: `${count} sent` }] };
    });
    for (const { name, config } of manyTools(Number(this.env.TOOLS ?? "0"))) {
      const own = { ...config, inputSchema: config.inputSchema.shape };
      server.registerTool(name, own, () => ({ content: [{ type: "text", text: name }] }));
    }
  }
}

const handler = McpAgent.serve("/mcp");

export default {
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> | Response {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return new Response("ok");
    if (env.COST_REPORT !== "on") return handler.fetch(request, env, ctx);
    if (pathname === "/debug/costs") return Response.json(readCosts());
    return handler.fetch(request, { ...env, MCP_OBJECT: countCalls(env.MCP_OBJECT) }, ctx);
  },
};
