/** What a person is told of an address that does not serve as a gateway does. */

import { describe, test } from "vitest";

import {
  type Answer,
  problemOfAnswer,
  problemOfFailure,
  silence,
} from "../../../../cli/command-line/diagnosis.ts";

const GATEWAY = new URL("https://mcp.example.com/mcp");
const HTML = { type: "text/html", text: "<html>Hello</html>" };
const rpc = (rest: object): Pick<Answer, "type" | "text"> => ({
  type: "application/json",
  text: JSON.stringify({ jsonrpc: "2.0", id: "status", ...rest }),
});
const refusal = (message: string): Pick<Answer, "type" | "text"> =>
  rpc({ error: { code: -32_000, message } });

/** In the words that a person needs: what it is, and what to do. */
const ANSWERS: readonly (readonly [what: string, answer: Answer, is: string, toDo: string])[] = [
  [
    "a website",
    { status: 200, ...HTML },
    "answers, but not as a gateway does (status 200, text/html)",
    "Is it the MCP server URL that the gateway’s first page shows?",
  ],
  [
    "another API",
    { status: 200, type: "application/json", text: '{"ok":true}' },
    "not as a gateway does (status 200, application/json)",
    "MCP server URL",
  ],
  ["a server of files", { status: 405, type: "", text: "" }, "(status 405, no type)", "Is it"],
  [
    "JSON that is none",
    { status: 200, type: "application/json", text: '{"jsonrpc":"2.0","result":' },
    "not as a gateway does",
    "Is it",
  ],
  [
    "a login in front",
    { status: 302, ...HTML, location: "https://login.example.com/?token=s3cret" },
    "leads to https://login.example.com.",
    "let programs through",
  ],
  ["a way to nowhere", { status: 301, ...HTML }, "leads to another address", "its new address"],
  ["a firewall", { status: 403, ...HTML }, "refuses this machine (status 403)", "firewall"],
  [
    "a host that the gateway does not serve",
    { status: 403, ...refusal("Host not allowed") },
    "(status 403: Host not allowed)",
    "not served under this name",
  ],
  [
    "no endpoint",
    { status: 404, type: "text/plain", text: "There is nothing here.\n" },
    "no endpoint at https://mcp.example.com/mcp (status 404: There is nothing here)",
    "Is it the address of a gateway?",
  ],
  [
    "too many requests",
    { status: 429, ...refusal("Slow down"), retryAfter: "30" },
    "too many requests",
    "Try again in 30 seconds",
  ],
  [
    "too many requests, without a time",
    { status: 429, ...HTML, retryAfter: "Mon, 23 Nov 2026 12:00:00 GMT" },
    "(status 429)",
    "in a minute",
  ],
  [
    "a gateway that fails",
    { status: 500, type: "text/plain", text: "Something went wrong (reference x7)" },
    "failed (status 500: Something went wrong (reference x7))",
    "Its operator finds the reason in the log",
  ],
  [
    "an MCP server of another kind",
    { status: 400, ...refusal("No valid session ID provided") },
    "is an MCP server, but it answers with an error (status 400: No valid session ID provided)",
    "connect may work all the same",
  ],
];

describe("an answer", () => {
  test("of an MCP server is no problem", ({ expect }) => {
    const answer = { status: 200, ...rpc({ result: { serverInfo: { name: "edgeway" } } }) };
    expect(problemOfAnswer(GATEWAY, answer)).toBeUndefined();
  });

  test.for(ANSWERS)("of %s is named, with what to do", ([, answer, is, toDo], { expect }) => {
    const said = problemOfAnswer(GATEWAY, answer);
    expect(said).toContain(is);
    expect(said).toContain(toDo);
  });

  test("says of the address of a page where the endpoint is", ({ expect }) => {
    const url = new URL("https://mcp.example.com/account");
    expect(problemOfAnswer(url, { status: 404, ...HTML })).toContain(
      "That of a gateway is https://mcp.example.com/mcp, or https://mcp.example.com/mcp/<server>",
    );
  });

  test("has one line of a stranger’s text, without what moves a terminal", ({ expect }) => {
    const text = `\u001b[2J\r\nline two${"x".repeat(5000)}`;
    const said = problemOfAnswer(GATEWAY, { status: 500, type: "text/plain", text }) ?? "";
    expect(said).not.toMatch(/\p{Cc}/u);
    expect(said.length).toBeLessThan(500);
    // The target may have a secret in it.
    const moved = { status: 302, ...HTML, location: "https://x.example/?token=s3cret" };
    expect(problemOfAnswer(GATEWAY, moved)).not.toContain("s3cret");
  });
});

describe("a failure", () => {
  test.for([
    ["ECONNREFUSED", "Nothing listens at mcp.example.com", "Does the gateway run"],
    ["ENOTFOUND", "The name mcp.example.com is not known", "written right"],
    ["EAI_AGAIN", "The name mcp.example.com is not known", "online"],
    ["UND_ERR_CONNECT_TIMEOUT", "mcp.example.com cannot be reached", "the right network"],
    ["ERR_SOCKET_CONNECTION_TIMEOUT", "mcp.example.com cannot be reached", "online"],
    ["ENETUNREACH", "mcp.example.com cannot be reached", "online"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "does not speak https", "http://mcp.example.com"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate", "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate", "NODE_EXTRA_CA_CERTS"],
    ["CERT_HAS_EXPIRED", "certificate", "not trusted"],
    ["ECONNRESET", "closes the connection", "Is it a gateway"],
    ["status 502", "A proxy at mcp.example.com does not reach", "operator"],
    ["status 503: It has mistakes.", "cannot serve now", "(status 503: It has mistakes)"],
  ] as const)("%s is a sentence, with what to do", ([reason, is, toDo], { expect }) => {
    const said = problemOfFailure(GATEWAY, reason);
    expect(said).toContain(is);
    expect(said).toContain(toDo);
    expect(said).toContain(reason.slice(0, 10));
  });

  test("that has a sentence already keeps it", ({ expect }) => {
    const sentence = "https://mcp.example.com/token did not answer in time";
    expect(problemOfFailure(GATEWAY, sentence)).toBe(sentence);
  });

  test("to answer is named with the time that was waited", ({ expect }) => {
    expect(silence(GATEWAY, 15)).toContain("has not answered within 15 seconds");
  });
});
