/** A modern request as a command to the holder of a legacy session, or the error why it is none. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import { makeCommand } from "../../../../src/relay/modern-to-legacy/make-command.ts";
import {
  digestOf,
  readBridgeState,
  writeState,
} from "../../../../src/relay/modern-to-legacy/bridge-state.ts";
import type { JsonObject, JsonRpcRequest } from "../../../../src/protocol/json-rpc.ts";

const KEY = "io.modelcontextprotocol/";
const ENVELOPE = { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: {} };
const CALL = { name: "work", arguments: { a: 1 } };

function request(method: string, params: JsonObject = {}, meta: JsonObject = {}): JsonRpcRequest {
  return { jsonrpc: "2.0", id: 1, method, params: { _meta: { ...ENVELOPE, ...meta }, ...params } };
}

const command = (message: JsonRpcRequest): ReturnType<typeof makeCommand> =>
  makeCommand(message, undefined);

describe("a call command is made", () => {
  test("without the members of its own revision, and with the options of the request", async ({
    expect,
  }) => {
    const meta = { progressToken: 0, [`${KEY}logLevel`]: "info", "a.test/b": 1 };
    const message = request("tools/call", { ...CALL, task: { ttl: 1 } }, meta);
    expect(await makeCommand(message, { name: "c", version: "1" })).toEqual({
      kind: "command",
      command: {
        ...{ kind: "call", progressToken: 0, logLevel: "info" },
        call: {
          method: "tools/call",
          params: { ...CALL, _meta: { progressToken: 0, "a.test/b": 1 } },
        },
        clientInfo: { name: "c", version: "1" },
        digest: expect.any(String) as string,
      },
    });
  });

  test("without options when the request has none", async ({ expect }) => {
    const made = await command(request("tools/list"));
    expect(made).toMatchObject({ command: { call: { method: "tools/list", params: {} } } });
    expect(made).not.toHaveProperty("order.progressToken");
    expect(made).not.toHaveProperty("order.logLevel");
    expect(made).not.toHaveProperty("order.clientInfo");
  });

  test("again when there is nothing to resume", async ({ expect }) => {
    const digest = await digestOf(request("tools/call", CALL));
    const requestState = writeState({ kind: "again", pages: 2, digest });
    for (const inputResponses of [{}, { r1: { action: "accept" } }]) {
      const made = await command(request("tools/call", { ...CALL, requestState, inputResponses }));
      expect(made).toMatchObject({ command: { kind: "call", call: { params: CALL } } });
      expect(made).not.toHaveProperty("order.call.params.requestState");
      expect(made).not.toHaveProperty("order.call.params.inputResponses");
    }
  });

  test("for the first time without answers to questions that were never asked", async ({
    expect,
  }) => {
    // A retry brings the state that was given with the questions (2026-07-28, MRTR: MUST).
    const made = await command(request("tools/call", { ...CALL, inputResponses: { r1: {} } }));
    expect(made).toMatchObject({ command: { kind: "call", call: { params: CALL } } });
    expect(made).not.toHaveProperty("order.call.params.inputResponses");
  });

  test("whatever it contains about rounds when its method has none", async ({ expect }) => {
    const made = await command(request("tools/list", { requestState: 7, inputResponses: 8 }));
    expect(made).toMatchObject({ command: { kind: "call", call: { params: {} } } });
  });
});

describe("an answer command is made", () => {
  test("for the holder of the call that the answers belong to", async ({ expect }) => {
    const read = { uri: "file:///a" };
    const digest = await digestOf(request("resources/read", read));
    const state = { kind: "parked", object: "o", exchange: "x", round: 3, digest } as const;
    const inputResponses = { r1: { action: "cancel" } };
    const params = { ...read, requestState: writeState(state), inputResponses };
    expect(await command(request("resources/read", params, { progressToken: "p" }))).toEqual({
      kind: "command",
      command: {
        ...{ kind: "answer", object: "o", exchange: "x", round: 3, digest },
        ...{ responses: inputResponses, method: "resources/read", uri: "file:///a" },
        progressToken: "p",
      },
    });
  });

  test("also without answers", async ({ expect }) => {
    const digest = await digestOf(request("tools/call", CALL));
    const state = { kind: "parked", object: "o", exchange: "x", round: 1, digest } as const;
    const made = await command(request("tools/call", { ...CALL, requestState: writeState(state) }));
    expect(made).toMatchObject({ command: { kind: "answer", responses: {} } });
  });
});

describe("a request is refused with", () => {
  const BAD: readonly {
    readonly name: string;
    readonly params: JsonObject;
    readonly part: string;
  }[] = [
    { name: "a state of no text", params: { requestState: 7 }, part: "requestState" },
    { name: "an empty state", params: { requestState: "" }, part: "requestState" },
    { name: "a state of no JSON", params: { requestState: "edgeway:{" }, part: "requestState" },
    { name: "a state of a list", params: { requestState: "edgeway:[]" }, part: "requestState" },
    {
      name: "a state without a digest",
      params: { requestState: "edgeway:{}" },
      part: "requestState",
    },
    { name: "null for a state", params: { requestState: null }, part: "requestState" },
    {
      name: "a state of more pages than there may be",
      params: { requestState: `edgeway:${JSON.stringify({ n: 33, d: "d" })}` },
      part: "none of this server's",
    },
    {
      name: "a progress token that is too long",
      params: { _meta: { ...ENVELOPE, progressToken: "t".repeat(1025) } },
      part: "progressToken",
    },
    { name: "a list of answers", params: { inputResponses: [] }, part: "inputResponses" },
    { name: "null for answers", params: { inputResponses: null }, part: "inputResponses" },
  ];
  test.for(BAD)("$name", async ({ params, part }, { expect }) => {
    const made = await command(request("tools/call", { ...CALL, ...params }));
    expect(made).toMatchObject({ kind: "refused", reply: { error: { code: -32602 } } });
    expect(JSON.stringify(made)).toContain(part);
  });

  test.for([
    { o: 7, x: "x", r: 1 },
    { o: "o", r: 1 },
    { o: "o", x: "x" },
    { o: "o", x: "x", r: "1" },
    { o: "o", x: "x", r: 1.5 },
    { o: null, x: "x", r: 1 },
  ])("a state that lacks something: %j", async (members, { expect }) => {
    const d = await digestOf(request("tools/call", CALL));
    const requestState = `edgeway:${JSON.stringify({ d, ...members })}`;
    const made = await command(request("tools/call", { ...CALL, requestState }));
    expect(made).toMatchObject({ kind: "refused", reply: { error: { code: -32602 } } });
  });

  test.for(["accept", "decline", "cancel"])(
    "a repeated call after a URL elicitation that was answered with %s, unless the URL was visited",
    async (action, { expect }) => {
      const digest = await digestOf(request("tools/call", CALL));
      const requestState = writeState({ kind: "again", pages: 2, digest });
      const inputResponses = { r1: { action: "accept" }, r2: { action } };
      const made = await command(request("tools/call", { ...CALL, requestState, inputResponses }));
      expect(made.kind).toBe(action === "accept" ? "command" : "refused");
    },
  );

  test("a repeated call with an invalid answer; answers to other questions are ignored", async ({
    expect,
  }) => {
    const digest = await digestOf(request("tools/call", CALL));
    const requestState = writeState({ kind: "again", pages: 2, digest });
    const again = (inputResponses: JsonObject): ReturnType<typeof command> =>
      command(request("tools/call", { ...CALL, requestState, inputResponses }));
    for (const r2 of ["accept", null, {}, { action: "yes" }]) {
      const made = await again({ r1: { action: "accept" }, r2 });
      expect(made).toMatchObject({ kind: "refused", reply: { error: { code: -32602 } } });
      expect(JSON.stringify(made)).toContain("inputResponses.r2");
    }
    for (const answers of [{}, { r3: { action: "decline" } }, { other: 7 }]) {
      expect((await again(answers)).kind).toBe("command");
    }
  });
});

const digest = (params: JsonObject, method = "tools/call"): Promise<string> =>
  digestOf({ method, params });

describe("the digest of a request", () => {
  test("covers the params of the request, and not its _meta", async ({ expect }) => {
    const same = { ...CALL, _meta: { a: 1 }, inputResponses: { r: 1 }, requestState: "s" };
    expect(await digest(same)).toBe(await digest(CALL));
  });

  const OTHERS: readonly JsonObject[] = [
    { ...CALL, name: "other" },
    { ...CALL, arguments: { a: 2 } },
    { ...CALL, arguments: { a: "1" } },
    { ...CALL, arguments: { a: 1, b: null } },
    { ...CALL, arguments: [["a", 1]] },
    { ...CALL, more: 1 },
    { name: "work" },
  ];
  test.for(OTHERS)("is another for %j", async (other, { expect }) => {
    expect(await digest(other)).not.toBe(await digest(CALL));
  });

  test("is another for another method", async ({ expect }) => {
    expect(await digest(CALL, "prompts/get")).not.toBe(await digest(CALL));
  });

  test("does not depend on the order of members, but on that of lists", async ({ expect }) => {
    const value = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(value, async (params) => {
        expect(await digest(turned(params) as JsonObject)).toBe(await digest(params));
      }),
    );
    expect(await digest({ a: [1, 2] })).not.toBe(await digest({ a: [2, 1] }));
  });
});

/** With the members of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, turned(member)]);
  return Object.fromEntries(members.toReversed());
}

const named = async (info: JsonObject): Promise<unknown> => {
  const made = await makeCommand(request("tools/list"), info);
  return made.kind === "command" && made.command.kind === "call" ? made.command.clientInfo : made;
};

describe("the client info of a request", () => {
  test("is passed on as it is while it is short", async ({ expect }) => {
    const info = { name: "c", version: "1", icons: [{ src: "https://a.test/i.png" }] };
    expect(await named(info)).toEqual(info);
  });

  test("is passed on without members that are long", async ({ expect }) => {
    const short = { name: "c", version: "1", title: "C" };
    expect(await named({ ...short, icons: ["x".repeat(2048)] })).toEqual(short);
  });

  test("is refused when its name is too long", async ({ expect }) => {
    const made = await named({ name: "c".repeat(2048), version: "1" });
    expect(made).toMatchObject({ kind: "refused", reply: { error: { code: -32602 } } });
  });
});

test("a progress token of 1024 characters is none too long", async ({ expect }) => {
  const progressToken = "t".repeat(1024);
  const made = await command(request("tools/call", CALL, { progressToken }));
  expect(made).toMatchObject({ kind: "command", command: { progressToken } });
});

test.for([0, -1, 1.5, "1", 33, 1e8])("a state of %j pages is none", (n, { expect }) => {
  const parked = { o: "o", x: "x", r: 1 };
  expect(readBridgeState(`edgeway:${JSON.stringify({ n, d: "d" })}`)).toBeUndefined();
  expect(readBridgeState(`edgeway:${JSON.stringify({ n, d: "d", ...parked })}`)).toBeUndefined();
});

test("a state of a server is not read as a state of the bridge", ({ expect }) => {
  expect(readBridgeState(JSON.stringify({ n: 1, d: "digest" }))).toBeUndefined();
});

test("a state is read as it was written", ({ expect }) => {
  const digest = "d";
  const states = [
    { kind: "parked", object: "o", exchange: "x", round: 1, digest },
    { kind: "again", pages: 2, digest },
  ] as const;
  for (const state of states) expect(readBridgeState(writeState(state))).toEqual(state);
});
