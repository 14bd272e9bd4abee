/** Models of the catalog's pages that are like real ones. */

import { questionsIn } from "../../src/pages/tool-questions.ts";
import { formFields, typedFrom } from "../../src/pages/schema/form-fields.ts";
import type { ItemRow, ServerHead } from "../../src/pages/view/catalog-parts.ts";
import type { CatalogView } from "../../src/pages/view/catalog-view.ts";
import type { QuestionsView, RunView } from "../../src/pages/view/run-view.ts";
import type { ServerView } from "../../src/pages/view/server-view.ts";
import type { ToolView } from "../../src/pages/view/tool-view.ts";
import type { UnlistedToolView } from "../../src/pages/view/unlisted-tool-view.ts";

const nav = { current: "catalog", isAdmin: true } as const;

export const NOTHING = { tools: 0, prompts: 0, resources: 0, templates: 0 };

const github: ServerHead = {
  slug: "github",
  title: "GitHub",
  version: "1.4.0",
  counts: { tools: 41, prompts: 1, resources: 2, templates: 5 },
  notes: [],
  state: "well",
  ...{ auth: "oauth", isForAdmin: true },
  isOwn: false,
};

function tool(name: string, title: string, more: Partial<ItemRow> = {}): ItemRow {
  return {
    ...{ kind: "tools", name, title, description: undefined, mimeType: undefined },
    ...{ effect: "read", isStated: true, parameters: [] },
    ...more,
  };
}

const rows: readonly ItemRow[] = [
  tool("search_code", "Search code", {
    description: "Find files by what is in them, in every repository that you may read.",
  }),
  tool("create_issue", "Open an issue", { effect: "write", description: "Open a new issue." }),
  tool("delete_branch", "delete_branch", {
    effect: "destructive",
    description: "Delete a branch. It cannot be brought back.",
  }),
  tool("run", "run", { effect: "destructive", isStated: false }),
];

const others: readonly ItemRow[] = [
  {
    ...tool("review", "Review a change", { effect: undefined, isStated: false }),
    ...{ kind: "prompts", parameters: ["repository", "number"] },
    description: "Read a change and say what is wrong with it.",
  },
  {
    ...tool("repo://octo/hello/contents/README.md", "README.md", { effect: undefined }),
    ...{ kind: "resources", mimeType: "text/markdown" },
  },
  {
    ...tool("repo://{owner}/{repo}/contents{/path*}", "Files", { effect: undefined }),
    kind: "templates",
  },
];

const catalog: CatalogView = {
  ...{ nav, query: "", notSearched: [] },
  servers: [
    { ...github, rows, foundCount: 49 },
    {
      ...{ slug: "notion", title: "Notion", version: undefined, counts: NOTHING, notes: [] },
      ...{ state: "unconnected", auth: "oauth", isForAdmin: true, isOwn: false },
      ...{ rows: [], foundCount: 0 },
    },
    {
      ...{ slug: "build", title: "Build", version: undefined, counts: NOTHING, notes: [] },
      ...{ state: "unconnected", auth: "client-credentials", isForAdmin: true, isOwn: false },
      ...{ rows: [], foundCount: 0 },
    },
    {
      ...{
        slug: "tea-house",
        title: "tea-house",
        version: "0.1",
        auth: undefined,
        isForAdmin: true,
      },
      isOwn: false,
      counts: { ...NOTHING, tools: 1 },
      notes: ['Upstream "tea-house" is not answering'],
      state: "failing",
      rows: [tool("brew", "Brew tea", { effect: "write" })],
      foundCount: 1,
    },
    {
      ...{ slug: "my-files", title: "Files", version: "1.0", auth: undefined, isOwn: true },
      isForAdmin: true,
      counts: { ...NOTHING, tools: 1 },
      notes: ['Upstream "my-files" is not connected since 2026-11-23 09:12 UTC'],
      state: "failing",
      rows: [tool("read_file", "Read a file")],
      foundCount: 1,
    },
  ],
};

