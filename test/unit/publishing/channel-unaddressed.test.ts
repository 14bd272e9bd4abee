/**
 * One connection to a published server: what says of no request that it is its own, what is too large, and what a
 * process is before its era is known.
 */

import { describe, test } from "vitest";

import { ErrorCode } from "../../../src/protocol/error-codes.ts";
import { Scene, soFar } from "./channel-scene.ts";
import { errorOf, messagesOf } from "./machine.ts";

const DISCOVERED = { supportedVersions: ["2026-07-28"], capabilities: {} };

describe("what the server asks or says without a word of which request", () => {
  const question = { jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} };

  test("is of the one call that runs", async ({ expect }) => {
    const scene = new Scene({ isShared: false });
    const standalone = scene.channel.listen();
    const running = scene.request(1);
    scene.says(question);
    expect(await soFar(scene, running)).toEqual([question]);
    expect(await messagesOf(standalone)).toEqual([]);
  });

  test("is of the standalone stream while several run", async ({ expect }) => {
    const scene = new Scene({ isShared: false });
    const standalone = scene.channel.listen();
    const [one, other] = [scene.request(1), scene.request(2)];
    scene.says(question);
    expect(await soFar(scene, one)).toEqual([]);
    expect(await messagesOf(other)).toHaveLength(1); // its error
    expect(await messagesOf(standalone)).toEqual([question]);
  });

  test("is answered with an error where nobody is there", ({ expect }) => {
    const scene = new Scene();
    scene.says(question);
    const error = { code: -32603, message: "No client is there to be asked" };
    expect(scene.messages).toEqual([{ jsonrpc: "2.0", id: "q", error }]);
  });

  test("an error without an id is of the one request that is open, and of none of several", async ({
    expect,
  }) => {
    const scene = new Scene();
    const error = { code: -32700, message: "Parse error" };
    const [one, other] = [scene.request("one"), scene.request("other")];
    scene.says({ id: null, error });
    expect(scene.channel.callCount).toBe(2);
    const [{ id } = { id: 0 }] = scene.messages as { id: number }[];
    scene.says({ id, result: {} });
    expect(await messagesOf(one)).toMatchObject([{ result: {} }]);
    scene.says({ id: null, error });
    expect(await messagesOf(other)).toEqual([{ jsonrpc: "2.0", id: "other", error }]);
  });
});

describe("a message of more than 1 MiB", () => {
  const text = "x".repeat(1_048_576);

  test("fails the request that it answers, and no other", async ({ expect }) => {
    const scene = new Scene();
    const [failing, other] = [scene.request(1), scene.request(2)];
    const [{ id } = { id: 0 }] = scene.messages as { id: number }[];
    scene.says({ method: "notifications/message", params: { text } });
    scene.says({ id, result: { text } });
    expect(await errorOf(failing)).toMatch(/^The message has 10486\d\d bytes/);
    expect(scene.channel.callCount).toBe(1);
    expect(await soFar(scene, other)).toEqual([]);
  });

  test("that asks something is refused for the client", ({ expect }) => {
    const scene = new Scene();
    scene.request(1);
    scene.says({ id: "q", method: "sampling/createMessage", params: { text } });
    expect(scene.last).toMatchObject({ id: "q", error: { code: -32600 } });
  });
});

describe("whether the process has the modern era", () => {
  const refusals = [
    [ErrorCode.MethodNotFound, true],
    [ErrorCode.InvalidParams, true],
    [ErrorCode.UnsupportedProtocolVersion, false],
  ] as const;
  test.for(refusals)(
    "an error %i to a discovery says that it has not: %j",
    async ([code, isLegacy], { expect }) => {
      const scene = new Scene();
      const asking = scene.channel.refusal();
      scene.says({ id: scene.last["id"], error: { code, message: "no" } });
      expect((await asking) !== undefined).toBe(isLegacy);
      expect(scene.legacy).toBe(isLegacy ? 1 : 0);
    },
  );

  test("is asked once for all that wait, and never of a channel of another life", async ({
    expect,
  }) => {
    const scene = new Scene();
    const asking = [scene.channel.refusal(), scene.channel.refusal()];
    expect(scene.messages.map(({ method }) => method)).toEqual(["server/discover"]);
    scene.says({ id: scene.last["id"], result: DISCOVERED });
    expect(await Promise.all(asking)).toEqual([undefined, undefined]);
    const known = new Scene({ isKnown: true });
    expect(await known.channel.refusal()).toBeUndefined();
    expect(known.sent).toEqual([]);
  });

  test("is not known while its machine is not connected", async ({ expect }) => {
    const scene = new Scene();
    scene.isConnected = false;
    expect(await scene.channel.refusal()).toMatchObject({ message: "is not connected" });
    expect(() => scene.request(1)).toThrow("Not connected");
  });

  test("closes no channel on which something else runs", ({ expect }) => {
    const scene = new Scene();
    scene.request(1);
    void scene.channel.refusal();
    scene.says({ id: scene.last["id"], error: { code: -32601, message: "no" } });
    expect(scene.legacy).toBe(0);
  });
});
