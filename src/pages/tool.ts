/**
 * `/catalog/<slug>/<tool>`: what a tool takes and gives, and a form that runs it with the person's own
 * rights. What is not known to read only is run by a second click, which names the tool and its server.
 */

import { jsonBytes } from "../lib/json-bytes.ts";
import { tryLossless } from "../lib/lossless-json.ts";
import { logUnexpected } from "../observability/unexpected.ts";
import { isObject, type JsonObject, type Reply } from "../protocol/json-rpc.ts";
import { parsed, rowOf } from "./catalog-items.ts";
import {
  type CatalogHandler,
  type CatalogSubmission,
  type CatalogVisit,
  headOf,
  sent,
  visiting,
} from "./catalog-visit.ts";
import type { ConsoleServer } from "./console/console.ts";
import { noticeOf } from "./page-guard.ts";
import { auditedAs, navFor, optionsFor, respondTo } from "./page-visitor.ts";
import { notFound } from "./respond.ts";
import { asciiJson } from "./schema/ascii-json.ts";
import { type Field, formFields, type Typed, typedFrom, typedIn } from "./schema/form-fields.ts";
import { readForm } from "./schema/read-form.ts";
import { schemaRows } from "./schema/schema-rows.ts";
import { streamedPage } from "./streamed-page.ts";
import { questionsIn, readAnswers } from "./tool-questions.ts";
import type { Html } from "./view/html.ts";
import type { View } from "./view/layout.ts";
import {
  confirmView,
  failureView,
  outcomeView,
  progressView,
  questionsView,
  type RunView,
  runView,
} from "./view/run-view.ts";
import { type ToolPage, toolView } from "./view/tool-view.ts";
import { unlistedToolView } from "./view/unlisted-tool-view.ts";

/** A tool that this person may use, as its page shows it. */
interface Found {
  readonly page: ToolPage;
  readonly fields: readonly Field[];
  readonly schemas: JsonObject;
}

/** What has become of what was sent before. */
interface ToldOfForm {
  readonly errors?: ReadonlyMap<Field, string>;
  readonly notice?: string | undefined;
}

/** Of the tool's own fields; questions have others. */
const PREFIX = "a";
const NO_ERRORS: ReadonlyMap<Field, string> = new Map();

export const showTool: CatalogHandler = visiting(async (visit) => {
  const found = await find(visit);
  if (found instanceof Response) return found;
  return respondTo(
    visit,
    toolPage(found, typedFrom(undefined), { notice: noticeOf(visit.request) }),
  );
});

export const runTool: CatalogHandler = sent(async (submission) => {
  const { form } = submission;
  const found = await find(submission, form);
  if (found instanceof Response) return found;
  const { page, fields } = found;
  const kept = form.get("arguments");
  const known = kept === null ? undefined : tryLossless(kept);
  const read = isObject(known)
    ? ({ kind: "values", values: known } as const)
    : readForm(form, fields, PREFIX);
  if (read.kind === "errors") {
    return respondTo(submission, toolPage(found, typedIn(form), { errors: read.errors }), {
      status: 400,
    });
  }
  const { values } = read;
  if (form.has("edit")) return respondTo(submission, toolPage(found, typedFrom(values)));
  const run: RunView = { page, values, json: asciiJson(values) };
  if (page.tool.effect !== "read" && !form.has("sure"))
    return respondTo(submission, confirmView(run));
  return answered(submission, run);
});

/** @param form that was sent to the tool. @returns the page that says why the tool cannot be shown. */
async function find(visit: CatalogVisit, form?: URLSearchParams): Promise<Found | Response> {
  const { console, place, visitor } = visit;
  const server = await console.server(place.slug);
  if (server === undefined) return notFound(visit.context);
  const item = server.lists.tools.find(({ name }) => name === place.tool);
  if (item === undefined) {
    const isUnknown = server.state === "asked" || server.state === "down";
    return isUnknown ? unlisted(visit, server, form) : notFound(visit.context);
  }
  const schemas = parsed(item);
  const page: ToolPage = {
    ...{
      nav: navFor(visit.visitor, "catalog"),
      csrf: visitor.formToken,
      server: headOf(visit, server),
    },
    tool: rowOf({ kind: "tools", item }),
    publicName: server.publicName(item.name),
  };
  return { page, fields: formFields(schemas["inputSchema"]), schemas };
}

