/** The frames between `edgeway publish` and the gateway. */

import * as fc from "fast-check";
import { describe, test } from "vitest";

import {
  type FrameToCommand,
  type FrameToGateway,
  isPublishedName,
  MAX_BODY_BYTES,
  MAX_CALLS_IN_FLIGHT,
  MAX_CHANNELS,
  MAX_PUBLISHED_SERVERS,
  PING,
  PING_EVERY_MS,
  PONG,
  PONG_WITHIN_MS,
  PUBLISH_PATH,
  PUBLISH_PROTOCOL,
  PUBLISH_VERSION,
  PUBLISHED_PREFIX,
  PublishClose,
  publishProtocols,
  readFrameToCommand,
  readFrameToGateway,
  readPublishProtocols,
  readPublishRefusal,
  refusalOfSize,
  slugOfPublished,
  writeFrame,
} from "../../../src/protocol/publishing.ts";
import { jsonText } from "../lib/any-json.ts";

const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,31}$/);
const channel = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const text = fc.string({ unit: "binary", maxLength: 256 });
const message = fc.record({
  t: fc.constant("message" as const),
  name,
  channel,
  body: jsonText,
});

const toGateway: fc.Arbitrary<FrameToGateway> = fc.oneof(
  message,
  fc.record({
    ...{ t: fc.constant("hello" as const), v: fc.integer(), name, generation: channel },
    ...{ info: fc.record({ host: text, version: text }), share: fc.boolean() },
  }),
  fc.record(
    {
      ...{ t: fc.constant("closed" as const), name, channel },
      reason: fc.constantFrom("exit", "idle", "spawn-failed", "crashing"),
      ...{ code: fc.integer(), signal: fc.constantFrom("SIGKILL", "SIGTERM") },
    },
    { requiredKeys: ["t", "name", "channel", "reason"] },
  ),
  fc.record({ t: fc.constant("bye" as const), name }),
);

const toCommand: fc.Arbitrary<FrameToCommand> = fc.oneof(
  message,
  fc.record({ t: fc.constant("welcome" as const), name, slug: name.map(slugOfPublished) }),
  fc.record({
    ...{ t: fc.constant("refused" as const), name: text, message: text },
    code: fc.constantFrom("name", "limit", "off", "version"),
  }),
  fc.record({ t: fc.constantFrom("open", "close"), name, channel }),
  fc.constant({ t: "drain" as const }),
);

function isReadAlone(frame: FrameToGateway | FrameToCommand | undefined): boolean {
  return frame !== undefined && frame.t !== "message";
}

