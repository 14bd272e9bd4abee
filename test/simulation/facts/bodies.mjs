// @ts-nocheck -- as asking.mjs
/** Bodies: who learns what when one end goes. */

import { meanwhile, outcome, readOf, rest, seenBy, settled, until, Witness } from "./asking.mjs";

const encoder = new TextEncoder();

export class Bodies extends Witness {
  later() {
    const work = async () => {
      await rest(5);
      this.seen.push("done later");
    };
    this.ctx.waitUntil(work());
    this.seen.push("returned");
  }

  lines() {
    return new ReadableStream({
      type: "bytes",
      start: async (controller) => {
        for (const text of ["one ", "two ", "three"]) {
          controller.enqueue(encoder.encode(text));
          await rest(1);
        }
        controller.close();
      },
    });
  }

  /** With one beside it. */
  outcome() {
    return { kind: "stream", none: undefined, all: [1, { at: null }], body: this.lines() };
  }

  /** One that has a line, and goes on for ever, or fails. */
  open(fails = false) {
    return new ReadableStream({
      type: "bytes",
      start: (controller) => {
        this.controller = controller;
        controller.enqueue(encoder.encode("one "));
        if (fails) void meanwhile().then(() => controller.error(new TypeError("no")));
      },
      cancel: () => {
        this.seen.push("cancelled");
      },
    });
  }

  more(text) {
    try {
      this.controller.enqueue(encoder.encode(text));
      return "good";
    } catch (error) {
      return error.name;
    }
  }

  async fetch(request) {
    const { pathname } = new URL(request.url);
    request.signal.addEventListener("abort", () => this.seen.push("aborted"));
    if (pathname === "/wait") {
      this.seen.push("waits");
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      return new Response("late");
    }
    if (pathname === "/throw") throw new TypeError("no");
    if (pathname === "/read") {
      this.seen.push("reads");
      try {
        for await (const chunk of request.body) this.seen.push(new TextDecoder().decode(chunk));
        this.seen.push("end");
      } catch {
        this.seen.push("broken");
      }
      return new Response("read");
    }
    if (pathname === "/lines") return new Response(this.lines());
    return new Response(this.open(pathname === "/fails"));
  }
}

async function firstOf(stream) {
  const reader = stream.getReader();
  const { value } = await reader.read();
  return [new TextDecoder().decode(value), reader];
}

const failureOf = (work) =>
  work.then(
    () => "good",
    ({ name, message }) => `${name} ${message}`,
  );
const isAborted = (what) => what === "aborted";
const urlOf = (work, name) => `http://self/${work}/${encodeURIComponent(name)}`;

export const facts = {
  "waitUntil goes on after the answer": async (stub) => {
    await stub.later();
    return seenBy(stub, (what) => what === "done later");
  },
  "a stream crosses in an answer": async (stub) => new Response(await stub.lines()).text(),
  "a stream crosses within a value": async (stub) => {
    const { body, ...others } = await stub.outcome();
    return [others, Object.keys(others), await new Response(body).text()];
  },
  "who writes over RPC learns that its reader has gone when it writes": async (stub) => {
    const [first, reader] = await firstOf(await stub.open());
    await reader.cancel();
    await settled();
    return [first, await stub.saw(), await stub.more("two"), await seenBy(stub)];
  },
  "who writes over fetch learns at once that its reader has gone": async (stub) => {
    const { body } = await stub.fetch("http://object/");
    const [first, reader] = await firstOf(body);
    await reader.cancel();
    return [first, await seenBy(stub, isAborted), await stub.more("two")];
  },
  "a reader learns that the writer fails": async (stub) => [
    await readOf(await stub.open(true)),
    await readOf((await stub.fetch("http://object/fails")).body),
  ],
  "a stream breaks when its object is lost": async (stub, { again }) => {
    const [, reader] = await firstOf(await stub.open());
    const [, other] = await firstOf((await again().fetch("http://object/")).body);
    await outcome(again().abort());
    return [await outcome(reader.read()), await outcome(other.read())];
  },
  "a request fails when its object is lost": async (stub, { again }) => {
    const waiting = outcome(stub.fetch("http://object/wait"));
    await seenBy(again(), (what) => what === "waits");
    await outcome(again().abort());
    return waiting;
  },
  "a request whose handler throws fails": (stub) => outcome(stub.fetch("http://object/throw")),
  "an object learns that a request was given up": async (stub) => {
    const gone = new AbortController();
    const waiting = failureOf(stub.fetch("http://object/wait", { signal: gone.signal }));
    await seenBy(stub, (what) => what === "waits");
    gone.abort(new TypeError("given up"));
    return [await waiting, await seenBy(stub, isAborted)];
  },
  "an object learns that an answer was given up": async (stub) => {
    const gone = new AbortController();
    const { body } = await stub.fetch("http://object/", { signal: gone.signal });
    const [, reader] = await firstOf(body);
    gone.abort(new TypeError("given up"));
    return [await failureOf(reader.read()), await seenBy(stub, isAborted)];
  },
  "a request's body breaks with it": async (stub) => {
    const gone = new AbortController();
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(encoder.encode("one")),
    });
    const init = { method: "POST", body, signal: gone.signal };
    const waiting = failureOf(stub.fetch("http://object/read", init));
    await seenBy(stub, (what) => what === "one");
    gone.abort(new TypeError("given up"));
    return [await waiting, await seenBy(stub, (what) => what === "broken")];
  },
  "the signal of a request that was answered is silent": async (stub) => {
    await (await stub.fetch("http://object/lines")).text();
    await settled();
    return stub.saw();
  },
  "a Worker learns that its client has gone": async (stub, { self, name }) => {
    const gone = new AbortController();
    const waiting = failureOf(self.fetch(urlOf("hold", name), { signal: gone.signal }));
    await seenBy(stub, (what) => what === "held");
    gone.abort(new TypeError("given up"));
    return [await waiting, await seenBy(stub, (what) => what === "later")];
  },
  "a Worker learns that its client has gone from an answer": async (stub, { self, name }) => {
    const gone = new AbortController();
    const { body } = await self.fetch(urlOf("pour", name), { signal: gone.signal });
    const [first, reader] = await firstOf(body);
    gone.abort(new TypeError("given up"));
    const read = await failureOf(reader.read());
    const seen = await until(
      () => stub.saw(),
      ({ length }) => length === 2,
    );
    return [first, read, seen.toSorted()];
  },
  "a Worker's work goes on after its answer": async (stub, { self, name }) => {
    const answer = await self.fetch(urlOf("after", name));
    return [await answer.text(), await seenBy(stub)];
  },
};

/** What the Worker does for whoever asks it. */
export const worker = {
  async hold(stub, { request, ctx }) {
    const aborted = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    const work = async () => {
      await aborted;
      await rest(5);
      await stub.see("later");
    };
    ctx.waitUntil(work());
    await stub.see("held");
    await aborted;
    await stub.see("aborted");
    return new Response("late");
  },
  pour(stub, { request, ctx }) {
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) => controller.enqueue(encoder.encode("one")),
      cancel: () => ctx.waitUntil(stub.see("cancelled")),
    });
    request.signal.addEventListener("abort", () => ctx.waitUntil(stub.see("aborted")));
    return new Response(body);
  },
  after(stub, { request, ctx }) {
    const work = async () => {
      await rest(20);
      await stub.see(`later, ${request.signal.aborted}`);
    };
    ctx.waitUntil(work());
    return new Response("answered");
  },
};
