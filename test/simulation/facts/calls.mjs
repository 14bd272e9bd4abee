// @ts-nocheck -- as asking.mjs
/** Calls: their order, the input gate, and what crosses. */

import { DurableObject } from "cloudflare:workers";

import { meanwhile, outcome, refused, rest, seenBy, Witness } from "./asking.mjs";

class OwnError extends Error {
  name = "OwnError";
  more = "own";
}

export class Calls extends Witness {
  async between(what) {
    this.seen.push(`${what} begins`);
    await meanwhile();
    this.seen.push(`${what} ends`);
    return [...this.seen];
  }

  async alone() {
    await this.ctx.blockConcurrencyWhile(async () => {
      this.seen.push("alone begins");
      await rest(5);
      this.seen.push("alone ends");
    });
  }

  async storing() {
    this.seen.push("storage is asked");
    await this.ctx.storage.getAlarm();
    this.seen.push("storage has answered");
    return [...this.seen];
  }

  async calling() {
    this.seen.push("another is called");
    await this.env.CALLS.getByName("another").between("");
    this.seen.push("another has answered");
    return [...this.seen];
  }

  change(given) {
    given.value = "changed";
    return given;
  }

  fail() {
    this.seen.push("failed");
    throw new TypeError("no");
  }

  failOwn() {
    throw new OwnError("own");
  }

  async failAlone() {
    await this.ctx.blockConcurrencyWhile(async () => {
      await rest(1);
      throw new Error("no");
    });
  }

  failAloneCaught() {
    return this.failAlone().catch(() => "caught");
  }

  nameOf() {
    return this.ctx.id.name ?? "none";
  }

  never() {
    this.seen.push("waits");
    return new Promise(() => undefined);
  }

  fetch() {
    return new Response(null);
  }
}

/** One that has to find something out before it is there. */
export class Slow extends DurableObject {
  seen = ["made"];

  constructor(ctx, env) {
    super(ctx, env);
    void ctx.blockConcurrencyWhile(async () => {
      await rest(5);
      await env.CALLS.getByName("asked by another").see("");
      this.seen.push("ready");
    });
    this.seen.push("made in part");
  }

  see(what) {
    this.seen.push(what);
    return [...this.seen];
  }
}

async function failureOf(work) {
  try {
    return await work();
  } catch (error) {
    return [error.name, error.message, Object.keys(error).toSorted(), error instanceof Error];
  }
}

export const facts = {
  "calls of one stub arrive in order": (stub) =>
    Promise.all(["a", "b", "c"].map((what) => stub.see(what))).then((all) => all[2]),
  "calls interleave where an object waits": (stub) =>
    Promise.all([stub.between("first"), stub.between("second")]).then((all) => all[1]),
  "calls come in while an object waits for another": async (stub) => {
    const calling = stub.calling();
    await stub.see("other");
    return calling;
  },
  "blockConcurrencyWhile lets nothing in": async (stub) => {
    const alone = stub.alone();
    const seen = stub.see("other");
    await alone;
    return seen;
  },
  "nothing comes in while storage is asked": async (stub) => {
    const asking = stub.storing();
    await stub.see("other");
    return [await asking, await stub.saw()];
  },
  "nothing comes in before a constructor is done with its work": (_, { env, name }) => {
    const slow = env.SLOW.getByName(name);
    return Promise.all([slow.see("a"), slow.see("b")]).then((all) => all[1]);
  },
  "a failure in blockConcurrencyWhile resets the object": async (stub, { again }) => {
    await stub.see("before");
    const both = await Promise.all([outcome(stub.failAlone()), outcome(stub.see("beside"))]);
    return [both, await again().saw()];
  },
  "a failure in it that is caught does, too": async (stub, { again }) => {
    await stub.see("before");
    return [await outcome(stub.failAloneCaught()), await again().saw()];
  },
  "what crosses is a copy": async (stub) => {
    const given = { value: "mine" };
    const got = await stub.change(given);
    return [given.value, got.value];
  },
  "an error that is thrown leaves the object its memory": async (stub) => [
    await refused(() => stub.fail()),
    await stub.see("still there"),
  ],
  "an error keeps its name, its message and its own fields": async (stub) => [
    await failureOf(() => stub.fail()),
    await failureOf(() => stub.failOwn()),
  ],
  "a method that is not there throws": async (stub) => (await refused(() => stub.none()))[1],
  "a call fails when its object is lost, and so do the later ones of its stub": async (
    stub,
    { again },
  ) => {
    const unused = again();
    const waiting = outcome(stub.never());
    await seenBy(again());
    await outcome(again().abort());
    const later = [await waiting, await outcome(stub.saw()), await outcome(stub.fetch("http://o"))];
    return [later, await again().saw(), await outcome(unused.saw()), await outcome(stub.saw())];
  },
  "a life knows its name if whoever begins it does": async (stub, { env }) => {
    const id = env.CALLS.idFromName("never called by its name");
    const nameless = env.CALLS.get(env.CALLS.idFromString(id.toString()));
    const names = [await nameless.nameOf(), await env.CALLS.get(id).nameOf()];
    return [names, await stub.nameOf()];
  },
  "a stub outlives a life that sleeps": async (stub, { evict }) => {
    await stub.see("before");
    await evict();
    return [await stub.see("after")];
  },
};
