/**
 * A listen stream and its successor are open at the same time for a moment: a server announces a
 * change on both, and it is one change.
 */

import { test } from "vitest";

import type { Topic } from "../../../../src/catalog/feeds.ts";
import { topicOf } from "../../../../src/catalog/topics.ts";
import { ModernWatch } from "../../../../src/notifications/source/modern-watch.ts";
import type { WatchEnd } from "../../../../src/notifications/source/watch-port.ts";
import { until } from "../../../support/until.ts";
import { fakeTarget } from "../../upstream/fake-target.ts";

const TOOLS_CHANGED = { method: "notifications/tools/list_changed" };
const PROMPTS_CHANGED = { method: "notifications/prompts/list_changed" };
const updated = (uri: string): object => ({
  method: "notifications/resources/updated",
  params: { uri },
});

interface Listen {
  readonly id: number;
  readonly params: { readonly notifications: Filter };
}

interface Filter {
  readonly toolsListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
}

function honoured(filter: Filter, leaveOut: Topic | undefined): Filter {
  const { toolsListChanged, resourceSubscriptions = [], ...others } = filter;
  return {
    ...others,
    ...(leaveOut === "tools" ? {} : { toolsListChanged }),
    resourceSubscriptions: resourceSubscriptions.filter((uri) => topicOf(uri) !== leaveOut),
  };
}

/** One listen stream, as its server holds it. */
interface Stream {
  /** @param leaveOut what it does not honour. */
  acknowledge(leaveOut?: Topic): void;
  tell(message: object): void;
  close(): void;
  /** Ends the stream with the answer to its request, as a server should. */
  answer(): void;
  /** Its end has arrived. */
  isRead(): boolean;
  /** The watch has closed it. */
  isGone(): boolean;
}

/** A server that acknowledges when the test says so, and its watch with what that has brought. */
class Watched {
  readonly streams: Stream[] = [];
  readonly changed: string[] = [];
  readonly outdated: string[] = [];
  readonly updated: string[] = [];
  readonly answered: Topic[] = [];
  /** How often the watch has said that it missed something. */
  misses = 0;
  readonly ends: WatchEnd[] = [];
  readonly watch: ModernWatch;
  readonly uris = new Set<string>();

