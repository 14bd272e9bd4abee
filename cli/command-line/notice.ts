/** Tells the person at stderr, since stdout is the protocol's. */
export function notice(text: string): void {
  process.stderr.write(`edgeway: ${text}\n`);
}