/** The same for every name: what the policy hides cannot be told from what does not exist. */
function unlisted(visit: CatalogVisit, server: ConsoleServer, form?: URLSearchParams): Response {
  const { visitor, place } = visit;
  const view = unlistedToolView({
    ...{ nav: navFor(visitor, "catalog"), csrf: visitor.formToken, server: headOf(visit, server) },
    tool: place.tool,
    sent: form && [...form].filter(([name]) => name !== "csrf"),
  });
  return respondTo(visit, view, { status: 503 });
}

function toolPage(
  { page, fields, schemas }: Found,
  typed: Typed,
  { errors = NO_ERRORS, notice }: ToldOfForm = {},
): View {
  const { inputSchema, outputSchema } = schemas;
  return toolView({
    ...page,
    notice,
    form: { fields, prefix: PREFIX, typed, errors },
    input: schemaRows(inputSchema),
    output: outputSchema === undefined ? undefined : schemaRows(outputSchema),
  });
}

/** A first run has no questions yet; a later round has the answers to them. */
async function answered(submission: CatalogSubmission, run: RunView): Promise<Response> {
  const { form } = submission;
  const asked = form.get("questions");
  const questions = asked === null ? undefined : questionsIn(tryLossless(asked));
  if (asked === null || questions === undefined) return start(submission, run, {});
  const read = readAnswers(form, questions);
  const state = form.get("state");
  if (read.kind === "errors") {
    const { errors } = read;
    const shown = { questions, json: asked, state, errors, typed: typedIn(form) };
    return respondTo(submission, runView(run, questionsView(run, shown)), { status: 400 });
  }
  return start(submission, run, {
    inputResponses: read.responses,
    ...(state !== null && { requestState: state }),
  });
}

/** @param round the members of the call beyond its name and arguments. */
async function start(
  submission: CatalogSubmission,
  run: RunView,
  round: JsonObject,
): Promise<Response> {
  const { context, request, visitor, place, console } = submission;
  const { slug, tool: name } = place;
  await auditedAs(context, request, visitor, "tool_tried", { server: slug, tool: name });
  const left = new AbortController();
  const leave = (): void => left.abort(new Error("The person has left the page"));
  request.signal.addEventListener("abort", leave, { once: true });
  const call = { method: "tools/call", params: { name, arguments: run.values, ...round } };
  const fill = async (write: (part: Html) => Promise<void>): Promise<void> => {
    const startedAt = Date.now();
    try {
      const reply = await console.call(slug, call, {
        onNotice: ({ method, params = {} }) =>
          method === "notifications/progress" ? write(progressView(params)) : Promise.resolve(),
        signal: left.signal,
      });
      await write(endOf(run, reply, Date.now() - startedAt));
    } catch (error) {
      if (left.signal.aborted) return;
      await write(failureView(`The gateway failed (reference ${logUnexpected(error)})`));
    }
  };
  const { response, done } = streamedPage(runView(run), optionsFor(submission), fill, leave);
  // Otherwise the platform would stop the call, and its log line with it, when the person has left.
  context.waitUntil(done);
  return response;
}

function endOf(run: RunView, reply: Reply, ms: number): Html {
  if ("error" in reply) return failureView(reply.error.message, reply.error.code);
  const { result } = reply;
  const { resultType, inputRequests, requestState } = result;
  if (resultType !== "input_required") return outcomeView(result, ms, jsonBytes(result));
  const questions = questionsIn(inputRequests);
  if (questions === undefined) return failureView("It asks for something that no page can answer.");
  const state = typeof requestState === "string" ? requestState : null;
  const json = asciiJson(inputRequests);
  return questionsView(run, {
    questions,
    json,
    state,
    errors: NO_ERRORS,
    typed: typedFrom(undefined),
  });
}
