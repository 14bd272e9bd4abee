/**
 * Modern client, legacy server: the request goes to the holder of the client's session there, and its
 * notifications and reply are passed on. Nothing is kept here, and no call is sent twice; answers to
 * questions may be, because the holder takes them once.
 */

import { parseLossless } from "../lib/lossless-json.ts";
import { readLines } from "../lib/read-lines.ts";
import { sleep } from "../lib/sleep.ts";
import { ErrorCode } from "../protocol/error-codes.ts";
import { noteUpstream } from "../protocol/call-span.ts";
import { forwardingTo, type Peer } from "../protocol/exchange.ts";
import { errorReply, type Reply } from "../protocol/json-rpc.ts";
import type { Bridge, BridgeCommand, BridgeOutcome, Line } from "./modern-to-legacy/bridge.ts";
import type { ModernCall } from "./modern-context.ts";
import { makeCommand } from "./modern-to-legacy/make-command.ts";

export interface Crossing {
  /** Of the principal, at the server, for the client's capabilities. */
  readonly bridge: Bridge;
  readonly slug: string;
  /** Keeps the Worker running for work that outlives the response. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** A lost holder of a session is back within moments. */
const ATTEMPTS = 3;
const PAUSE_MS = 200;

/** Rejects with the reason of `signal` alone: then the request is cancelled at the server. */
export async function relayToLegacy(
  crossing: Crossing,
  { message, envelope, peer, signal }: Omit<ModernCall, "headers" | "toolFacts">,
): Promise<Reply> {
  const made = await makeCommand(message, envelope.clientInfo, peer.span?.trace);
  if (made.kind === "refused") return made.reply;
  const { command } = made;
  const startedAt = Date.now();
  try {
    return await send(crossing, command, peer, signal);
  } finally {
    noteUpstream(peer.span, "legacy", Date.now() - startedAt);
  }
}

async function send(
  crossing: Crossing,
  command: BridgeCommand,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply> {
  const attempts = command.kind === "answer" ? ATTEMPTS : 1;
  let after: string | undefined;
  const noting: Peer = {
    ...forwardingTo(peer),
    notify: (notice, resumeToken) => {
      after = resumeToken ?? after;
      return peer.notify(notice);
    },
  };
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    // What the client has already, it must not get again: the lost holder had not written it down.
    const sent = command.kind === "answer" && after !== undefined ? { ...command, after } : command;
    const reply = await run(crossing, sent, noting, signal);
    if (reply !== undefined) return reply;
    if (attempt === attempts) return unknownOutcome(crossing.slug);
    await sleep(PAUSE_MS, signal);
  }
}

/** @returns `undefined` when the holder was lost. Rejects with the reason of the signal alone. */
async function run(
  { bridge, waitUntil }: Crossing,
  command: BridgeCommand,
  peer: Peer,
  signal: AbortSignal,
): Promise<Reply | undefined> {
  const running = bridge.run(command);
  const { promise: left, reject } = Promise.withResolvers<never>();
  left.catch(() => undefined); // the race may be over when it rejects
  const leave = (): void => {
    // A holder that was lost has no such command any more.
    waitUntil(running.cancel().catch(() => undefined));
    reject(signal.reason as Error);
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    const reply = running.outcome.then((outcome) => read(outcome, peer, signal));
    return await Promise.race([reply, left]);
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** @throws Error when the stream breaks before the reply. */
async function read(outcome: BridgeOutcome, peer: Peer, signal: AbortSignal): Promise<Reply> {
  if (outcome.kind === "reply") return outcome.reply;
  for await (const text of readLines(outcome.body, signal)) {
    const line = parseLossless(text) as Line;
    if ("reply" in line) return line.reply;
    await peer.notify(line.notice, line.resumeToken);
  }
  throw new Error("The stream broke");
}

function unknownOutcome(slug: string): Reply {
  const message = `The gateway was restarted while upstream "${slug}" ran this; whether it was done is unknown`;
  return errorReply(ErrorCode.InternalError, message, { upstream: slug, reason: "lost" });
}
