/** `createMcpHandler` as its documentation has it: a fresh server for each request. */

import { createMcpHandler } from "agents/mcp/server";

import { buildServer } from "./build-server.ts";
import { manyTools, type Tool } from "./many-tools.ts";

interface Env {
  readonly TOOLS?: string;
}

let tools: readonly Tool[] | undefined;
const handler = createMcpHandler(() => buildServer(tools));

export default {
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> | Response {
    tools ??= manyTools(Number(env.TOOLS ?? "0"));
    if (new URL(request.url).pathname === "/health") return new Response("ok");
    return handler(request, env, ctx);
  },
};
