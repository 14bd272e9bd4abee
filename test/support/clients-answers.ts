/** How a client answers when a test does not say: always alike, so that two clients agree. */

import type { Answers, Json } from "./clients-face.ts";

export const ROOTS: readonly Json[] = [
  { uri: "file:///home/test/project", name: "Project" },
  { uri: "file:///home/test/notes", name: "Notes" },
];

export const defaultAnswers: Answers = {
  sampling: ({ messages }) => ({
    model: "parrot-1",
    role: "assistant",
    stopReason: "endTurn",
    content: { type: "text", text: `You said: ${lastText(messages)}` },
  }),
  elicitation: ({ mode, requestedSchema }) =>
    mode === "url"
      ? { action: "accept" }
      : { action: "accept", content: fillIn(requestedSchema as Form) },
  roots: () => ROOTS,
};

function lastText(messages: unknown): string {
  const last = (messages as { content: { text: string } }[]).at(-1);
  return last?.content.text ?? "";
}

interface Field {
  readonly type: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { const: string }[];
  readonly format?: string;
  readonly minimum?: number;
}

interface Form {
  readonly properties: Readonly<Record<string, Field>>;
}

/** Takes the default of each field, or the first choice, or something of its type. */
function fillIn({ properties }: Form): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fill(field)]));
}

const SAMPLES: Readonly<Record<string, string>> = {
  email: "ada@example.com",
  uri: "https://example.com/",
  date: "1815-12-10",
};

function fill({
  type,
  default: preset,
  enum: choices,
  oneOf,
  format = "",
  minimum,
}: Field): unknown {
  if (preset !== undefined) return preset;
  switch (type) {
    case "boolean":
      return true;
    case "integer":
    case "number":
      return minimum ?? 7;
    case "array":
      return [];
    default:
      return choices?.[0] ?? oneOf?.[0]?.const ?? SAMPLES[format] ?? "Ada";
  }
}
