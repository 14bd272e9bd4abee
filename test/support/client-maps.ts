/** Twelve configurations as their clients write them, each with a program and a broken entry, and what becomes of them. */

import type { EntryState } from "../../src/observability/health.ts";

declare global {
  interface ImportMeta {
    /** Vite's: the files that a pattern matches. */
    glob(pattern: string, options: object): Record<string, string>;
  }
}

export const SECRET = "hunter2-SECRET";
export const SECRETS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...["SENTRY_TOKEN", "LINEAR_TOKEN", "GITHUB_TOKEN", "AUTH_TOKEN", "HTTP_TOKEN", "FIGMA_TOKEN"],
    ...["FIGMA_TEAM", "DOCS_TOKEN", "MODERN_KEY", "REMOTE_TOKEN", "HF_TOKEN", "MY_API_KEY"],
  ].map((name) => [name, `<${name}>`]),
);

export const FILES: Readonly<Record<string, string>> = import.meta.glob("./client-maps/*", {
  ...{ query: "?raw", import: "default", eager: true },
});

export interface ExpectedMap {
  /** Slug → what its target has. */
  readonly served: Readonly<Record<string, object>>;
  /** Slug → state, and a part of its sentence. */
  readonly named: Readonly<Record<string, readonly [EntryState, string]>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Slug → tool names that are refused, and that are not. */
  readonly tools?: Readonly<Record<string, { deny?: string[]; allow?: string[] }>>;
}

export const EXPECTED: Readonly<Record<string, ExpectedMap>> = {
  "claude-desktop.json": {
    served: { weather: { transport: "auto" } },
    named: {
      filesystem: ["stdio", "needs a machine: publish it from one over HTTP"],
      "company-docs": [
        "stdio",
        'only leads to https://docs.example.com/mcp; put that address into "url"',
      ],
      calendar: ["misconfigured", 'ur (did you mean "url"?)'],
    },
    labels: { weather: "Weather" },
  },
  "claude-code.json": {
    served: {
      sentry: { headers: { Authorization: "Bearer <SENTRY_TOKEN>", "X-Region": "eu" } },
      asana: { transport: "sse", timeoutMs: 300_000 },
    },
    named: {
      db: ["stdio", "needs a machine"],
      internal: ["misconfigured", "MCP_SERVERS.internal.url has a placeholder in it"],
    },
  },
  "cursor.json": {
    served: {
      linear: { headers: { Authorization: "Bearer <LINEAR_TOKEN>" } },
      "figma-dev": { headers: {} },
    },
    named: {
      git: ["stdio", "needs a machine"],
      crm: ["misconfigured", "MCP_SERVERS.crm.auth: must be one of"],
    },
    labels: { "figma-dev": "figma_dev" },
  },
  "vs-code.jsonc": {
    served: { github: { headers: { Authorization: "Bearer <GITHUB_TOKEN>" } } },
    named: {
      playwright: ["stdio", "needs a machine"],
      docker: ["misconfigured", "MCP_SERVERS.docker.url must be an absolute http or https URL"],
    },
  },
  "windsurf.json": {
    served: { "remote-http": { headers: { API_KEY: "Bearer <AUTH_TOKEN>" } } },
    named: {
      puppeteer: ["stdio", "needs a machine"],
      stripe: ["off", "MCP_SERVERS.stripe is switched off"],
      vault: ["misconfigured", '"${file…}" is something that only a client can fill in'],
    },
    tools: { "remote-http": { deny: ["delete_project"] } },
  },
  "gemini-cli.json": {
    served: {
      "http-server": { headers: { Authorization: "Bearer <HTTP_TOKEN>" }, transport: "auto" },
      "sse-server": { transport: "sse" },
    },
    named: {
      "python-tools": ["stdio", "needs a machine"],
      unlisted: ["off", "switched off"],
      hidden: ["off", "switched off"],
      wide: ["misconfigured", 'excludedTools (did you mean "excludeTools"?)'],
    },
    tools: { "http-server": { allow: ["safe_tool", "file_reader"], deny: ["file_reader"] } },
  },
  "codex.json": {
    served: {
      figma: {
        headers: {
          Authorization: "Bearer <FIGMA_TOKEN>",
          "X-Figma-Region": "us-east-1",
          "X-Figma-Team": "<FIGMA_TEAM>",
        },
        timeoutMs: 60_000,
      },
    },
    named: {
      context7: ["stdio", "needs a machine"],
      paused: ["off", "switched off"],
      approvals: [
        "misconfigured",
        "MCP_SERVERS.approvals.tools: has keys that this version does not know: send",
      ],
    },
    tools: { figma: { allow: ["get_file", "delete_file"], deny: ["delete_file"] } },
  },
  "cline.json": {
    served: {
      "remote-docs": { headers: { Authorization: "Bearer <DOCS_TOKEN>" }, timeoutMs: 300_000 },
      events: { transport: "sse" },
    },
    named: {
      "github-com-modelcontextp": ["stdio", "needs a machine"],
      sockets: ["misconfigured", "MCP_SERVERS.sockets.type: must be one of"],
    },
  },
  "roo-code.json": {
    served: { "modern-remote": { endpoint: new URL("https://legacy.example.com/sse") } },
    named: {
      puppeteer: ["stdio", "needs a machine"],
      "modern-remote": [
        "misconfigured",
        'its name makes the same slug as "modern-remote"; rename one of them',
      ],
      unset: ["misconfigured", 'the secret "NOT_SET" is not set'],
    },
  },
  "zed.jsonc": {
    served: { "remote-mcp-server": { headers: { Authorization: "Bearer <REMOTE_TOKEN>" } } },
    named: {
      "local-mcp-server": ["stdio", "needs a machine"],
      "switched-off": ["off", "switched off"],
      "from-extension": ["misconfigured", 'needs a "url" or a "service"'],
    },
  },
  "lm-studio.json": {
    served: {
      "hf-mcp-server": { headers: { Authorization: "Bearer <HF_TOKEN>" } },
      "worterbuch-co": { endpoint: new URL("http://localhost:3000/mcp") },
    },
    named: {
      memory: ["stdio", "needs a machine"],
      "worterbuch-co": ["partly-read", 'nobody knows "icon"'],
      tea: ["misconfigured", "MCP_SERVERS.tea.url must be an absolute http or https URL"],
    },
    labels: { "worterbuch-co": "Wörterbuch & Co." },
  },
  "opencode.jsonc": {
    served: {
      "my-remote-mcp": { headers: { Authorization: "Bearer <MY_API_KEY>" }, transport: "auto" },
    },
    named: {
      "my-local-mcp-server": ["stdio", "needs a machine"],
      "half-open": ["misconfigured", 'a "tools" beside the map that forbids tools'],
      jira: ["off", "switched off"],
      paid: ["misconfigured", "does not know: permission"],
    },
  },
};
