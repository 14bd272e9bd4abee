/**
 * The spans of a call, where the platform records them: one for the client's request, and one for each request to a
 * server. Their names and attributes are those of the semantic conventions of OpenTelemetry for MCP
 * (semantic-conventions-genai, `docs/gen-ai/mcp.md`, in development), and stand in this file alone.
 * Arguments and results are in no span; of the person there is the id, which is a keyed hash of who they are.
 */

import type { CallSpan } from "../protocol/call-span.ts";
import type { Call } from "../protocol/exchange.ts";
import type { Reply } from "../protocol/json-rpc.ts";
import { idsOf, type NativeSpan } from "../protocol/tracer.ts";
import { type CallOutcome, type CallRecord, OTHER } from "./call-record.ts";

const Attribute = {
  method: "mcp.method.name",
  operation: "gen_ai.operation.name",
  tool: "gen_ai.tool.name",
  prompt: "gen_ai.prompt.name",
  resource: "mcp.resource.uri",
  status: "rpc.response.status_code",
  errorType: "error.type",
  transport: "network.transport",
  serverAddress: "server.address",
  serverPort: "server.port",
  person: "enduser.pseudo.id",
  server: "edgeway.server",
  outcome: "edgeway.outcome",
  clientEra: "edgeway.era.down",
  serverEra: "edgeway.era.up",
  effect: "edgeway.effect",
  traceId: "edgeway.trace_id",
} as const;

type Attributes = Readonly<Partial<Record<keyof typeof Attribute, string | number | undefined>>>;

function setAll(span: NativeSpan, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) span.setAttribute(Attribute[key as keyof typeof Attribute], value);
  }
}

/** @param run calls `end` with the record of the call. */
export function inServerSpan<T>(
  span: CallSpan | undefined,
  /** The tool, if the catalog at hand lists it: made-up names would be as many names of spans. */
  { method, tool }: { readonly method: string; readonly tool: () => string | undefined },
  run: (end: (record: CallRecord) => void) => Promise<T>,
): Promise<T> {
  if (span?.tracer === undefined) return run(ignore);
  const known = tool();
  span.title = known === undefined ? method : `${method} ${known}`;
  return span.tracer.enterSpan(span.title, (native) =>
    run((record) => setAll(native, attributesOf(record))),
  );
}

function ignore(): void {}

function attributesOf(record: CallRecord): Attributes {
  const { method, name, outcome, server, person, effect, clientEra, serverEra, traceId } = record;
  const isTool = method === "tools/call";
  return {
    method,
    operation: isTool ? "execute_tool" : undefined,
    tool: isTool ? boundTool(record) : undefined,
    prompt: method === "prompts/get" ? name : undefined,
    resource: method.startsWith("resources/") ? name : undefined,
    status: /^error:(.*)$/.exec(outcome)?.[1],
    errorType: errorType(outcome),
    transport: "tcp",
    ...{ server, outcome, person, effect, clientEra, serverEra, traceId },
  };
}

interface Place {
  readonly slug: string;
  readonly endpoint: URL;
}

/** @param run is given the id of the span, as the parent of what the server does. */
export function inClientSpan<T>(
  span: CallSpan | undefined,
  { slug, endpoint }: Place,
  { method }: Call,
  run: (spanId: string | undefined) => Promise<T>,
  replyOf: (answer: T) => Reply,
): Promise<T> {
  if (span?.tracer === undefined) return run(undefined);
  const { title = method, trace } = span;
  const name = title.startsWith(`${method} `) ? title : method;
  return span.tracer.enterSpan(name, async (native) => {
    setAll(native, {
      method,
      server: slug,
      transport: "tcp",
      serverAddress: endpoint.hostname,
      serverPort: Number(endpoint.port) || undefined,
      traceId: trace.traceId,
    });
    try {
      const answer = await run(idsOf(native)?.spanId);
      setAll(native, failureOf(replyOf(answer)));
      return answer;
    } catch (error) {
      setAll(native, { errorType: error instanceof Error ? error.name : OTHER });
      throw error;
    }
  });
}

function failureOf(reply: Reply): Attributes {
  if (!("error" in reply)) {
    return { errorType: reply.result.isError === true ? "tool_error" : undefined };
  }
  const status = String(reply.error.code);
  return { status, errorType: status };
}

/** `error.type`: `tool_error`, else the code as text; `undefined` where there is no error. */
export function errorType(outcome: CallOutcome): string | undefined {
  if (outcome === "ok") return undefined;
  return outcome.replace(/^error:/, "").replace("refused:", "refused_");
}

/** A record has the effect of the tools that the catalog has, and of no other name. */
export function boundTool({ name = "", effect }: CallRecord): string {
  return effect === undefined ? OTHER : name;
}
