/** The member of `params` that `Mcp-Name` mirrors, by method (2026-07-28, Streamable HTTP, headers). */

type MirroredName = "name" | "uri" | "taskId";

const MIRRORED_NAMES: ReadonlyMap<string, MirroredName> = new Map([
  ["tools/call", "name"],
  ["resources/read", "uri"],
  ["prompts/get", "name"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** The `params` member that `Mcp-Name` must equal, if the method has one. */
export function mirroredNameOf(method: string): MirroredName | undefined {
  return MIRRORED_NAMES.get(method);
}
