// @ts-nocheck -- the platform's types and Node's do not fit one file
/** What the facts ask with. */

import { DurableObject } from "cloudflare:workers";

export const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits so long that what was sent meanwhile has come, on a busy machine too. */
export const meanwhile = () => rest(500);

/** What must not come would have come by then: nothing tells that it does not. */
export const settled = () => rest(50);

/** Each life of an object knows what it saw. */
export class Witness extends DurableObject {
  seen = [];

  see(what) {
    this.seen.push(what);
    return [...this.seen];
  }

  saw() {
    return [...this.seen];
  }

  /** The machine dies. */
  abort() {
    this.ctx.abort("dead");
  }
}

/** Asks until the answer is good. */
export async function until(ask, isGood) {
  let value;
  for (let tries = 0; tries < 2000; tries += 1) {
    value = await ask();
    if (isGood(value)) return value;
    await rest(5);
  }
  throw new Error(`It never came: ${JSON.stringify(value)}`);
}

/** @returns what an object has seen, once something of it is so. */
export function seenBy(stub, isThere = (what) => what !== "") {
  return until(
    () => stub.saw(),
    (all) => all.some(isThere),
  );
}

export async function refused(work) {
  try {
    return await work();
  } catch (error) {
    return [error.message.replace(/"[^"]*"/, "…"), error.remote === true];
  }
}

/** @returns "good", or that it failed: for failures whose words nobody relies on. */
export const outcome = (work) =>
  work.then(
    () => "good",
    () => "failed",
  );

/** Opens a socket to an object. */
export async function connect(stub, { path = "", isLate = false } = {}) {
  const { webSocket } = await stub.fetch(`http://object/${path}`, {
    headers: { upgrade: "websocket" },
  });
  const got = [];
  if (isLate) await rest(5);
  webSocket.accept();
  webSocket.addEventListener("message", ({ data }) => got.push(data));
  webSocket.addEventListener("close", ({ code, reason, wasClean }) =>
    got.push(`closed ${code} ${code === 1006 ? "" : reason} ${wasClean}`),
  );
  webSocket.addEventListener("error", () => got.push("error"));
  const enough = (count) =>
    until(
      () => got,
      ({ length }) => length >= count,
    );
  return { webSocket, got, enough };
}

/** @returns the chunks of a stream, and how it ended. */
export async function readOf(stream) {
  const got = [];
  try {
    for await (const chunk of stream) got.push(new TextDecoder().decode(chunk));
    got.push("end");
  } catch {
    got.push("broken");
  }
  return got;
}
