/** The caller that does what the specification says of a client and nothing else. */

import type { Json } from "../support/clients-face.ts";
import { openRawSession } from "../support/raw-session.ts";
import { ResumableCall } from "../support/resumable-call.ts";
import { BEFORE_THE_ANSWER, type ScriptedCall } from "../support/scripted-call.ts";
import { pause, until } from "../support/until.ts";
import { type Caller, endpointOf, hasCome, paramsOf, sentBy } from "./killing-caller.ts";
import type { Plan } from "./killing-plan.ts";

export class RawCaller implements Caller {
  readonly plan: Plan;
  readonly upstream: ScriptedCall;
  #call: ResumableCall | undefined;
  #connection: Promise<void> | undefined;

  constructor(plan: Plan, upstream: ScriptedCall) {
    this.plan = plan;
    this.upstream = upstream;
  }

  get messages(): readonly Json[] {
    return this.#call?.taken ?? [];
  }

  get wasResumable(): boolean {
    return this.#call?.isResumable ?? false;
  }

  async begin(origin: string): Promise<void> {
    const { plan, upstream } = this;
    const request = { jsonrpc: "2.0", id: plan.script.call, method: "tools/call" };
    const call = new ResumableCall(await openRawSession(endpointOf(plan, origin)), {
      ...request,
      params: paramsOf(plan),
    });
    this.#call = call;
    this.#connection = call.post(plan.takes);
    await until(
      () => {
        if (plan.script.stopAfter === BEFORE_THE_ANSWER) return hasCome(plan, upstream);
        if (!call.isResumable) return false;
        if (plan.phase === "at any time") return call.seen > 0;
        return hasCome(plan, upstream) && call.seen === sentBy(plan);
      },
      () => `the moment of ${JSON.stringify(plan)}; ${call.seen} messages were seen`,
    );
  }

  async comeBack(): Promise<void> {
    const { replay } = this.plan;
    await this.#connection;
    if (replay === undefined) return this.#goOn();
    if (replay.kind === "rushed") return;
    const call = this.#call;
    this.#connection = call?.resume(replay.takes);
    const what = `${replay.sees} messages of the replay of ${JSON.stringify(this.plan)}`;
    await Promise.all([this.#connectedOnce(), until(() => (call?.seen ?? 0) >= replay.sees, what)]);
  }

  async rush(): Promise<void> {
    const { replay } = this.plan;
    if (replay?.kind !== "rushed") return;
    this.#connection = this.#call?.resume();
    await this.#connectedOnce();
    await pause(replay.ms);
  }

  async finish(): Promise<void> {
    if (this.plan.replay === undefined) return;
    await this.#connection;
    await this.#goOn();
  }

  async close(): Promise<void> {}

  async #goOn(): Promise<void> {
    const call = this.#call;
    if (this.plan.goesOn === "while the gateway is dead") this.upstream.release();
    if (call === undefined || !call.isResumable) return this.upstream.release();
    const before = call.connections;
    await Promise.all([
      call.resumeUntilAnswered(),
      until(() => call.isAnswered || call.connections > before, "the client is back").finally(() =>
        this.upstream.release(),
      ),
    ]);
  }

  /** Fails early when the connection could not be had at all. */
  async #connectedOnce(): Promise<void> {
    const call = this.#call;
    const before = call?.connections ?? 0;
    let isOver = false;
    const over = this.#connection?.finally(() => (isOver = true));
    const connected = until(() => isOver || (call?.connections ?? 0) > before, "a connection");
    await Promise.race([over?.then(() => connected), connected]);
  }
}