  constructor() {
    const target = fakeTarget(({ body, signal }) => {
      const { id, params } = body as unknown as Listen;
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const tell = (message: object): void => {
        const text = `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
        writer.write(new TextEncoder().encode(text)).catch(() => undefined); // nobody reads it any more
      };
      const close = (): void => void writer.close().catch(() => undefined);
      let isRead = false;
      void writer.closed.catch(() => undefined).then(() => (isRead = true));
      this.streams.push({
        acknowledge: (leaveOut) =>
          tell({
            method: "notifications/subscriptions/acknowledged",
            params: { notifications: honoured(params.notifications, leaveOut) },
          }),
        tell,
        close,
        answer: () => {
          tell({ id, result: {} });
          close();
        },
        isRead: () => isRead,
        isGone: () => signal?.aborted === true,
      });
      return new Response(readable, { headers: { "Content-Type": "text/event-stream" } });
    });
    this.watch = new ModernWatch(
      {
        target: { ...target, era: "modern" },
        uris: this.uris,
      },
      {
        changed: (list) => void this.changed.push(list),
        outdated: (list) => void this.outdated.push(list),
        updated: (uri) => void this.updated.push(uri),
        answered: (topics) => void this.answered.push(...topics),
        missed: () => void (this.misses += 1),
        ended: (end) => void this.ends.push(end),
      },
    );
  }

  /** @returns the stream that stands, and its successor, which is not acknowledged yet. */
  async succeeded(): Promise<readonly [Stream, Stream]> {
    const first = await this.stream(0);
    first.acknowledge();
    await until(() => this.watch.isReceiving, "the watch stands");
    this.uris.add("file:///a");
    this.watch.revise();
    return [first, await this.stream(1)];
  }

  /** @returns the stream that was replaced, and its successor, which stands. */
  async replaced(): Promise<readonly [Stream, Stream]> {
    const [first, second] = await this.succeeded();
    second.acknowledge();
    await until(() => this.watch.verdict("uri:file:///a") === true, "the successor stands");
    return [first, second];
  }

  async stream(index: number): Promise<Stream> {
    await until(() => this.streams.length > index, `listen stream ${index}`);
    const stream = this.streams[index];
    if (stream === undefined) throw new Error(`No stream ${index}`);
    return stream;
  }

  /** Everything that was told on this stream before has been read. */
  async read(stream: Stream, uri: string): Promise<void> {
    stream.tell(updated(uri));
    await until(() => this.updated.includes(uri), `the update of ${uri}`);
  }
}

test("a change that both streams bring is announced once", async ({ expect }) => {
  const watched = new Watched();
  const [first, second] = await watched.succeeded();
  first.tell(TOOLS_CHANGED);
  await watched.read(first, "file:///first");
  // Whoever lists the tools meanwhile is not shown the old ones.
  expect(watched.outdated).toEqual(["tools"]);
  second.acknowledge();
  second.tell(TOOLS_CHANGED);
  await watched.read(second, "file:///second");
  await until(() => watched.changed.length > 0, "the tools have changed");
  expect(watched.changed).toEqual(["tools"]);
  await watched.watch.close();
});

test("a change that the first stream alone brings is announced", async ({ expect }) => {
  const watched = new Watched();
  const [first, second] = await watched.succeeded();
  first.tell(TOOLS_CHANGED);
  await watched.read(first, "file:///first");
  second.acknowledge();
  await until(() => watched.changed.length > 0, "the tools have changed");
  expect(watched.changed).toEqual(["tools"]);
  // And the next is another one.
  second.tell(TOOLS_CHANGED);
  await until(() => watched.changed.length > 1, "the tools have changed again");
  await watched.watch.close();
});

test("what was on its way on the first stream is announced after the acknowledgement", async ({
  expect,
}) => {
  const watched = new Watched();
  const [first, second] = await watched.replaced();
  first.tell(TOOLS_CHANGED);
  // It may come on the second stream, too.
  second.tell(TOOLS_CHANGED);
  await watched.read(first, "file:///first");
  await watched.read(second, "file:///second");
  expect(watched.outdated).toEqual(["tools"]);
  await until(() => watched.changed.length > 0, "the tools have changed");
  // The end of a stream that was replaced is not that of the watch.
  first.close();
  second.tell(PROMPTS_CHANGED);
  await until(() => watched.changed.length > 1, "the prompts have changed");
  expect(watched.changed).toEqual(["tools", "prompts"]);
  expect([watched.ends, watched.watch.isReceiving]).toEqual([[], true]);
  await watched.watch.close();
});

test("a change that both streams bring for as long as the first is read is announced once", async ({
  expect,
}) => {
  const watched = new Watched();
  const [first, second] = await watched.replaced();
  second.tell(PROMPTS_CHANGED);
  await until(() => watched.changed.length > 0, "the second stream has caught up");
  first.tell(TOOLS_CHANGED);
  second.tell(TOOLS_CHANGED);
  await watched.read(first, "file:///first");
  await watched.read(second, "file:///second");
  await until(() => watched.changed.length > 1, "the tools have changed");
  expect([watched.changed, watched.outdated]).toEqual([
    ["prompts", "tools"],
    ["prompts", "tools"],
  ]);
  await watched.watch.close();
});

test.for([
  { how: "broken", end: "close", misses: 1 },
  { how: "ended by its server as it should be", end: "answer", misses: 0 },
] as const)(
  "the first stream turns out to be $how after its successor was acknowledged: missed $misses times",
  async ({ end, misses }, { expect }) => {
    const watched = new Watched();
    const [first, second] = await watched.succeeded();
    second.acknowledge();
    await until(() => watched.watch.verdict("uri:file:///a") === true, "the successor stands");
    first[end]();
    await until(() => first.isRead() && watched.misses >= misses, "its end has been read");
    expect([watched.misses, watched.ends]).toEqual([misses, []]);
    await watched.watch.close();
  },
);

test.for<Topic>(["tools", "uri:file:///a"])(
  "%s, which the successor leaves out, counts as refused, and is asked for again",
  async (leftOut, { expect }) => {
    const watched = new Watched();
    const [, second] = await watched.succeeded();
    second.acknowledge();
    await until(() => watched.watch.verdict("uri:file:///a") === true, "the second stands");
    watched.answered.length = 0;
    watched.uris.add("file:///b");
    watched.watch.revise();
    const third = await watched.stream(2);
    third.acknowledge(leftOut);
    await until(() => watched.watch.verdict("uri:file:///b") === true, "the third stands");
    expect(watched.watch.verdict(leftOut)).toBe(false);
    expect(watched.answered).toEqual([leftOut, "uri:file:///b"]);
    watched.watch.retry(true);
    const fourth = await watched.stream(3);
    fourth.acknowledge();
    await until(() => watched.watch.verdict(leftOut) === true, "it is announced again");
    expect(watched.answered).toEqual([leftOut, "uri:file:///b", leftOut]);
    await watched.watch.close();
  },
);

test("a change of a resource that both streams bring is announced once", async ({ expect }) => {
  const watched = new Watched();
  const [first, second] = await watched.replaced();
  for (const stream of [first, second]) stream.tell(updated("file:///a"));
  await watched.read(first, "file:///first");
  await watched.read(second, "file:///second");
  expect(watched.updated.filter((uri) => uri === "file:///a")).toEqual(["file:///a"]);
  await watched.watch.close();
});

test("few streams that were replaced are read", async ({ expect }) => {
  const watched = new Watched();
  const [first, second] = await watched.succeeded();
  second.acknowledge();
  for (const [index, uri] of ["file:///b", "file:///c"].entries()) {
    watched.uris.add(uri);
    watched.watch.revise();
    const next = await watched.stream(index + 2);
    next.acknowledge();
    await until(() => watched.watch.verdict(`uri:${uri}`) === true, "the successor stands");
  }
  expect([first.isGone(), second.isGone()]).toEqual([true, false]);
  await until(() => second.isGone(), "the second stream is closed as well, after a while");
  await watched.watch.close();
});

test("a change is announced although the successor fails, or the server goes away", async ({
  expect,
}) => {
  const watched = new Watched();
  const [first, second] = await watched.succeeded();
  first.tell(TOOLS_CHANGED);
  await watched.read(first, "file:///first");
  second.close();
  await until(() => watched.changed.length > 0, "the tools have changed");
  first.tell(PROMPTS_CHANGED);
  first.close();
  await until(() => watched.ends.length > 0, "the watch is over");
  expect(watched.changed).toEqual(["tools", "prompts"]);
});

test("a resource that is wanted while a successor is opened is asked for when that fails", async ({
  expect,
}) => {
  const watched = new Watched();
  const [, second] = await watched.succeeded();
  watched.uris.add("file:///b");
  watched.watch.revise();
  second.close();
  const third = await watched.stream(2);
  third.acknowledge();
  await until(() => watched.watch.verdict("uri:file:///b") === true, "it is told of");
  // This one was not answered, and is asked for when the alarm fires.
  expect(watched.watch.verdict("uri:file:///a")).toBe("failed");
  await watched.watch.close();
});
