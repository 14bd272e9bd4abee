/**
 * The clients of a soak, of both eras. Each does one thing from its beginning to its end when it is
 * asked to; what it gets is judged here. A client that loses its connection before it has anything to
 * come back by has lost its request, and knows it: that is counted, and no failure.
 */

import type { Json } from "../../test/support/clients-face.ts";
import {
  type Cut,
  type CutAnswer,
  postAndCut,
  WAYS_TO_CUT,
} from "../../test/support/cut-answer.ts";
import { ModernCaller, type Turn } from "../../test/support/modern-caller.ts";
import {
  getFrom,
  openRawSession,
  postTo,
  type RawSession,
} from "../../test/support/raw-session.ts";
import { readEvents } from "../../test/support/read-events.ts";
import { ResumableCall, Stalled } from "../../test/support/resumable-call.ts";
import type { Seeded } from "../../test/support/seeded.ts";
import { pause, until } from "../../test/support/until.ts";
import { META, MODERN } from "../measure-post.mjs";
import type { World } from "./world.ts";

/** Of a second each, on a connection whose answer takes less than one. */
const MAX_KEEP_ALIVES = 20;
const CALLS_PER_SESSION = 20;
/** An answer is cut before its first question is whole: nobody would answer that until the cut. */
const QUESTION_BYTES = 200;
const WATCHED_URI = "test://watched-resource";
const UPDATED = "notifications/resources/updated";
/** An update is told again until it is heard: what was told while a gateway was dead, nobody hears. */
const TOUCH_AGAIN_MS = 2000;
const ELICITATION = { elicitation: { form: {} } };

interface SoakClient {
  /** @throws Error that tells what was not answered, or not as it should be. */
  act(): Promise<void>;
  close(): void;
}

type Make = (world: World, dice: Seeded, name: string) => SoakClient;

export const KINDS: readonly Make[] = [
  legacyStreams,
  legacyStreams,
  legacyQuestions,
  modernStreams,
  modernQuestions,
  legacySubscription,
  modernSubscription,
];

function none(): void {
  // Nothing stays open.
}

/** A session that is left for another after some calls, and asked for anew when it cannot be had. */
function sessions(world: World, server: "streams" | "asks", capabilities?: object) {
  let session: RawSession | undefined;
  let calls = 0;
  return async (): Promise<RawSession> => {
    if (session === undefined || calls++ % CALLS_PER_SESSION === 0) {
      session = await openRawSession(world.at(server), capabilities);
      world.count("legacy sessions");
    }
    return session;
  };
}

/** A call that says numbered things, over a connection that is cut, or holds. */
function legacyStreams(world: World, dice: Seeded, name: string): SoakClient {
  const session = sessions(world, "streams");
  let number = 0;
  return {
    async act() {
      const call = `${name} ${++number}`;
      const events = dice.int(1, 6);
      const script = { call, events, intervalMs: dice.int(0, 20), bytes: dice.int(1, 3000) };
      const params = { name: "stream", arguments: script, _meta: { progressToken: call } };
      const request = { jsonrpc: "2.0", id: call, method: "tools/call", params };
      const own = await session();
      const resumable = new ResumableCall(own, request, { maxKeepAlives: MAX_KEEP_ALIVES });
      await finish(world, own, resumable, call, cutFor(dice, events * script.bytes + 500));
      if (!resumable.isAnswered) return;
      const { taken } = resumable;
      if ("error" in (taken.at(-1) ?? {})) return;
      const numbers = taken.slice(0, -1).map(numberOf);
      if (numbers.join() !== Array.from({ length: events }, (_, index) => index + 1).join()) {
        throw new Error(`${call}: of ${events} events came ${numbers.join()}`);
      }
    },
    close: none,
  };
}

/** @returns `undefined` for a connection that holds. */
function cutFor(dice: Seeded, bytes: number): Cut | undefined {
  const cut = { way: dice.pick(WAYS_TO_CUT), afterBytes: dice.int(0, bytes) };
  return dice.int(0, 3) === 0 ? undefined : cut;
}

