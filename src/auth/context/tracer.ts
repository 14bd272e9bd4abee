/**
 * Sends the steps of one request to the objects that store them, in order, while the request
 * continues. Steps that strangers can cause at will are sent once a minute, and are limited for
 * each address.
 */

import { BoundedCache } from "../../lib/bounded-cache.ts";
import { cleanText } from "../../lib/clean-text.ts";
import { randomName } from "../../lib/random.ts";
import { TokenBuckets } from "../../lib/token-bucket.ts";
import { logUnexpected } from "../../observability/unexpected.ts";
import type { AuthStore } from "./auth-store.ts";
import { drawFor, shardName } from "../store/shards.ts";
import { cleanStep, maskTokens } from "../trace/clean-step.ts";
import type { LoginStep, NotedStep, StepKind, Trace } from "../trace/trace.ts";
import { traceKey } from "../trace/trace-key.ts";

export interface TracerOptions {
  readonly store: Pick<AuthStore, "ephemeral">;
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** The address as `addressOf` returns it. */
  readonly address: string;
  /** The `User-Agent` of the request. */
  readonly agent: string;
}

const REFERENCE_CHARS = 8;
const MAX_AGENT_CHARS = 100;
const NOTES_PER_MINUTE = 120;
/** The interval in which an isolate records the same step once. */
const REPEAT_MS: Readonly<Partial<Record<StepKind, number>>> = {
  probed: 60_000,
  challenged: 60_000,
  bearer_refused: 60_000,
  used: 3_600_000,
};

/** These caches belong to the isolate; a step that they have forgotten is recorded once more. */
const buckets = new TokenBuckets(1000);
/** The clients of grants whose tokens this isolate has issued or accepted. */
const clientsOfGrants = new BoundedCache<string>({ maxEntries: 10_000, ttlMs: 3_600_000 });
const noted = new BoundedCache<number>({ maxEntries: 10_000, ttlMs: 3_600_000 });

export function traceInto({ store, waitUntil, address, ...options }: TracerOptions): Trace {
  const agent = cleanText(maskTokens(options.agent), MAX_AGENT_CHARS);
  let line: Promise<void> = Promise.resolve();
  return (step) => {
    const cleaned = cleanStep(withProvedGrant(step));
    const key = traceKey(cleaned, { address, agent });
    // No page shows a reference of these steps.
    if (isRepeat(cleaned, key)) return "";
    const reference = drawFor(shardName("t", key), "t", () => randomName(REFERENCE_CHARS));
    if (!buckets.of(address, NOTES_PER_MINUTE).take()) return reference;
    const note: NotedStep = {
      step: cleaned,
      key,
      reference,
      at: Date.now(),
      address,
      agent,
    };
    line = line.then(() => keep(store, note));
    waitUntil(line);
    return reference;
  };
}

/**
 * A refused token may name any grant, and a look-up of each would be the price of made-up tokens.
 */
function withProvedGrant(step: LoginStep): LoginStep {
  if (step.kind === "token_issued" || step.kind === "used") {
    if (step.grant !== undefined) clientsOfGrants.set(step.grant, step.client);
    return step;
  }
  if (step.kind !== "bearer_refused" || step.grant === undefined) return step;
  const { grant, ...rest } = step;
  const client = clientsOfGrants.get(grant);
  return client === undefined ? rest : { ...rest, client, grant };
}

async function keep(store: TracerOptions["store"], note: NotedStep): Promise<void> {
  try {
    await store.ephemeral(note.key).traces.note(note);
  } catch (error) {
    logUnexpected(error);
  }
}

function isRepeat(step: LoginStep, key: string): boolean {
  const repeatMs = REPEAT_MS[step.kind];
  if (repeatMs === undefined) return false;
  const name = `${key} ${JSON.stringify(step)}`;
  const now = Date.now();
  if (now - (noted.get(name) ?? Number.NEGATIVE_INFINITY) < repeatMs) return true;
  noted.set(name, now);
  return false;
}

const DOCUMENTS = /\/\.well-known\/(?:oauth-[a-z-]{1,40}|openid-configuration)(?:\/|$)/;

/**
 * Records a request for the sign-in metadata, wherever a client looks for it.
 *
 * @param trace called only for such a request.
 */
export function noteProbe({ url, method }: Request, { ok }: Response, trace: () => Trace): void {
  if (method !== "GET") return;
  const { pathname: path } = new URL(url);
  if (DOCUMENTS.test(path)) trace()({ kind: "probed", path, isFound: ok });
}
