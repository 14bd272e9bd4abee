/**
 * Numbers and texts are as they were sent after a replay too, in questions and their answers, and after
 * the objects that hold them were lost.
 */

import { abortAllDurableObjects } from "cloudflare:test";
import { describe, test } from "vitest";

import { parseLossless } from "../../../src/lib/lossless-json.ts";
import { post, send, Session } from "../client.ts";
import { EventReader } from "../event-reader.ts";
import { evict } from "../session-object.ts";
import { jsonOf, streamOf, Upstream } from "../upstream.ts";
import {
  answering,
  call,
  DATA,
  type Era,
  eventText,
  jsonAnswer,
  legacyClient,
  modernClient,
  noticeText,
  resultText,
  textsIn,
  textSent,
} from "./raw-texts.ts";

const ID = "1187654321098765433";
const LOG = noticeText("message", `{"level":"info","data":${DATA}}`);
const RESULT = `{"content":[],"structuredContent":${DATA}}`;
const SCHEMA = `{"type":"object","properties":{"n":{"type":"number","default":12345678901234567890,"maximum":1.0}}}`;
const QUESTION = `{"jsonrpc":"2.0","id":${ID},"method":"elicitation/create","params":{"message":"?","requestedSchema":${SCHEMA}}}`;
const ANSWER = `{"action":"accept","content":{"n":12345678901234567890,"m":1.0,"o":-0}}`;

/** The client's answer as the upstream saw it. */
async function answerSent(upstream: Upstream): Promise<string> {
  await upstream.receivesAnswer(Number(ID));
  const log = await upstream.log();
  return log.find(({ body }) => body !== undefined && body.method === undefined)?.text ?? "";
}

function idOf(text: string): string {
  return JSON.stringify((JSON.parse(text) as { id: unknown }).id);
}

/** The member of a result that a client sends back. */
function requestStateIn(text: string): string {
  const { result } = JSON.parse(text) as { result: { requestState: string } };
  return JSON.stringify(result.requestState);
}

describe.for<Era>(["legacy", "modern"])("a stream of a %s server", (server) => {
  test.for(["stays", "is evicted", "is lost"])(
    "is replayed as it was sent, while its object %s",
    async (how, { expect }) => {
      const upstream = await answering(
        server,
        streamOf(eventText(LOG), { gate: "end" }, eventText(resultText(RESULT))),
      );
      const client = await legacyClient(upstream);
      await client.session.request("logging/setLevel", { level: "debug" });
      const stream = new EventReader(await call(client, ID, "{}"));
      const priming = await stream.next();
      const logged = await stream.next();
      await upstream.open("end");
      const answer = await stream.next();
      expect(await stream.next()).toBeUndefined();
      if (how === "is evicted") await evict(client.session);
      if (how === "is lost") await abortAllDurableObjects();
      const again = await client.session.listen(priming?.id);
      expect(await again.rest()).toEqual([logged, answer]);
      expect(logged?.data).toContain(`"data":${DATA}`);
      expect(answer?.data).toContain(`"id":${ID},"result":`);
      expect(answer?.data).toContain(`"structuredContent":${DATA}`);
    },
  );
});

describe("a question of a legacy server", () => {
  test.for(["stays", "is lost"])(
    "reaches a modern client, and its answer the server, while the holder %s",
    async (how, { expect }) => {
      const upstream = await answering(
        "legacy",
        streamOf(eventText(QUESTION, "e-1"), { gate: "end" }, eventText(resultText(RESULT))),
      );
      const client = modernClient(upstream);
      const [asked = ""] = await textsIn(await call(client, "1.0", DATA));
      expect(asked).toContain(`"requestedSchema":${SCHEMA}`);
      if (how === "is lost") {
        await abortAllDurableObjects();
        const [sent] = await upstream.sent("tools/call");
        const rest = resultText(RESULT).replace('"{{id}}"', JSON.stringify(sent?.body?.id));
        const reactions = { GET: [streamOf(eventText(rest, "e-2"))] };
        await upstream.script({ server: "legacy", reactions });
      }
      const more = `,"requestState":${requestStateIn(asked)},"inputResponses":{"r1":${ANSWER}}`;
      const answered = call(client, ID, DATA, { more });
      expect(await answerSent(upstream)).toContain(`"id":${ID},"result":${ANSWER}`);
      await upstream.open("end");
      const [answer] = await textsIn(await answered);
      expect(answer).toContain(`"id":${ID},"result":`);
      expect(answer).toContain(`"structuredContent":${DATA}`);
    },
  );

  test("reaches a legacy client, and its answer the server", async ({ expect }) => {
    const upstream = await answering(
      "legacy",
      streamOf(eventText(QUESTION), { gate: "end" }, eventText(resultText(RESULT))),
    );
    const client = await legacyClient(upstream);
    const stream = new EventReader(await call(client, "1", "{}"));
    await stream.next();
    const asked = (await stream.next())?.data ?? "";
    expect(asked).toContain(`"requestedSchema":${SCHEMA}`);
    const answer = `{"jsonrpc":"2.0","id":${idOf(asked)},"result":${ANSWER}}`;
    expect((await post(upstream.mcp, answer, client.session.headers)).status).toBe(202);
    expect(await answerSent(upstream)).toContain(`"id":${ID},"result":${ANSWER}`);
    await upstream.open("end");
    await stream.rest();
  });
});

