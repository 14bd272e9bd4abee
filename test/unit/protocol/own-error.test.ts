/** The gateway's own errors in the place of a server, distinguished from those of a server. */

import { describe, test } from "vitest";

import { finish } from "../../../src/relay/modern-to-legacy/finish.ts";
import { errorReply, parseMessage, replyOf, respond } from "../../../src/protocol/json-rpc.ts";
import { ownData, ownError } from "../../../src/protocol/own-error.ts";
import { failureReply, UpstreamError } from "../../../src/upstream/upstream-error.ts";

const DATA = { upstream: "s", reason: "unreachable" };
const OWN = ownError(-32603, "gone", DATA);

describe("an error of the gateway's own", () => {
  test("is recognised, also as plain data or with another message", ({ expect }) => {
    const about = { method: "tools/call", digest: "d", capabilities: {}, serverInfo: undefined };
    for (const reply of [OWN, structuredClone(OWN), finish(OWN, about)]) {
      expect(ownData(reply)).toEqual(DATA);
    }
    const failed = failureReply(new UpstreamError("s", "unreachable", "is failing"), "s");
    expect(ownData(failed)).toEqual(DATA);
  });

  test("is an error like any other for a client", ({ expect }) => {
    const { error } = errorReply(-32603, "gone", DATA);
    expect(respond(1, OWN)).toEqual({ jsonrpc: "2.0", id: 1, error });
  });

  test("cannot be made up by a server", ({ expect }) => {
    const { error } = errorReply(-32603, "gone", { ...DATA, own: DATA });
    const sent = { jsonrpc: "2.0", id: 1, error: { ...error, own: DATA }, own: DATA };
    const parsed = parseMessage(sent);
    const reply = parsed?.kind === "response" ? replyOf(parsed.message) : OWN;
    expect(ownData(reply)).toEqual({});
    expect(reply).toEqual({ error: sent.error });
  });
});