describe("frames", () => {
  test("a frame to the gateway is read as it was written", ({ expect }) => {
    fc.assert(
      fc.property(toGateway, (frame) => {
        expect(readFrameToGateway(writeFrame(frame))).toEqual(frame);
      }),
    );
  });

  test("a frame to the command is read as it was written", ({ expect }) => {
    fc.assert(
      fc.property(toCommand, (frame) => {
        expect(readFrameToCommand(writeFrame(frame))).toEqual(frame);
      }),
    );
  });

  test("a frame of one direction is none of the other, but for messages", ({ expect }) => {
    fc.assert(
      fc.property(toGateway, toCommand, (up, down) => {
        expect(isReadAlone(readFrameToCommand(writeFrame(up)))).toBe(false);
        expect(isReadAlone(readFrameToGateway(writeFrame(down)))).toBe(false);
      }),
    );
  });

  test("any text is read as a frame or as none", ({ expect }) => {
    fc.assert(
      fc.property(fc.oneof(jsonText, fc.string()), (any) => {
        expect(readFrameToGateway(any)?.t).not.toBe("welcome");
        expect(readFrameToCommand(any)?.t).not.toBe("hello");
      }),
    );
  });

  test("the text of a message stands last, and every digit of it stays", ({ expect }) => {
    const body = '{"jsonrpc":"2.0","id":1187654321098765433,"result":{"n":1.0,"e":1e400}}';
    const frame = writeFrame({ t: "message", name: "files", channel: "c1", body });
    expect(frame).toBe(`{"t":"message","name":"files","channel":"c1","body":${body}}`);
    expect(readFrameToGateway(frame)).toEqual({ t: "message", name: "files", channel: "c1", body });
  });

  test("t stands first in every frame", ({ expect }) => {
    expect(writeFrame({ name: "files", t: "bye" })).toBe('{"t":"bye","name":"files"}');
    expect(writeFrame({ t: "drain" })).toBe('{"t":"drain"}');
  });

  const hello = {
    ...{ t: "hello", v: 1, name: "files", generation: "g1" },
    ...{ info: { host: "laptop", version: "1.0.0" }, share: false },
  };
  const closed = { t: "closed", name: "files", channel: "c1", reason: "exit" };
  test.for([
    { what: "no JSON", frame: '{"t":"bye","name":"files"' },
    { what: "a list", frame: "[]" },
    { what: "another t", frame: '{"t":"drain"}' },
    { what: "no t", frame: '{"name":"files"}' },
    { what: "a name with a capital", frame: '{"t":"bye","name":"Files"}' },
    { what: "a name of 33 characters", frame: `{"t":"bye","name":"${"a".repeat(33)}"}` },
    { what: "a name that begins with a hyphen", frame: '{"t":"bye","name":"-a"}' },
    { what: "a hello without a generation", frame: { ...hello, generation: undefined } },
    { what: "a hello with half a version", frame: { ...hello, v: 1.5 } },
    { what: "a hello without a host", frame: { ...hello, info: { version: "1" } } },
    {
      what: "a hello with a host of 257 characters",
      frame: { ...hello, info: { host: "a".repeat(257), version: "1" } },
    },
    { what: "a hello with a share that is a text", frame: { ...hello, share: "false" } },
    { what: "an end for another reason", frame: { ...closed, reason: "boredom" } },
    { what: "an end with a code that is a text", frame: { ...closed, code: "1" } },
    { what: "an end with a signal of two words", frame: { ...closed, signal: "SIG KILL" } },
    { what: "an end of no channel", frame: { ...closed, channel: "" } },
    {
      what: "a message on a channel with a quote",
      frame: '{"t":"message","name":"files","channel":"c\\"","body":{}}',
    },
    {
      what: "a message whose body is not the last member",
      frame: '{"t":"message","body":{},"name":"files","channel":"c1"}',
    },
    {
      what: "a message without an end",
      frame: '{"t":"message","name":"files","channel":"c1","body":1',
    },
  ])("$what is none", ({ frame }, { expect }) => {
    const written = typeof frame === "string" ? frame : JSON.stringify(frame);
    expect(readFrameToGateway(written)).toBeUndefined();
  });

  test("members that a later version adds are left out", ({ expect }) => {
    expect(readFrameToGateway(JSON.stringify({ ...hello, colour: "red" }))).toEqual(hello);
  });

  test("the values on the wire are these", ({ expect }) => {
    expect([PUBLISH_PATH, PUBLISH_PROTOCOL, PUBLISH_VERSION]).toEqual([
      ...["/publish", "edgeway.publish.v1", 1],
    ]);
    expect(PublishClose).toEqual({ replaced: 4001, revoked: 4002, mistake: 4003, restart: 1012 });
    expect([PING, PONG, PING_EVERY_MS, PONG_WITHIN_MS]).toEqual(["ping", "pong", 20_000, 45_000]);
    expect([MAX_CHANNELS, MAX_CALLS_IN_FLIGHT, MAX_PUBLISHED_SERVERS]).toEqual([64, 32, 16]);
    expect([PUBLISHED_PREFIX, slugOfPublished("files")]).toEqual(["my-", "my-files"]);
    expect(["files", "0", "", "Files", "a".repeat(33)].map(isPublishedName)).toEqual([
      ...[true, true, false, false, false],
    ]);
  });
});

describe("refusalOfSize()", () => {
  test.for([
    { what: "a mebibyte of letters", body: "a".repeat(MAX_BODY_BYTES), bytes: undefined },
    { what: "a byte more", body: "a".repeat(MAX_BODY_BYTES + 1), bytes: MAX_BODY_BYTES + 1 },
    { what: "umlauts of two bytes", body: "ü".repeat(MAX_BODY_BYTES / 2), bytes: undefined },
    { what: "one more", body: "ü".repeat(MAX_BODY_BYTES / 2 + 1), bytes: MAX_BODY_BYTES + 2 },
  ])("$what", ({ body, bytes }, { expect }) => {
    const sentence = refusalOfSize(body);
    if (bytes === undefined) expect(sentence).toBeUndefined();
    else expect(sentence).toContain(`The message has ${bytes} bytes`);
  });
});

describe("readPublishProtocols()", () => {
  test("reads what publishProtocols() writes", ({ expect }) => {
    const header = publishProtocols("edgeway_sk_a").join(", ");
    expect(readPublishProtocols(header)).toEqual({ isOffered: true, token: "edgeway_sk_a" });
  });

  test.for([
    { header: null, isOffered: false, token: undefined },
    { header: "edgeway.publish.v1", isOffered: true, token: undefined },
    { header: "edgeway.publish.v2,bearer.a", isOffered: false, token: "a" },
    { header: "edgeway.publish.v1,bearer.a,bearer.b", isOffered: true, token: undefined },
  ])("$header", ({ header, ...read }, { expect }) => {
    expect(readPublishProtocols(header)).toEqual(read);
  });
});

describe("readPublishRefusal()", () => {
  test.for([
    { body: '{"error":"publishing_off","message":"Off."}', message: "Off." },
    { body: '{"error":"publishing_off"}', message: undefined },
    { body: "<html>", message: undefined },
  ])("$body", ({ body, message }, { expect }) => {
    expect(readPublishRefusal(body)?.message).toBe(message);
  });
});
