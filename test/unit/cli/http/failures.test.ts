import { describe, test } from "vitest";

import { failureOf } from "../../../../cli/http/failures.ts";

/** As `fetch` of Node rejects. @param members those that Node sets on its errors. */
function failed(cause: Error, members: { readonly code?: string; readonly syscall?: string }) {
  return new TypeError("fetch failed", { cause: Object.assign(cause, members) });
}

describe("a failure of fetch", () => {
  test.for([
    ["all addresses of a name", new AggregateError([new Error("one"), new Error("other")])],
    ["all, in time", new Error(), "ERR_SOCKET_CONNECTION_TIMEOUT"],
    ["one, in time", new Error(), "UND_ERR_CONNECT_TIMEOUT"],
    ["one address", new Error(), "ETIMEDOUT", "connect"],
  ] as const)(
    "to connect to %s did not reach the gateway",
    ([, cause, code = "ETIMEDOUT", syscall], { expect }) => {
      const error = failed(cause, { code, ...(syscall !== undefined && { syscall }) });
      expect(failureOf(error)).toMatchObject({ name: "NotReached", message: code });
    },
  );

  test("on a connection that was made leaves unknown what ran", ({ expect }) => {
    const error = failed(new Error(), { code: "ETIMEDOUT", syscall: "read" });
    expect(failureOf(error)).toMatchObject({ name: "Broken", message: "ETIMEDOUT" });
  });

  test("after the request was sent leaves unknown what ran, whatever it is", ({ expect }) => {
    const error = failed(new Error(), { code: "ECONNREFUSED", syscall: "connect" });
    expect(failureOf(error, "sent")).toMatchObject({ name: "Broken", message: "ECONNREFUSED" });
  });
});
