/** Which addresses the gateway fetches for others, and how much of an answer it reads. */

import { describe, test } from "vitest";

import {
  type EgressPolicy,
  judgeEgress,
  type LoadFailure,
  loadJson,
  type LoadOptions,
} from "../../../src/lib/egress.ts";
import { bodyOf, bytesOf } from "../upstream/fake-target.ts";

const POLICY: EgressPolicy = { ownHosts: new Set(["gateway.example"]) };
const JSON_TYPE = { "Content-Type": "application/json" };

describe("judgeEgress()", () => {
  test.for([
    "https://client.example/x.json",
    "https://client.example:443/",
    "https://a.b.c.client.example/x?y=z",
    "https://sub.gateway.example/",
    "https://xn--bcher-kva.example/",
    // Names that only look like addresses or like private ones.
    "https://127.0.0.1.client.example/",
    "https://1e100.net/",
    "https://localhost.example/",
    "https://internal.example/",
  ])("lets %s pass", (address, { expect }) => {
    expect(judgeEgress(new URL(address), POLICY)).toBeUndefined();
  });

  test.for([
    ["http://client.example/", "not an https"],
    ["ftp://client.example/", "not an https"],
    ["file:///etc/passwd", "not an https"],
    ["data:application/json,{}", "not an https"],
    ["https://user@client.example/", "credentials"],
    ["https://:pw@client.example/", "credentials"],
    ["https://client.example:8443/", "port"],
    ["https://client.example:80/", "port"],
    ["https://127.0.0.1/", "IP address"],
    ["https://8.8.8.8/", "IP address"],
    ["https://169.254.169.254/", "IP address"],
    ["https://127.1/", "IP address"],
    ["https://2130706433/", "IP address"],
    ["https://0x7f000001/", "IP address"],
    ["https://0x7f.1/", "IP address"],
    ["https://0177.0.0.1/", "IP address"],
    ["https://127.0.0.1./", "IP address"],
    ["https://%31%32%37.0.0.1/", "IP address"],
    ["https://１２７.０.０.１/", "IP address"],
    ["https://0/", "IP address"],
    ["https://[::1]/", "IP address"],
    ["https://[::ffff:127.0.0.1]/", "IP address"],
    ["https://[fd00::1]/", "IP address"],
    ["https://[2606:4700::1]/", "IP address"],
    ["https://client.example./", "ends in a dot"],
    ["https://localhost/", "no dot"],
    ["https://intranet/", "no dot"],
    ["https://gateway.example/", "this gateway"],
    ["https://GATEWAY.example/", "this gateway"],
    ["https://metadata.google.internal/", "private network"],
    ["https://metadata.goog/", "private network"],
    ["https://x.localhost/", "private network"],
    ["https://printer.local/", "private network"],
    ["https://db.internal/", "private network"],
    ["https://nas.lan/", "private network"],
    ["https://nas.home/", "private network"],
    ["https://nas.home.arpa/", "private network"],
    ["https://1.0.0.127.in-addr.arpa/", "private network"],
    ["https://wiki.corp/", "private network"],
    ["https://a.test/", "private network"],
    ["https://a.invalid/", "private network"],
    ["https://abcdef.onion/", "private network"],
  ])("refuses %s: %s", ([address = "", word = ""], { expect }) => {
    expect(judgeEgress(new URL(address), POLICY)).toContain(word);
  });
});

/** A way to fetch that answers this and remembers how it was asked. */
function answering(answer: (init: RequestInit) => Response | Promise<Response>) {
  const seen: { readonly url: string; readonly init: RequestInit }[] = [];
  const fetch: LoadOptions["fetch"] = async (url, init) => {
    seen.push({ url: url.href, init });
    return answer(init);
  };
  return { seen, fetch };
}

async function load(
  answer: (init: RequestInit) => Response | Promise<Response>,
  options: Partial<LoadOptions> & { readonly address?: string } = {},
) {
  const { address = "https://client.example/x.json", ...more } = options;
  const { seen, fetch } = answering(answer);
  const limits = { maxBytes: 100, timeoutMs: 60_000 };
  const outcome = await loadJson(new URL(address), { fetch, policy: POLICY, ...limits, ...more });
  return { seen, outcome };
}

const failed = (why: LoadFailure) => ({ kind: "failed", why });

