/** A value as JSON in characters that pass through every form and page unchanged. */

const OTHER = /[^\u0020-\u007e]/g;

export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    OTHER,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
