/**
 * `AbortSignal` whose combinations are held by what they combine. The host holds each that somebody listens to
 * for ever, and with it the whole world in which it was made; and its time-outs run on the host's clock.
 */

import { Context } from "./context.ts";

export class IsolateAbortSignal extends AbortSignal {
  static override any(signals: AbortSignal[]): AbortSignal {
    const first = signals.find(({ aborted }) => aborted);
    if (first !== undefined) return AbortSignal.abort(first.reason);
    const controller = new AbortController();
    for (const signal of signals) {
      signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    }
    return controller.signal;
  }

  static override timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    const end = (): void =>
      controller.abort(new DOMException("The operation timed out", "TimeoutError"));
    Context.current().setTimer(end, ms, false);
    return controller.signal;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof AbortSignal;
  }
}
