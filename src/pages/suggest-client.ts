/**
 * The client whose instructions a person sees first: the one that they look out of, the one that they
 * connected last, or one for their device. Nothing of it is kept.
 */

import type { ClientId } from "./view/client-guides.ts";

export interface ConnectedClient {
  /** The name that it gave itself. */
  readonly name: string;
  readonly createdAt: number;
  readonly usedAt?: number;
}

/** By the name that a client gives itself; the first that fits. */
const NAMES: readonly (readonly [RegExp, ClientId])[] = [
  [/^claude code\b/i, "claude-code"],
  [/^claude/i, "claude"],
  [/\bchatgpt\b|^openai\b/i, "chatgpt"],
  [/\bperplexity\b/i, "perplexity"],
  [/\bvisual studio code\b|\bvs ?code\b/i, "vs-code"],
  [/\bcursor\b/i, "cursor"],
  [/\bkiro\b/i, "kiro"],
  [/\blm ?studio\b/i, "lm-studio"],
  [/\bgoose\b/i, "goose"],
  [/\bgemini\b/i, "gemini-cli"],
  [/\bcodex\b/i, "codex"],
  [/\bdevin\b|\bwindsurf\b/i, "devin"],
  [/\binspector\b/i, "inspector"],
  // The name that `edgeway connect` registers.
  [/^edgeway on /i, "stdio"],
];
/** Applications that show pages themselves, by their `User-Agent`. */
const APPLICATIONS: readonly (readonly [RegExp, ClientId])[] = [
  [/\bCursor\//, "cursor"],
  [/\bKiro\//, "kiro"],
  [/\bClaude\//, "claude"],
  [/\bChatGPT\//, "chatgpt"],
  [/\bCode(?: - Insiders)?\//, "vs-code"],
];

export interface Suggestion {
  /** The `User-Agent`. */
  readonly agent: string;
  readonly connected: readonly ConnectedClient[];
  /** Whether a client can reach the gateway that connects from its own servers. */
  readonly isPublic: boolean;
}

export function suggestClient({ agent, connected, isPublic }: Suggestion): ClientId {
  const latest = connected.toSorted((a, b) => lastAt(b) - lastAt(a));
  const known = latest.map(({ name }) => find(NAMES, name)).find((id) => id !== undefined);
  // Without a public address, what runs on this machine comes first.
  return find(APPLICATIONS, agent) ?? known ?? (isPublic ? "claude" : "claude-code");
}

function lastAt({ usedAt, createdAt }: ConnectedClient): number {
  return usedAt ?? createdAt;
}

function find(table: typeof NAMES, text: string): ClientId | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1];
}
