/**
 * Whatever a server and its clients do, in any order, and however often the object restarts:
 *
 * - one refresh of an entry runs at a time, and two of a server;
 * - no catalog is served past the hard limit;
 * - a failed refresh keeps the last good catalog;
 * - a caller never waits for a catalog that is older than a change announced before, so no announcement is
 *   lost, not even during a refresh.
 */

import * as fc from "fast-check";
import { afterEach, beforeEach, test, vi } from "vitest";

import type { CatalogAnswer } from "../../../../src/catalog/catalog.ts";
import type { CatalogCache } from "../../../../src/catalog/cache/catalog-cache.ts";
import type { ClientKind } from "../../../../src/endpoint/client-kind.ts";
import { catalogOf, LEGACY, MODERN, type Scene, withScene } from "./catalog-fixture.ts";

const STALE_HOURS = 1;
const HARD_LIMIT_MS = STALE_HOURS * 3_600_000;
/** Longer than any run: a caller with this patience is served only when the catalog is current. */
const PATIENT_MS = 2_000_000_000;
const CLIENTS: readonly ClientKind[] = [LEGACY, { ...LEGACY, revision: "2025-11-25" }, MODERN];

type Step =
  | { readonly do: "ask"; readonly client: number; readonly isPatient: boolean }
  | { readonly do: "succeed" | "fail"; readonly which: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "announce" | "restart" | "wake" | "report" };

const which = fc.nat({ max: 2 });
const oneOf = <Name extends string>(...names: readonly Name[]): fc.Arbitrary<Name> =>
  fc.constantFrom(...names);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({ do: oneOf("ask"), client: which, isPatient: fc.boolean() }),
  },
  { weight: 25, arbitrary: fc.record({ do: oneOf("succeed"), which }) },
  { weight: 6, arbitrary: fc.record({ do: oneOf("fail"), which }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: oneOf("pass"),
      ms: fc.constantFrom(1, 1000, 10_000, 60_000, 700_000, HARD_LIMIT_MS + 1),
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: oneOf("announce") }) },
  { weight: 6, arbitrary: fc.record({ do: oneOf("restart", "wake", "report") }) },
);

function claim(isTrue: boolean, sentence: string): void {
  if (!isTrue) throw new Error(sentence);
}

/** A server whose catalog is the number of its changes, and what its callers get. */
class World {
  readonly #scene: Scene;
  #cache: CatalogCache;
  #changes = 0;
  /** The readings that are under way in this life of the object. */
  #readings: { readonly attempt: number; readonly changes: number; readonly startedAt: number }[] =
    [];
  #seen = 0;
  readonly #good: { readonly client: ClientKind; readonly changes: number; readonly at: number }[] =
    [];
  #broken: Error | undefined;

  constructor(scene: Scene, isCovered: boolean) {
    this.#scene = scene;
    scene.isWanted = true;
    if (isCovered)
      for (const topic of ["tools", "prompts", "resources"] as const) scene.covered.add(topic);
    this.#cache = scene.cache();
  }

