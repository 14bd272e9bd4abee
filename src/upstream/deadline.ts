/**
 * The time that an exchange may take without a message of the upstream. Every message restarts it;
 * the time that a client takes to answer a question does not count.
 */

export interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the time, because the upstream sent something. Cheap: it only notes the time. */
  rewind(): void;
  /** Stops the time while the client decides. @returns a function that starts it again. */
  pause(): () => void;
  clear(): void;
}

/**
 * @param timeoutMs in milliseconds.
 * @param makeReason makes the reason that the signal is aborted with when the time is over.
 * @param controller of the signal, where it may be aborted for other reasons as well.
 */
export function startDeadline(
  timeoutMs: number,
  makeReason: () => Error,
  controller = new AbortController(),
): Deadline {
  let lastSign = Date.now();
  let pauses = 0;
  let timer = setTimeout(check, timeoutMs);

  function check(): void {
    const left = pauses > 0 ? timeoutMs : lastSign + timeoutMs - Date.now();
    if (left <= 0) controller.abort(makeReason());
    else timer = setTimeout(check, left);
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