const server: ServerView = {
  nav,
  server: github,
  instructions: "Search before you create.\nSay which repository you mean.",
  query: "",
  rows: [...rows, ...others],
  page: 2,
  pages: 3,
};

const inputSchema = {
  type: "object",
  properties: {
    repository: {
      ...{ type: "string", title: "Repository", pattern: "^[^/]+/[^/]+$" },
      description: "Owner and name, with a slash between them.",
    },
    text: { type: "string", default: "It happens when …\nand then …" },
    priority: { enum: ["low", "high"], default: "low" },
    labels: { type: "array", items: { enum: ["bug", "question", "documentation"] } },
    estimate: { type: "number", minimum: 0 },
    isDraft: { type: "boolean" },
    due: { type: "string", format: "date" },
    fields: { type: "object", description: "Whatever else the repository wants." },
  },
  required: ["repository", "priority"],
};
const fields = formFields(inputSchema);

/** Each field with an error beside it. */
export const ERRORS = new Map(fields.map((field) => [field, "This is not what it should be."]));

const toolPage: ToolView = {
  nav,
  notice: undefined,
  csrf: "c".repeat(43),
  form: { fields, prefix: "a", typed: typedFrom(undefined), errors: new Map() },
  server: github,
  tool: tool("create_issue", "Open an issue", {
    effect: "write",
    description: "Opens a new issue in a repository.\n\nSearch first: it may be there already.",
  }),
  publicName: "github__create_issue",
  input: [
    {
      ...{ path: "repository", type: "string", isRequired: true },
      description: "Owner and name, with a slash between them.",
      rules: ["fits ^[^/]+/[^/]+$"],
    },
    {
      ...{ path: "labels", type: "list of string", isRequired: false, description: undefined },
      rules: ["one of bug, question, documentation", "at most 10 of them"],
    },
    {
      ...{ path: "assignees[].login", type: "string", isRequired: false },
      description: "Who is to look at it.",
      rules: [],
    },
  ],
  output: [
    {
      ...{ path: "number", type: "integer", isRequired: true },
      description: "Of the new issue.",
      rules: ["at least 1"],
    },
  ],
};

const run: RunView = {
  page: toolPage,
  values: { repository: "octo/hello", labels: ["bug"], estimate: 1.5 },
  json: '{"repository":"octo/hello"}',
};

const questions: QuestionsView = {
  questions:
    questionsIn({
      name: {
        method: "elicitation/create",
        params: {
          message: "[github] Who is to look at it?",
          requestedSchema: {
            type: "object",
            properties: {
              login: { type: "string", title: "Login", minLength: 1 },
              urgency: { enum: ["today", "some day"], enumNames: ["Today", "Some day"] },
            },
            required: ["login"],
          },
        },
      },
      visit: {
        method: "elicitation/create",
        params: { mode: "url", message: "Allow it there.", url: "https://github.com/login/device" },
      },
    }) ?? [],
  ...{ json: "{}", state: "state", typed: typedFrom(undefined), errors: new Map() },
};

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const result = {
  content: [
    { type: "text", text: "Issue 42 is open.\n  Two lines, and a long one: " + "x".repeat(200) },
    { type: "image", mimeType: "image/png", data: PIXEL },
    { type: "image", mimeType: "image/svg+xml", data: PIXEL },
    { type: "audio", mimeType: "audio/wav", data: "UklGRg==" },
    { type: "resource_link", uri: "repo://octo/hello/issues/42", name: "Issue 42" },
    {
      type: "resource",
      resource: { uri: "repo://readme", text: "# Hello", mimeType: "text/plain" },
    },
  ],
  structuredContent: { number: 42, isOpen: true, labels: ["bug"] },
};

const unlisted: UnlistedToolView = {
  ...{ nav, csrf: "c".repeat(43), tool: "create_issue", sent: [["a:title", "Too hot"]] },
  server: { ...github, state: "asked", counts: NOTHING },
};

export const CATALOG_MODELS = {
  ...{ catalog, server, tool: toolPage, unlisted },
  ...{ run, questions, result },
};