  async take(taken: Step): Promise<void> {
    switch (taken.do) {
      case "ask":
        this.#ask(CLIENTS[taken.client] ?? LEGACY, taken.isPatient ? PATIENT_MS : 0);
        break;
      case "succeed":
      case "fail":
        this.#end(taken.which, taken.do === "succeed");
        break;
      case "pass":
        this.#scene.now += taken.ms;
        await vi.advanceTimersByTimeAsync(taken.ms);
        break;
      case "announce":
        this.#changes += 1;
        this.#cache.outdated(["tools"]);
        break;
      case "restart":
        // The memory of the earlier life goes, and with it all that it waits for.
        vi.clearAllTimers();
        this.#readings = [];
        this.#cache = this.#scene.cache();
        break;
      case "wake":
        this.#cache.wake();
        break;
      case "report":
        this.#cache.report({
          reason: "unreachable",
          message: "It is gone",
          since: this.#scene.now,
        });
        break;
    }
    await this.#settle();
  }

  /** In the end, a server that is well is served as it is. */
  async end(): Promise<void> {
    await this.take({ do: "restart" });
    this.#scene.server = () => ({ catalog: this.#catalog(this.#changes), ttlMs: undefined });
    this.#scene.covered.clear();
    await this.take({ do: "pass", ms: 120_000 });
    for (const client of CLIENTS) {
      const answer = await this.#cache.catalog({ client, waitMs: PATIENT_MS });
      const version = answer.kind === "catalog" ? answer.catalog.version : answer.kind;
      claim(version === String(this.#changes), `it is ${this.#changes}, and ${version} is served`);
      claim(answer.trouble === undefined, "a server that is well is in trouble");
    }
  }

  #catalog(changes: number): ReturnType<typeof catalogOf> {
    return catalogOf({ tools: [`t${changes}`] }, { version: String(changes) });
  }

  #ask(client: ClientKind, waitMs: number): void {
    const changes = waitMs === 0 ? 0 : this.#changes;
    this.#cache
      .catalog({ client, waitMs })
      .then((answer) => this.#judge(answer, client, changes))
      .catch((error: Error) => (this.#broken ??= error));
  }

  /** @param changes that the catalog has to include. */
  #judge(answer: CatalogAnswer, { revision }: ClientKind, changes: number): void {
    const oldest = this.#scene.now - HARD_LIMIT_MS;
    const isModern = revision === MODERN.revision;
    const servable = this.#good.filter(
      ({ client, at }) => at >= oldest && (client.revision === MODERN.revision) === isModern,
    );
    if (answer.kind === "catalog") {
      const version = Number(answer.catalog.version);
      const isGood = servable.some((good) => good.changes === version);
      claim(isGood, `${version} was not read, or is past the hard limit`);
      const isCurrent = answer.trouble !== undefined || version >= changes;
      claim(isCurrent, `${changes} was announced, and ${version} is served to a patient caller`);
    } else {
      const hasLast = servable.some(({ client }) => client.revision === revision);
      claim(!hasLast, "the last good catalog is lost");
    }
  }

  #end(which: number, isSuccess: boolean): void {
    const { attempts } = this.#scene;
    const open = this.#readings.filter(
      ({ attempt }) => attempts[attempt]?.signal.aborted === false,
    );
    const reading = open[which % open.length];
    const attempt = reading && attempts[reading.attempt];
    if (reading === undefined || attempt === undefined) return;
    this.#readings = this.#readings.filter((other) => other !== reading);
    if (!isSuccess) return attempt.fail();
    this.#good.push({ client: attempt.client, changes: reading.changes, at: reading.startedAt });
    attempt.answer(this.#catalog(reading.changes));
  }

  /** Lets everything happen that needs no time, and looks at the readings that have begun. */
  async #settle(): Promise<void> {
    for (let n = 0; n < 30; n++) {
      await Promise.resolve();
      const { attempts, now } = this.#scene;
      for (; this.#seen < attempts.length; this.#seen++) {
        this.#readings.push({ attempt: this.#seen, changes: this.#changes, startedAt: now });
      }
      const open = this.#readings.flatMap(({ attempt }) => attempts[attempt] ?? []);
      const clients = open.filter(({ signal }) => !signal.aborted).map(({ client }) => client);
      claim(clients.length <= 2, "more than two readings of the server");
      claim(new Set(clients).size === clients.length, "two readings for one kind of client");
    }
    if (this.#broken !== undefined) throw this.#broken;
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (const name of ["log", "warn", "error"] as const) {
    vi.spyOn(console, name).mockImplementation(() => undefined);
  }
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("the cache keeps its promises in any order of events", async ({ expect }) => {
  const runs = fc.asyncProperty(
    fc.array(step, { maxLength: 60, size: "max" }),
    fc.boolean(),
    (steps, isCovered) =>
      withScene(
        async (scene) => {
          const world = new World(scene, isCovered);
          for (const each of steps) await world.take(each);
          await world.end();
        },
        { staleCatalogHours: STALE_HOURS },
      ),
  );
  await expect(fc.assert(runs, { numRuns: 60, seed: 17 })).resolves.toBeUndefined();
});
