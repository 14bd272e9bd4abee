/** Aborted when a person or the system ends the command. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => stop.abort());
  }
  return stop.signal;
}
