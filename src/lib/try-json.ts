/** @returns the value, or `undefined` for text that is not JSON: JSON itself has no such value. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