/** Sends a call, and comes back for its answer as often as it takes. */
async function finish(
  world: World,
  session: RawSession,
  call: ResumableCall,
  name: string,
  cut: Cut | undefined,
): Promise<void> {
  let answer: CutAnswer | undefined;
  try {
    if (cut === undefined) await call.post();
    else answer = await call.postAndCut(cut);
    if (answer?.isWhole === false) world.count(`cuts by ${cut?.way}, or by a kill`);
    const isAtOnce = call.isAnswered || answer?.text.startsWith("{") === true;
    if (isAtOnce) world.count("legacy calls answered at once");
    else if (call.isResumable) {
      await call.resumeUntilAnswered();
      world.count("legacy calls answered after a resume");
    } else {
      world.count("legacy calls lost before an event id");
      await cancel(session, name);
    }
  } catch (error) {
    if (!(error instanceof Stalled)) throw error;
    throw new Error(`${name} (${JSON.stringify(cut)}) has stalled`, { cause: error });
  } finally {
    answer?.close();
  }
}

/**
 * Says that nobody waits for a call any more. A lost connection does not say so: a server that asked
 * its client something would wait for the answer as long as the gateway lets it, and the heap would
 * show these calls. A gateway that was killed runs none.
 */
async function cancel(session: RawSession, requestId: string): Promise<void> {
  const method = "notifications/cancelled";
  const sending = postTo(session, { jsonrpc: "2.0", method, params: { requestId } });
  await (await sending.catch(() => undefined))?.body?.cancel();
}

function numberOf({ params }: Json): unknown {
  const { progress, data } = (params ?? {}) as { progress?: number; data?: { number: number } };
  return progress ?? data?.number;
}

/** A call that asks its client, on a connection that is cut, or holds. */
function legacyQuestions(world: World, dice: Seeded, name: string): SoakClient {
  const session = sessions(world, "asks", ELICITATION);
  let number = 0;
  return {
    async act() {
      const call = `${name} ${++number}`;
      const own = await session();
      const params = { name: "ask", arguments: { call, questions: dice.int(1, 2) } };
      const request = { jsonrpc: "2.0", id: call, method: "tools/call", params };
      const resumable = new ResumableCall(own, request, {
        maxKeepAlives: MAX_KEEP_ALIVES,
        onMessage: ({ id, method }) => {
          if (method === "elicitation/create") void tell(own, id);
        },
      });
      await finish(world, own, resumable, call, cutFor(dice, QUESTION_BYTES));
    },
    close: none,
  };

  /** Answers until it is accepted: a client whose answer was not taken still has it. */
  async function tell(own: RawSession, id: unknown): Promise<void> {
    const result = { action: "accept", content: { answer: "yes" } };
    await until(async () => {
      const response = await postTo(own, { jsonrpc: "2.0", id, result }).catch(() => undefined);
      await response?.body?.cancel();
      if (response?.status === 202) return true;
      await pause(100);
      return false;
    }, "an answer to be accepted").catch((error: unknown) =>
      world.fail(`${name}: ${String(error)}`),
    );
  }
}

