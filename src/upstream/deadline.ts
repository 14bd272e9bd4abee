/**
 * The time that an exchange may take without a message of the upstream. Every message restarts it;
 * the time that a client takes to answer a question, or to read a notification, does not count.
 */

import type { UpstreamTarget } from "./target.ts";
import { UpstreamError } from "./upstream-error.ts";

export interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the time, because the upstream sent something. Cheap: it only notes the time. */
  rewind(): void;
  /** Stops the time while the client decides or reads. @returns a function that starts it again. */
  pause(): () => void;
  clear(): void;
}

/** @param controller of the signal, where it may be aborted for other reasons as well. */
export function startDeadline(
  { slug, timeoutMs }: Pick<UpstreamTarget, "slug" | "timeoutMs">,
  controller = new AbortController(),
): Deadline {
  let lastSign = Date.now();
  let pauses = 0;
  let timer = setTimeout(check, timeoutMs);

  function check(): void {
    const left = pauses > 0 ? timeoutMs : lastSign + timeoutMs - Date.now();
    if (left > 0) {
      timer = setTimeout(check, left);
      return;
    }
    const sentence = `gave no sign of life for ${timeoutMs / 1000} s`;
    controller.abort(new UpstreamError(slug, "timeout", sentence));
  }

  return {
    signal: controller.signal,
    rewind() {
      lastSign = Date.now();
    },
    pause() {
      pauses += 1;
      let isPaused = true;
      return () => {
        if (!isPaused) return;
        isPaused = false;
        pauses -= 1;
        lastSign = Date.now();
      };
    },
    clear() {
      clearTimeout(timer);
    },
  };
}
