// Serves calls of the task tools, and the tasks themselves. The SDK has the wire of the extension,
// but no support for it: a result of the type `task` would be taken for one of a tool, and given a
// `content`, so these calls have a server of their own, whose only handler the SDK leaves alone.

import { MissingRequiredClientCapabilityError, Server } from "@modelcontextprotocol/server";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { text } from "../tools/results.ts";
import type { TaskStore } from "./task-store.ts";
import { runAtOnce, TASK_TOOLS } from "./task-tools.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const METHODS: ReadonlySet<unknown> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

const callShape = z.object({
  method: z.literal("tools/call"),
  params: z.object({ name: z.string() }),
});
const methodShape = z.object({ method: z.string() });
const taskParams = z.object({ taskId: z.string() });

/** Shows the extension and its tools in what a server of the modern era lists. */
export function withTasks(server: McpServer): McpServer {
  server.server.registerCapabilities({ extensions: { [TASKS]: {} } });
  server.registerTool(
    "greet",
    { description: "Greets at once", inputSchema: z.object({ name: z.string() }) },
    ({ name }) => text(`Hello, ${name}!`),
  );
  for (const [name, { description, inputSchema }] of TASK_TOOLS) {
    server.registerTool(name, { description, inputSchema }, () => {
      throw new Error("Calls of this tool go to the server for tasks");
    });
  }
  return server;
}

/** Whether a message is for the server for tasks. */
export function isForTasks(body: unknown): boolean {
  const call = callShape.safeParse(body);
  if (call.success) return TASK_TOOLS.has(call.data.params.name);
  return METHODS.has(methodShape.safeParse(body).data?.method);
}

export function buildTaskServer(tasks: TaskStore): Server {
  const info = { name: "edgeway-fixture", version: "1.0.0" };
  const server = new Server(info, { capabilities: { tools: {}, extensions: { [TASKS]: {} } } });

  const knowsTasks = (): boolean =>
    server.getClientCapabilities()?.extensions?.[TASKS] !== undefined;
  const needTasks = (): void => {
    if (knowsTasks()) return;
    const requiredCapabilities = { extensions: { [TASKS]: {} } };
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
  };

  server.fallbackRequestHandler = async ({ params = {} }, ctx: ServerContext) => {
    const tool = TASK_TOOLS.get(String(params["name"]));
    if (tool === undefined) throw new Error("Not a tool for tasks");
    if (tool.needsTask) needTasks();
    const work = await tool.begin(params["arguments"] ?? {}, ctx);
    if (typeof work !== "function") return work;
    if (!knowsTasks()) return runAtOnce(work, ctx.mcpReq.signal);
    return { resultType: "task", ...tasks.begin(work).seed() };
  };
  server.setRequestHandler("tasks/get", { params: taskParams }, ({ taskId }) => {
    needTasks();
    return { ...tasks.find(taskId).describe() };
  });
  server.setRequestHandler("tasks/update", { params: taskParams }, ({ taskId }, { mcpReq }) => {
    needTasks();
    tasks.find(taskId).answer(mcpReq.inputResponses ?? {});
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params: taskParams }, ({ taskId }) => {
    needTasks();
    tasks.find(taskId).cancel();
    return {};
  });
  return server;
}
