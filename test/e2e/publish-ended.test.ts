/** A server that is offline for its crashes while its person ends it: the command in this process, by a fake clock. */

import { afterEach, test, vi } from "vitest";

import type { LocalServer } from "../../cli/publish/local-server.ts";
import { Publisher } from "../../cli/publish/publisher.ts";
import { LOCAL_SERVER } from "../support/laptop-command.ts";
import { startPublishStub } from "../support/publish-stub.ts";

const SOON = { timeout: 60_000, interval: 5 } as const;

afterEach(() => {
  vi.useRealTimers();
});

function localServer(name: string): LocalServer {
  const [file, ...args] = LOCAL_SERVER;
  return { name, command: { file, args, isVerbatim: false }, environment: {}, cwd: "/" };
}

/** Waits, and lets the pauses pass meanwhile that come before each start. */
async function passing(isThere: () => boolean): Promise<void> {
  await vi.waitFor(() => {
    vi.advanceTimersByTime(1000);
    if (!isThere()) throw new Error("It is not there yet");
  }, SOON);
}

test("a server that its person has ended while it was offline is not offered again", async ({
  expect,
  onTestFinished,
}) => {
  const stub = await startPublishStub();
  const stop = new AbortController();
  const notices: string[] = [];
  const publisher = new Publisher({
    url: new URL(stub.url),
    credentials: { current: async () => "Bearer of-a-test", renew: async () => undefined },
    servers: [localServer("crashing"), localServer("other")],
    ...{ isShared: false, idleMs: 60_000, info: { host: "laptop", version: "1.0.0" } },
    notice: (text) => notices.push(text),
  });
  const running = publisher.run(stop.signal);
  onTestFinished(async () => {
    vi.useRealTimers();
    stop.abort();
    await running;
    await stub.close();
  });
  await stub.open("other", "c0");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (const channel of ["c1", "c2", "c3", "c4", "c5"]) {
    stub.send({ t: "open", name: "crashing", channel });
    const end = { jsonrpc: "2.0", id: 1, method: "end", params: { code: 1 } };
    stub.deliver("crashing", channel, JSON.stringify(end));
    await passing(() => stub.frames.some(({ t, channel: of }) => t === "closed" && of === channel));
  }
  expect(stub.frames.at(-1)).toMatchObject({ reason: "crashing" });
  const message = "It was ended on your account page.";
  stub.send({ t: "refused", name: "crashing", code: "off", message });
  await vi.waitFor(() => expect(notices.at(-1)).toContain(message), SOON);
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await stub.ask("other", "c0", "echo");
  const offers = stub.frames.filter(({ t, name }) => t === "hello" && name === "crashing");
  expect(offers).toHaveLength(1);
});
