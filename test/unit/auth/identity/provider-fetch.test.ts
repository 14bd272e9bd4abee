/** Every request to a provider: with TLS, without redirects, and with an end in time and size. */

import { describe, test } from "vitest";

import { type ProviderFetch, providerFetch } from "../../../../src/auth/identity/provider-fetch.ts";
import { SignInError } from "../../../../src/auth/identity/sign-in-error.ts";

async function reasonOf(promise: Promise<Response>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error instanceof SignInError ? error.reason : String(error);
}

const never: ProviderFetch = () => Promise.reject(new Error("asked all the same"));
const answers =
  (response: Response): ProviderFetch =>
  async () =>
    response;

describe("providerFetch()", () => {
  test.for(["http://id.example.com/", "http://10.0.0.1/", "ftp://localhost/", "data:,x"])(
    "sends nothing to %s",
    async (address, { expect }) => {
      expect(await reasonOf(providerFetch(never)(new URL(address), {}))).toBe("provider-error");
    },
  );

  test.for(["https://id.example.com/", "http://localhost:4000/", "http://127.0.0.1/"])(
    "asks %s, follows no redirect, and can give up",
    async (address, { expect }) => {
      let seen: RequestInit = {};
      const fetch = providerFetch(async (_, init) => {
        seen = init;
        return new Response("hi", { status: 201, headers: { "X-A": "b" } });
      });
      const response = await fetch(new URL(address), { method: "POST", redirect: "follow" });
      expect(seen).toMatchObject({ method: "POST", redirect: "manual" });
      expect(seen.signal).toBeInstanceOf(AbortSignal);
      expect([response.status, response.headers.get("x-a")]).toEqual([201, "b"]);
      expect(await response.text()).toBe("hi");
    },
  );

  test("takes an answer up to a limit", async ({ expect }) => {
    const url = new URL("https://id.example.com/");
    const most = await providerFetch(answers(new Response("x".repeat(2 ** 20))))(url, {});
    expect((await most.text()).length).toBe(2 ** 20);
    const more = providerFetch(answers(new Response("x".repeat(2 ** 20 + 1))))(url, {});
    expect(await reasonOf(more)).toBe("provider-unreachable");
  });

  test.for([
    [429, "provider-unreachable"],
    [500, "provider-unreachable"],
    [404, "an answer"],
    [302, "an answer"],
  ] as const)("HTTP %i is %s", async ([status, outcome], { expect }) => {
    const fetch = providerFetch(answers(new Response(null, { status })));
    const url = new URL("https://id.example.com/");
    const found = await fetch(url, {}).then(
      () => "an answer",
      ({ reason }: SignInError) => reason,
    );
    expect(found).toBe(outcome);
  });

  test("an answer without a body is one", async ({ expect }) => {
    const url = new URL("https://id.example.com/");
    const fetch = providerFetch(answers(new Response(null, { status: 204 })));
    expect((await fetch(url, {})).status).toBe(204);
  });

  test("the bytes of an answer that breaks off are no answer", async ({ expect }) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("{}"));
        controller.error(new Error("connection lost"));
      },
    });
    const promise = providerFetch(answers(new Response(body)))(
      new URL("https://id.example.com/"),
      {},
    );
    expect(await reasonOf(promise)).toBe("provider-unreachable");
  });
});