function modernStreams(world: World, dice: Seeded, name: string): SoakClient {
  let number = 0;
  return {
    async act() {
      const call = `${name} ${++number}`;
      const script = { call, events: dice.int(1, 6), intervalMs: dice.int(0, 20), bytes: 500 };
      if (dice.int(0, 2) > 0) {
        const turn = await new ModernCaller(world.at("streams"), "stream", script).begin();
        judge(world, call, turn);
        return;
      }
      // Who hangs up cancels: nothing is to be had any more.
      const params = { name: "stream", arguments: script, _meta: { ...META, progressToken: call } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const cut = { way: dice.pick(WAYS_TO_CUT), afterBytes: dice.int(0, 2000) };
      const headers = {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "stream",
      };
      const posted = postAndCut(world.at("streams"), { headers, body }, cut);
      (await world.answered(call, posted)).close();
      world.count("modern calls hung up on");
    },
    close: none,
  };
}

function modernQuestions(world: World, dice: Seeded, name: string): SoakClient {
  let number = 0;
  return {
    async act() {
      const call = `${name} ${++number}`;
      const caller = new ModernCaller(world.at("asks"), "ask", { call, questions: dice.int(1, 2) });
      let turn = await caller.begin();
      while (turn.kind === "asked") {
        const { state, questions } = turn;
        const answer = { action: "accept", content: { answer: "yes" } };
        const answers = Object.fromEntries(Object.keys(questions).map((key) => [key, answer]));
        // The call is parked: whoever got no word asks again with the same.
        do {
          await world.isUp();
          turn = await caller.answer(state, answers);
        } while (turn.kind === "broken");
      }
      judge(world, call, turn);
    },
    close: none,
  };
}

function judge(world: World, call: string, { kind }: Turn): void {
  if (kind === "silent") throw new Error(`${call}: a modern request was not answered`);
  if (kind === "broken") world.count("modern calls lost with the gateway");
  else world.count(kind === "over" ? "modern calls answered" : "modern calls answered by an error");
}

/** Hears updates on a connection that is opened again whenever it is over. */
class Ear {
  readonly #world: World;
  readonly #open: (signal: AbortSignal, lastEventId?: string) => Promise<Response>;
  #heard = 0;
  #connection = new AbortController();
  #lastEventId: string | undefined;
  #isOver = false;

  constructor(
    world: World,
    open: (signal: AbortSignal, lastEventId?: string) => Promise<Response>,
  ) {
    this.#world = world;
    this.#open = open;
    void this.#listen();
  }

  /** Has the resource updated until an update is heard. */
  async hear(name: string): Promise<void> {
    const before = this.#heard;
    await this.#world.answered(`${name}: an update`, this.#touchUntil(before));
    this.#world.count("updates heard");
  }

  cut(): void {
    this.#connection.abort();
  }

  close(): void {
    this.#isOver = true;
    this.cut();
  }

  async #touchUntil(before: number): Promise<void> {
    while (this.#heard === before && !this.#isOver) {
      await this.#world.isUp();
      await new ModernCaller(this.#world.at("watched"), "test_touch_watched", {}).begin();
      const isHeard = (): boolean => this.#heard > before || this.#isOver;
      await until(isHeard, "an update", TOUCH_AGAIN_MS).catch(() => undefined); // it is told again
    }
  }

  async #listen(): Promise<void> {
    while (!this.#isOver) {
      this.#connection = new AbortController();
      try {
        const response = await this.#open(this.#connection.signal, this.#lastEventId);
        if (response.status === 400) this.#lastEventId = undefined; // it is kept no longer
        await readEvents(response, {
          event: ({ id, data }) => {
            this.#lastEventId = id ?? this.#lastEventId;
            if (data.includes(UPDATED)) this.#heard += 1;
          },
        });
      } catch {
        // It was cut, here or by a kill.
      }
      await pause(20);
    }
  }
}

function subscription(world: World, dice: Seeded, name: string, ear: Ear): SoakClient {
  return {
    async act() {
      if (dice.int(0, 1) === 0) {
        ear.cut();
        world.count("cuts of subscriptions");
      }
      await ear.hear(name);
      await pause(dice.int(0, 200));
    },
    close: () => ear.close(),
  };
}

function legacySubscription(world: World, dice: Seeded, name: string): SoakClient {
  let session: RawSession | undefined;
  const ear = new Ear(world, async (signal, lastEventId) => {
    await world.isUp();
    if (session === undefined) {
      const opened = await openRawSession(world.at("watched"));
      const params = { uri: WATCHED_URI };
      const subscribe = { jsonrpc: "2.0", id: "subscribe", method: "resources/subscribe", params };
      const response = await postTo(opened, subscribe);
      if (!(await response.text()).includes('"result"')) throw new Error("Not subscribed");
      session = opened;
    }
    return getFrom(session, lastEventId, signal);
  });
  return subscription(world, dice, name, ear);
}

function modernSubscription(world: World, dice: Seeded, name: string): SoakClient {
  const ear = new Ear(world, async (signal) => {
    await world.isUp();
    const notifications = { resourceSubscriptions: [WATCHED_URI] };
    const params = { _meta: META, notifications };
    return fetch(world.at("watched"), {
      ...{ method: "POST", signal },
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "subscriptions/listen",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }),
    });
  });
  return subscription(world, dice, name, ear);
}
