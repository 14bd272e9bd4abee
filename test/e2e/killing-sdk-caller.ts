/** The caller on the official SDK: it comes back by itself, or leaves its token to another. */

import type { Json } from "../support/clients-face.ts";
import type { ScriptedCall } from "../support/scripted-call.ts";
import { connectSdk, type SdkSession } from "../support/sdk-session.ts";
import { until } from "../support/until.ts";
import { type Caller, endpointOf, hasCome, paramsOf, sentBy } from "./killing-caller.ts";
import type { Plan } from "./killing-plan.ts";

export class SdkCaller implements Caller {
  readonly plan: Plan;
  readonly upstream: ScriptedCall;
  readonly wasResumable = true;
  #url = "";
  #session: SdkSession | undefined;
  #successor: SdkSession | undefined;
  #result: Promise<Json> | undefined;

  constructor(plan: Plan, upstream: ScriptedCall) {
    this.plan = plan;
    this.upstream = upstream;
  }

  get messages(): readonly Json[] {
    const first = this.#session?.messages ?? [];
    if (this.plan.client === "sdk") return first;
    return [...first.slice(0, this.plan.takes), ...(this.#successor?.messages ?? [])];
  }

  async begin(origin: string): Promise<void> {
    const { plan, upstream } = this;
    this.#url = endpointOf(plan, origin);
    const session = await connectSdk(this.#url);
    this.#session = session;
    this.#result = session.callTool(paramsOf(plan));
    this.#result.catch(() => undefined); // it is closed in mid-call when another takes over
    await until(
      () =>
        hasCome(plan, upstream) &&
        session.messages.length === sentBy(plan) &&
        session.tokenAfter(plan.takes) !== undefined,
      () => `the moment of ${JSON.stringify(plan)}; ${session.messages.length} messages were seen`,
    );
  }

  async comeBack(isUp: Promise<void>): Promise<void> {
    const { plan, upstream } = this;
    if (plan.goesOn === "while the gateway is dead") upstream.release();
    const current = plan.client === "sdk" ? this.#session : await this.#succeed(isUp);
    await until(() => (current?.resumptions ?? 0) > 0, "the SDK is back").finally(() =>
      upstream.release(),
    );
    await this.#result;
  }

  /** Another client of the session, which knows of the call what the first has left. */
  async #succeed(isUp: Promise<void>): Promise<SdkSession> {
    const token = this.#session?.tokenAfter(this.plan.takes) ?? "";
    await this.#session?.close();
    // This SDK asks for a stream once only.
    await isUp;
    this.#successor = await connectSdk(this.#url, this.#session?.id);
    this.#result = this.#successor.callTool(paramsOf(this.plan), token);
    this.#result.catch(() => undefined); // awaited later
    return this.#successor;
  }

  async rush(): Promise<void> {}

  async finish(): Promise<void> {}

  async close(): Promise<void> {
    await this.#session?.close();
    await this.#successor?.close();
  }
}
