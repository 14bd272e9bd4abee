/**
 * An `Agent` of the agents package as a client: connects to an MCP server as its documentation has it,
 * lists the tools, calls one, and says what came.
 */

import { Agent, getAgentByName } from "agents";

interface Env {
  readonly AGENTS: DurableObjectNamespace<CallingAgent>;
}

interface Order {
  readonly url: string;
  readonly transport: "auto" | "sse" | "streamable-http";
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

export class CallingAgent extends Agent<Env> {
  override async onRequest(request: Request): Promise<Response> {
    const { url, transport, tool, args } = await request.json<Order>();
    const { id: serverId } = await this.addMcpServer("gateway", url, {
      transport: { type: transport },
    });
    try {
      const tools = this.mcp.listTools().map(({ name }) => name);
      const result = await this.mcp.callTool({ serverId, name: tool, arguments: args });
      return Response.json({ tools, result });
    } finally {
      await this.removeMcpServer(serverId);
    }
  }
}

export default {
  async fetch(request: Request, { AGENTS }: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return new Response("ok");
    // One agent for each path, so that no connection outlives its test.
    return (await getAgentByName(AGENTS, pathname.slice(1))).fetch(request);
  },
};
