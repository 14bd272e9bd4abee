/**
 * The time that an exchange may take without a sign of life. Every emission of the upstream winds
 * the clock back; the time a client takes to answer a question does not count.
 */

export interface Deadline {
  readonly signal: AbortSignal;
  /** The upstream showed life. Cheap: it only notes the time. */
  rewind(): void;
  /** Stops the clock while the client decides; returns what starts it again. */
  pause(): () => void;
  clear(): void;
}

/**
 * @param makeReason what the signal is aborted with when the time is over.
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
