/** Registration and the token endpoint while an object is out of reach: clients are asked to come back. */

import { beforeEach, describe, test, vi } from "vitest";

import { register } from "../../src/auth/oauth/endpoints/register.ts";
import { token } from "../../src/auth/oauth/endpoints/token.ts";
import type { LoginStep } from "../../src/auth/trace/trace.ts";
import { statusAndError } from "./codes.ts";
import { fromElsewhere, newContext } from "./context.ts";
import { ORIGIN } from "./gateway.ts";

type Context = ReturnType<typeof newContext>;
type Part = "take" | "countOfDay" | "fetch";

const UNAVAILABLE = [503, "temporarily_unavailable"];

const lost = (): Promise<never> => Promise.reject(new Error("out of reach"));

function contextWithout(part: Part, steps: LoginStep[] = []): Context {
  const context = newContext({ steps });
  if (part === "fetch") return { ...context, authority: { ...context.authority, fetch: lost } };
  const ephemeral: Context["store"]["ephemeral"] = (key) => {
    const shard = context.store.ephemeral(key);
    const { take, countOfDay, sweep } = shard.limits;
    return { ...shard, limits: { take, countOfDay, sweep, [part]: lost } };
  };
  return { ...context, store: { ...context.store, ephemeral } };
}

// What went wrong is in the log, which is not of interest here.
beforeEach(() => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  return () => error.mockRestore();
});

describe("a registration, without", () => {
  test.for<Part>(["take", "countOfDay", "fetch"])("%s", async (part, { expect }) => {
    const request = new Request(`${ORIGIN}/register`, {
      method: "POST",
      headers: { ...fromElsewhere(), "Content-Type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["https://a.example/cb"] }),
    });
    const response = await register(contextWithout(part), request);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await statusAndError(response)).toEqual(UNAVAILABLE);
  });
});

describe("a request for a token, without", () => {
  test.for<[Part, string, string]>([
    ["take", "invalid_client", "unknown-client"],
    ["fetch", "temporarily_unavailable", "internal-error"],
  ])("%s", async ([part, error, reason], { expect }) => {
    const steps: LoginStep[] = [];
    const request = new Request(`${ORIGIN}/token`, {
      method: "POST",
      headers: fromElsewhere(),
      body: new URLSearchParams({ grant_type: "refresh_token", client_id: "nobody" }),
    });
    const response = await token(contextWithout(part, steps), request);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await statusAndError(response)).toEqual(UNAVAILABLE);
    expect(steps).toMatchObject([{ kind: "token_refused", error, reason }]);
  });
});