describe("loadJson()", () => {
  test.for([
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/client-metadata+json",
  ])("takes JSON as %s", async (type, { expect }) => {
    const headers = { "Content-Type": type, "Cache-Control": "max-age=5" };
    const { outcome } = await load(() => new Response('{"a":[1]}', { headers }));
    if (outcome.kind !== "loaded") throw new Error(outcome.why);
    expect(outcome.value).toEqual({ a: [1] });
    expect(outcome.headers.get("cache-control")).toBe("max-age=5");
  });

  test("asks for JSON, sends its User-Agent, brings no credentials and follows no redirect", async ({
    expect,
  }) => {
    const { seen } = await load(() => new Response("{}", { headers: JSON_TYPE }));
    expect(seen).toMatchObject([{ url: "https://client.example/x.json" }]);
    const { signal, ...init } = seen[0]?.init ?? {};
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(init).toEqual({
      redirect: "manual",
      headers: { Accept: "application/json", "User-Agent": "edgeway" },
    });
  });

  test("sends nothing to an address that is not allowed", async ({ expect }) => {
    const { seen, outcome } = await load(() => new Response("{}", { headers: JSON_TYPE }), {
      address: "https://127.0.0.1/x.json",
    });
    expect([outcome, seen]).toEqual([failed("refused"), []]);
  });

  test.for([
    [301, "redirect"],
    [302, "redirect"],
    [304, "redirect"],
    [308, "redirect"],
    [404, "gone"],
    [410, "gone"],
    [201, "status"],
    [206, "status"],
    [401, "status"],
    [403, "status"],
    [429, "status"],
    [500, "status"],
    [503, "status"],
  ] as const)("an answer of %i is a failure: %s", async ([status, why], { expect }) => {
    const headers = { ...JSON_TYPE, Location: "https://other.example/" };
    const body = status === 304 ? null : "{}";
    const { seen, outcome } = await load(() => new Response(body, { status, headers }));
    const expected = why === "status" ? { ...failed(why), status } : failed(why);
    expect([outcome, seen.length]).toEqual([expected, 1]);
  });

  test("does not read the body of a failure, and cancels it", async ({ expect }) => {
    let isCancelled = false;
    const body = () =>
      bodyOf([bytesOf("{}")], () => {
        isCancelled = true;
      });
    await load(() => new Response(body(), { status: 500, headers: JSON_TYPE }));
    expect(isCancelled).toBe(true);
  });

  test.for(["text/html", "text/plain", "application/jsonp", "application/json/x", "", null])(
    "does not accept JSON with the content type %s",
    async (type, { expect }) => {
      const { outcome } = await load(() => {
        const response = new Response(bodyOf([bytesOf("{}")]));
        if (type !== null) response.headers.set("Content-Type", type);
        return response;
      });
      expect(outcome).toEqual(failed("media-type"));
    },
  );

  test("accepts a document of exactly the limit, and not of one byte more", async ({ expect }) => {
    for (const [bytes, kind] of [
      [100, "loaded"],
      [101, "failed"],
    ] as const) {
      const text = `"${"x".repeat(bytes - 2)}"`;
      const { outcome } = await load(() => new Response(text, { headers: JSON_TYPE }));
      expect(outcome.kind).toBe(kind);
      if (outcome.kind === "failed") expect(outcome.why).toBe("too-large");
    }
  });

  test("stops reading a document without an end", async ({ expect }) => {
    let chunks = 0;
    function* endless(): Generator<Uint8Array> {
      for (; chunks < 10_000; chunks++) yield bytesOf(" ".repeat(10));
    }
    const { outcome } = await load(() => new Response(bodyOf(endless()), { headers: JSON_TYPE }));
    expect(outcome).toEqual(failed("too-large"));
    expect(chunks).toBeLessThan(20);
  });

  test.for(["", "{", "{'a':1}", "<html>", `${"[".repeat(40)}${"]".repeat(40)}`])(
    "does not accept %s as a document",
    async (text, { expect }) => {
      const { outcome } = await load(() => new Response(text, { headers: JSON_TYPE }));
      expect(outcome).toEqual(failed("malformed"));
    },
  );

  test("reports a connection that fails as a failure and throws no exception", async ({
    expect,
  }) => {
    const { outcome } = await load(() => {
      throw new Error("connection refused at 10.0.0.7");
    });
    expect(outcome).toEqual(failed("unreachable"));
  });

  test("reports a body that breaks off as a failure", async ({ expect }) => {
    const { outcome } = await load(() => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.error(new Error("reset"));
        },
      });
      return new Response(body, { headers: JSON_TYPE });
    });
    expect(outcome).toEqual(failed("unreachable"));
  });

  test("does not wait for an answer that does not come", async ({ expect }) => {
    const { outcome } = await load(({ signal }) => aborted(signal), { timeoutMs: 1 });
    expect(outcome).toEqual(failed("timeout"));
  });

  test("does not wait for an answer that does not end", async ({ expect }) => {
    const { outcome } = await load(
      ({ signal }) => {
        const body = new ReadableStream<Uint8Array>({
          async start(controller) {
            controller.enqueue(bytesOf("{"));
            await aborted(signal).catch((error: unknown) => controller.error(error));
          },
        });
        return new Response(body, { headers: JSON_TYPE });
      },
      { timeoutMs: 1 },
    );
    expect(outcome).toEqual(failed("timeout"));
  });
});

/** Rejects when the signal is aborted, as everything does that a platform's `fetch` gave. */
function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
