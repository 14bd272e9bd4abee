/** Why a server cannot be reached, in words that quote neither the platform nor the URL. */

import { describe, test, vi } from "vitest";

import { connectionFailure, failureOfStatus } from "../../../src/upstream/connection-failure.ts";
import { failureReply, UpstreamError } from "../../../src/upstream/upstream-error.ts";

const INTERNAL = "internal error; reference = 9p46cmlkokpch74pjam1svpc";
const REFERENCE = "(the runtime's reference 9p46cmlkokpch74pjam1svpc)";

function linesOf(error: UpstreamError): unknown[] {
  const spy = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  failureReply(error, "docs");
  const lines = spy.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
  spy.mockRestore();
  return lines;
}

describe("what the runtime throws", () => {
  test.for([
    [
      "http://127.0.0.1:1/",
      "Network connection lost.",
      "connection refused, or closed before a response",
    ],
    ["http://nobody.invalid/", INTERNAL, `name not resolved ${REFERENCE}`],
    [
      "https://nobody.invalid/",
      INTERNAL,
      `name not resolved, or TLS handshake failed ${REFERENCE}`,
    ],
    ["https://localhost/", INTERNAL, `TLS handshake failed ${REFERENCE}`],
    ["https://192.0.2.1/", INTERNAL, `TLS handshake failed ${REFERENCE}`],
    ["https://[2001:db8::1]/", INTERNAL, `TLS handshake failed ${REFERENCE}`],
    [
      "http://localhost/?key=SECRET",
      "Fetch API cannot load: http://me:SECRET@localhost/",
      "fetch failed (Error)",
    ],
    ["http://localhost/", `${INTERNAL} SECRET`, "fetch failed (Error)"],
  ] as const)("%s, %j: %s", ([url, message, words], { expect }) => {
    expect(connectionFailure(new Error(message), new URL(url))).toBe(words);
  });

  test("a time-out, and a value that is no error", ({ expect }) => {
    const url = new URL("http://localhost/");
    expect(connectionFailure(new DOMException("SECRET", "TimeoutError"), url)).toBe("timed out");
    expect(connectionFailure("SECRET", url)).toBe("fetch failed (Error)");
    const named = Object.assign(new Error("x"), { name: "SECRET with spaces" });
    expect(connectionFailure(named, url)).toBe("fetch failed (unknown)");
  });
});

test.for([
  [521, "connection refused"],
  [522, "timed out"],
  [526, "TLS certificate not valid"],
  [503, undefined],
  [undefined, undefined],
] as const)(
  "what Cloudflare answers in a server's place: %s, %s",
  ([status, words], { expect }) => {
    expect(failureOfStatus(status)).toBe(words);
  },
);

describe("a call that fails", () => {
  test("on the way to its server leaves one log line with the reason", ({ expect }) => {
    const connection = "connection refused, or closed before a response";
    expect(linesOf(new UpstreamError("docs", "unreachable", "x", { connection }))).toEqual([
      { event: "upstream_failed", server: "docs", reason: "unreachable", cause: connection },
    ]);
    expect(linesOf(new UpstreamError("docs", "timeout", "x"))).toEqual([
      { event: "upstream_failed", server: "docs", reason: "timeout", cause: "timed out" },
    ]);
    expect(linesOf(new UpstreamError("docs", "unreachable", "x", { status: 525 }))).toMatchObject([
      { status: 525, cause: "TLS handshake failed" },
    ]);
  });

  test("for its server's answer leaves none", ({ expect }) => {
    expect(linesOf(new UpstreamError("docs", "malformed", "x"))).toEqual([]);
    expect(linesOf(new UpstreamError("docs", "other-era", "x"))).toEqual([]);
  });
});
