// The tools that take their time, and can be run as tasks. Those that cannot be run otherwise say so
// to a client that knows of no tasks.

import { setTimeout as sleep } from "node:timers/promises";
import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { requestState } from "../state-codec.ts";
import { askName, nameFrom } from "../tools/questions.ts";
import { failure, text } from "../tools/results.ts";
import type { Job, Work } from "./task-store.ts";

export interface TaskTool {
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  readonly needsTask: boolean;
  /** What there is to do, or what has to be known before. */
  begin(args: unknown, ctx: ServerContext): Promise<Work | InputRequiredResult>;
}

const nothing = z.object({});
const computation = z.object({ seconds: z.number().min(0), label: z.string() });
const deletion = z.object({ filename: z.string() });

/** Nobody waits at the end for a task that goes on. */
function pause(ms: number, { signal }: Job): Promise<void> {
  return sleep(ms, undefined, { signal, ref: false });
}

export const TASK_TOOLS: ReadonlyMap<string, TaskTool> = new Map<string, TaskTool>([
  [
    "slow_compute",
    {
      description: "Computes for `seconds` seconds",
      inputSchema: computation,
      needsTask: false,
      async begin(args) {
        const { seconds, label } = computation.parse(args);
        return async (job) => {
          await pause(seconds * 1000, job);
          return text(`Computed ${label}`);
        };
      },
    },
  ],
  [
    "failing_job",
    {
      description: "Runs for a moment, and fails as tools do",
      inputSchema: nothing,
      needsTask: true,
      begin: async () => async (job) => {
        await pause(200, job);
        return failure("The job failed");
      },
    },
  ],
  [
    "protocol_error_job",
    {
      description: "Ends with a JSON-RPC error",
      inputSchema: nothing,
      needsTask: false,
      begin: async () => async () => {
        throw new ProtocolError(ProtocolErrorCode.InternalError, "The job broke");
      },
    },
  ],
  [
    "confirm_delete",
    {
      description: "Asks whether to delete a file, and pretends to",
      inputSchema: deletion,
      needsTask: true,
      async begin(args) {
        const { filename } = deletion.parse(args);
        return async (job) => {
          const answer = await job.ask("confirm", question(`Delete ${filename}?`, "confirm"));
          return text(isAccepted(answer) ? `Deleted ${filename}` : `Kept ${filename}`);
        };
      },
    },
  ],
  [
    "multi_input",
    {
      description: "Asks two questions at once",
      inputSchema: nothing,
      needsTask: true,
      begin: async () => async (job) => {
        const answers = await Promise.all([
          job.ask("first", question("First?", "confirm")),
          job.ask("second", question("Second?", "confirm")),
        ]);
        return text(`${answers.filter(isAccepted).length} of 2 accepted`);
      },
    },
  ],
  [
    "test_tool_with_task",
    {
      description: "Asks for a name, and then greets it in a task",
      inputSchema: nothing,
      needsTask: true,
      async begin(_, ctx) {
        const name = nameFrom(ctx, "user_name");
        if (name === undefined || !(await isOurs(ctx))) {
          return inputRequired({
            inputRequests: { user_name: askName() },
            requestState: await requestState.mint({ tool: "with_task", round: 1 }),
          });
        }
        return async (job) => {
          await pause(100, job);
          return text(`Hello, ${name}!`);
        };
      },
    },
  ],
]);

/** Tools that can be run without a task, for clients that do not know of any. */
export async function runAtOnce(work: Work, signal: AbortSignal): Promise<CallToolResult> {
  return work({ signal, ask: () => Promise.reject(new Error("Only a task can ask")) });
}

function question(message: string, property: string): InputRequest {
  const requestedSchema = { type: "object", properties: { [property]: { type: "boolean" } } };
  return {
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema },
  } as InputRequest;
}

function isAccepted(answer: unknown): boolean {
  return z.object({ action: z.literal("accept") }).safeParse(answer).success;
}

async function isOurs(ctx: ServerContext): Promise<boolean> {
  const state = ctx.mcpReq.requestState();
  if (typeof state !== "string") return false;
  const { tool } = await requestState.verify(state, ctx);
  return tool === "with_task";
}