test("a question of a modern server reaches a legacy client, and its answer the server", async ({
  expect,
}) => {
  const asked = `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?","requestedSchema":${SCHEMA}}}},"requestState":"s \\"1.0\\""}`;
  const upstream = await answering(
    "modern",
    jsonAnswer(resultText(asked)),
    jsonAnswer(resultText(RESULT)),
  );
  const client = await legacyClient(upstream);
  const stream = new EventReader(await call(client, ID, DATA));
  await stream.next();
  const question = (await stream.next())?.data ?? "";
  expect(question).toContain(`"requestedSchema":${SCHEMA}`);
  const answer = `{"jsonrpc":"2.0","id":${idOf(question)},"result":${ANSWER}}`;
  expect((await post(upstream.mcp, answer, client.session.headers)).status).toBe(202);
  const [last] = (await stream.rest()).map(({ data }) => data);
  expect(last).toContain(`"id":${ID},"result":`);
  const sent = await textSent(upstream, "tools/call", 2);
  expect(sent).toContain(`"arguments":${DATA}`);
  expect(sent).toContain(`"inputResponses":{"k":${ANSWER}}`);
  expect(sent).toContain('"requestState":"s \\"1.0\\""');
});

test("what a server sends unasked reaches the client's standalone stream", async ({ expect }) => {
  const upstream = await Upstream.take({ server: "legacy" });
  const session = await Session.inUse(upstream.mcp);
  const stream = await session.listen();
  const params = { level: "info", data: parseLossless(DATA) };
  for (const how of ["awake", "asleep"]) {
    await upstream.send({ method: "notifications/message", params });
    let event = await stream.next();
    while (event?.data === "") event = await stream.next();
    expect(event?.data, how).toContain(`"data":${DATA}`);
    // Quiet for long enough, the session hands its watch over, and sleeps.
    await stream.silence();
  }
  await stream.cancel();
});

test("a client and a server describe themselves with any numbers, and a session survives", async ({
  expect,
}) => {
  const capabilities = `{"tools":{},"extensions":{"example.org/e":${DATA}}}`;
  const upstream = await Upstream.take({
    server: "legacy",
    capabilities: parseLossless(capabilities) as never,
  });
  const facts = `"capabilities":{"experimental":{"example.org/x":${DATA}}},"clientInfo":{"name":"c","version":"1","example.org/y":1e400}`;
  const opening = `{"jsonrpc":"2.0","id":${ID},"method":"initialize","params":{"protocolVersion":"2025-11-25",${facts}}}`;
  const opened = await post(upstream.mcp, opening);
  expect(await opened.text()).toContain(`"id":${ID},"result":`);
  const session = Session.of(upstream.mcp, opened);
  expect((await session.callTool()).status).toBe(200);
  const stream = await session.listen();
  await stream.cancel();
  await evict(session);
  expect((await session.callTool()).status).toBe(200);
  expect((await send(upstream.mcp, { method: "DELETE", headers: session.headers })).status).toBe(
    200,
  );
});

describe("ids that differ beyond the digits of a double", () => {
  const other = "1187654321098765434";

  test("are of two requests, of which one is cancelled", async ({ expect }) => {
    const held = { ...jsonOf({ result: { content: [] } }), heldBy: "end" };
    const upstream = await answering("legacy", held, held);
    const client = await legacyClient(upstream);
    const [cancelled, kept] = [call(client, ID, "{}"), call(client, other, "{}")];
    await upstream.receives("tools/call", 2);
    const notice = noticeText("cancelled", `{"requestId":${ID}}`);
    expect((await post(upstream.mcp, notice, client.session.headers)).status).toBe(202);
    expect(await textsIn(await cancelled)).toEqual([]);
    await upstream.open("end");
    expect((await textsIn(await kept)).at(-1)).toContain(`"id":${other},"result":`);
    expect(await upstream.receives("notifications/cancelled")).toHaveLength(1);
  });

  test("are one where only their texts differ", async ({ expect }) => {
    const upstream = await answering("legacy", {
      ...jsonOf({ result: { content: [] } }),
      heldBy: "end",
    });
    const client = await legacyClient(upstream);
    const running = call(client, "1", "{}");
    await upstream.receives("tools/call");
    const refused = await call(client, "1.0", "{}");
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('"id":1.0,"error":');
    await upstream.open("end");
    expect((await textsIn(await running)).at(-1)).toContain('"id":1,"result":');
  });
});
