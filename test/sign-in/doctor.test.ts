/** The login doctor: what is kept of attempts to connect, how it is joined, and for how long. */

// Has an isolate of its own: what it fills has room for two hundred attempts of all.
import { afterEach, beforeEach, describe, test, vi } from "vitest";

import { diagnose } from "../../src/auth/doctor/diagnose.ts";
import { recentLogins, findLogin } from "../../src/auth/doctor/read-traces.ts";
import type { LoginStep } from "../../src/auth/trace/trace.ts";
import { traceInto } from "../../src/auth/context/tracer.ts";
import { shardName } from "../../src/auth/store/shards.ts";
import { defaultLimits } from "../../src/policy/limits.ts";
import {
  asked,
  kinds,
  newName,
  noToken,
  registered,
  tell,
  teller,
  traceOf,
  used,
} from "./doctor-fixture.ts";
import { requestToken } from "../support/oauth-requests.ts";
import { newClient, newCode } from "./codes.ts";
import { fromElsewhere, gatewayWith } from "./context.ts";
import { records } from "./people.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a reference", () => {
  test("is short, can be read out, and finds the whole attempt from each step", async ({
    expect,
  }) => {
    const client = newName("client");
    const [one, other] = await tell([registered(client), asked(client)]);
    expect(one).toMatch(/^[a-km-np-z2-9]{8}$/);
    expect(other).not.toBe(one);
    expect(await traceOf(other)).toEqual(await traceOf(one));
    expect(kinds(await traceOf(one))).toEqual(["registered", "asked"]);
    expect((await traceOf(one)).reference).toBe(one);
  });

  test("does not exist for an empty attempt", async ({ expect }) => {
    expect(await findLogin(records().store, "abcdefgh")).toBeUndefined();
  });
});

describe("steps belong to one attempt", () => {
  test("if an application takes them within half an hour of each other", async ({ expect }) => {
    const client = newName("client");
    const [first] = await tell([registered(client)]);
    vi.setSystemTime(Date.now() + 29 * MINUTE);
    await tell([{ kind: "consent_shown", client }]);
    vi.setSystemTime(Date.now() + 30 * MINUTE);
    const [later] = await tell([noToken(client, "g")]);
    expect(kinds(await traceOf(first))).toEqual(["registered", "consent_shown"]);
    expect(kinds(await traceOf(later))).toEqual(["token_refused"]);
  });

  test("until the application starts again", async ({ expect }) => {
    const client = newName("client");
    const [one] = await tell([registered(client), asked(client)]);
    const [two] = await tell([asked(client), { kind: "consent_shown", client }]);
    expect(kinds(await traceOf(one))).toEqual(["registered", "asked"]);
    expect(kinds(await traceOf(two))).toEqual(["asked", "consent_shown"]);
  });

  test("if one person takes them, where several use an application at once", async ({ expect }) => {
    const client = newName("client");
    const attempt = [newName("attempt"), newName("attempt")] as const;
    const grant = ["g1", "g2"] as const;
    const references = await tell([
      asked(client),
      { kind: "consent_shown", client, attempt: attempt[0] },
      asked(client),
      { kind: "consent_shown", client, attempt: attempt[1] },
      { kind: "code_issued", client, user: "u_1", attempt: attempt[0], grant: grant[0] },
      { kind: "answered", client, decision: "denied", attempt: attempt[1] },
      { kind: "token_issued", client, grant: grant[0] },
      used(client, grant[0]),
    ]);
    expect(kinds(await traceOf(references[0]))).toEqual([
      ...["asked", "consent_shown", "code_issued", "token_issued", "used"],
    ]);
    expect(kinds(await traceOf(references[2]))).toEqual(["asked", "consent_shown", "answered"]);
  });

  test("if their grant is refused days later", async ({ expect }) => {
    const client = newName("client");
    const [one] = await tell([asked(client), { kind: "token_issued", client, grant: "g" }]);
    vi.setSystemTime(Date.now() + 3 * DAY);
    await tell([noToken(client, "g")]);
    expect(kinds(await traceOf(one))).toEqual(["asked", "token_issued", "token_refused"]);
  });

  test("if a browser's cookie names the attempt, where they name no application", async ({
    expect,
  }) => {
    const [client, attempt] = [newName("client"), `${newName("")}attempt`];
    const [one] = await tell([
      { kind: "consent_shown", client, attempt },
      { kind: "attempt_refused", reason: "other-browser", attempt },
    ]);
    // What is known of the cookie alone.
    await tell([
      { kind: "attempt_refused", reason: "foreign-origin", attempt: attempt.slice(0, 8) },
    ]);
    expect(kinds(await traceOf(one)).toSorted()).toEqual([
      ...["attempt_refused", "attempt_refused", "consent_shown"],
    ]);
  });

  test("never by address alone: each refusal is an attempt of its own", async ({ expect }) => {
    const address = newName("address");
    const steps: readonly LoginStep[] = [
      { kind: "registration_refused", error: "invalid_redirect_uri" },
      { kind: "ask_refused", reason: "unknown-client", claimed: "9 characters" },
      { kind: "ask_refused", reason: "document", claimed: "https://a.example/…" },
      { kind: "attempt_refused", reason: "other-browser" },
      { kind: "bearer_refused", path: "/mcp" },
      { kind: "token_refused", grantType: "other", error: "unsupported_grant_type" },
    ];
    const references = await tell(steps, teller(address));
    const causes = new Set<string>();
    for (const [n, reference] of references.entries()) {
      if (reference === "") continue; // no page shows it
      const trace = await traceOf(reference);
      expect(kinds(trace)).toEqual([steps[n]?.kind]);
      causes.add(diagnose(trace.steps, Date.now(), defaultLimits()).sentence);
    }
    expect(causes.size).toBe(steps.length);
    const listed = (await recentLogins(records().store, 1000)).filter(
      (trace) => trace.key === `address:${address}`,
    );
    expect(listed.length).toBe(steps.length);
  });

  test("and are counted where they repeat at one address", async ({ expect }) => {
    const address = newName("address");
    const refused: LoginStep = { ...noToken("x"), client: newName("client") } as LoginStep;
    const [one, other] = await tell([refused, refused], teller(address));
    expect((await traceOf(one)).steps.map(({ times }) => times)).toEqual([2]);
    expect(await findLogin(records().store, other ?? "")).toBeUndefined();
  });

  test("if they claim its id at the same address, and no other steps do", async ({ expect }) => {
    const [client, other, address] = [newName("client"), newName("client"), newName("address")];
    const [one] = await tell([asked(client)], teller(address));
    vi.setSystemTime(Date.now() + 1);
    await tell([noToken(client), noToken(other)], teller(address));
    const { steps } = await traceOf(one);
    expect(steps.map(({ step }) => [step.kind, "client" in step && step.client])).toEqual([
      ["asked", client],
      ["token_refused", client],
    ]);
    // What was said in another name is an attempt of its own in the list.
    const listed = (await recentLogins(records().store, 1000)).filter((trace) =>
      trace.steps.some((step) => step.address === address),
    );
    expect(listed.map(({ key }) => key).toSorted()).toEqual([
      `address:${address}`,
      `client:${client}`,
    ]);
  });

  test("if the same program made the look-ups just before", async ({ expect }) => {
    const [client, address, program] = [newName("client"), newName("address"), newName("program")];
    const probed: LoginStep = { kind: "probed", path: "/.well-known/x", isFound: true };
    const challenged: LoginStep = { kind: "challenged", path: "/mcp" };
    // A launcher, a quarter of an hour ago; another program; and one without a name.
    await tell([{ ...probed, path: "/.well-known/launcher" }], teller(address, program));
    vi.setSystemTime(Date.now() + 13 * MINUTE);
    await tell([challenged, probed], teller(address, program));
    await tell([{ ...probed, path: "/.well-known/other" }], teller(address, "other/1"));
    await tell([{ ...probed, path: "/.well-known/nameless" }], teller(address, ""));
    vi.setSystemTime(Date.now() + MINUTE);
    const [one] = await tell([registered(client)], teller(address, program));
    vi.setSystemTime(Date.now() + MINUTE);
    await tell([asked(client)], teller(newName("browser"), "Mozilla/5.0"));
    vi.setSystemTime(Date.now() + 1);
    await tell([{ kind: "bearer_refused", path: "/mcp" }], teller(address, program));
    const { steps } = await traceOf(one);
    expect(steps.map(({ step }) => ("path" in step ? step.path : step.kind))).toEqual([
      ...["/mcp", "/.well-known/x", "registered", "asked"],
    ]);
    const listed = (await recentLogins(records().store, 1000)).filter(
      ({ key }) => key === `client:${client}`,
    );
    expect(listed.map(kinds)).toEqual([kinds(await traceOf(one))]);
  });

  test("if the grant of a refused token leads to it", async ({ expect }) => {
    const client = newName("client");
    const grant = newName("grant");
    const [one] = await tell([asked(client), { kind: "token_issued", client, grant }]);
    await tell([
      { kind: "bearer_refused", path: "/mcp", grant },
      { kind: "bearer_refused", path: "/mcp", grant: "made-up" },
    ]);
    expect(kinds(await traceOf(one))).toEqual(["asked", "token_issued", "bearer_refused"]);
  });

  test("if their request is the refused one, and not the one before it", async ({ expect }) => {
    const client = newName("client");
    const [one] = await tell([asked(client), { kind: "consent_shown", client }]);
    const mismatch: LoginStep = { kind: "ask_refused", client, reason: "redirect-mismatch" };
    const [other] = await tell([mismatch]);
    expect(kinds(await traceOf(one))).toEqual(["asked", "consent_shown"]);
    expect(kinds(await traceOf(other))).toEqual(["ask_refused"]);
  });
});

describe("the record of steps", () => {
  test("holds a count for a loop", async ({ expect }) => {
    const [client, from] = [newName("client"), teller()];
    const [one] = await tell(
      [asked(client), ...Array.from({ length: 40 }, () => noToken(client, "g"))],
      from,
    );
    const { steps } = await traceOf(one);
    expect(steps.map(({ times }) => times)).toEqual([1, 40]);
  });

  test("is asked once a minute for repeated requests of strangers", async ({ expect }) => {
    const store = records().store;
    const passing = vi.spyOn(store, "ephemeral");
    const address = newName("address");
    const step: LoginStep = { kind: "probed", path: "/.well-known/x", isFound: false };
    await tell([step, step], teller(address));
    await tell([step], teller(address));
    expect(passing).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + MINUTE);
    await tell([step], teller(address));
    expect(passing).toHaveBeenCalledTimes(2);
  });

  test("holds a limited number per address and minute", async ({ expect }) => {
    const passing = vi.spyOn(records().store, "ephemeral");
    const steps = Array.from({ length: 500 }, (_, n) => asked(`made-up-${n}`));
    await tell(steps);
    expect(passing).toHaveBeenCalledTimes(120);
  });

  test("ends an attempt at fifty steps, and begins another", async ({ expect }) => {
    const client = newName("client");
    const steps = Array.from({ length: 60 }, (): LoginStep => ({
      kind: "consent_shown",
      client,
    }));
    const references = await tell(steps);
    expect((await traceOf(references[0])).steps.length).toBe(50);
    expect((await traceOf(references[59])).steps.length).toBe(10);
  });

  test("holds two hundred attempts, and as many addresses, and drops the oldest", async ({
    expect,
  }) => {
    const shard = shardName("t", "somewhere");
    const names = (kind: "client" | "address"): readonly string[] => {
      const found: string[] = [];
      for (let n = 0; found.length < 210; n++) {
        const name = `crowd-of-${kind}-${n}`;
        if (shardName("t", `${kind}:${name}`) === shard) found.push(name);
      }
      return found;
    };
    const { traces } = records().store.ephemeral("somewhere");
    const note = (key: string, step: LoginStep): Promise<void> => {
      vi.setSystemTime(Date.now() + 1);
      const at = Date.now();
      return traces.note({ key, step, at, reference: newName("r"), address: "a", agent: "" });
    };
    const [clients, addresses] = [names("client"), names("address")];
    for (const client of clients) await note(`client:${client}`, asked(client));
    const challenged: LoginStep = { kind: "challenged", path: "/mcp" };
    for (const address of addresses) await note(`address:${address}`, challenged);
    const keys = (await traces.list(1000)).map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith("client:")).length).toBe(200);
    // Other tests have left attempts here, of no client too: it is not known which one is the last to go.
    expect(keys.filter((key) => !key.startsWith("client:")).length).toBe(200);
    for (const client of clients.slice(0, 10)) expect(keys).not.toContain(`client:${client}`);
    for (const client of clients.slice(-100)) expect(keys).toContain(`client:${client}`);
  });

  test("is deleted after a week", async ({ expect }) => {
    const client = newName("client");
    const [one = ""] = await tell([asked(client)]);
    vi.setSystemTime(Date.now() + 7 * DAY - 1);
    expect(kinds(await traceOf(one))).toEqual(["asked"]);
    vi.setSystemTime(Date.now() + 1);
    expect(await findLogin(records().store, one)).toBeUndefined();
    const { traces } = records().store.ephemeral(one);
    await traces.sweep();
    vi.setSystemTime(Date.now() - DAY);
    expect(await traces.find(one)).toBeUndefined();
  });

  test("holds the use of a token while an attempt is under way", async ({ expect }) => {
    const client = newName("client");
    const [none = ""] = await tell([used(client)]);
    expect(await findLogin(records().store, none)).toBeUndefined();
    const [one] = await tell([asked(client), used(client, "g")]);
    vi.setSystemTime(Date.now() + 61 * MINUTE);
    await tell([used(client, "g")]);
    expect((await traceOf(one)).steps.map(({ times }) => times)).toEqual([1, 1]);
  });
});

test("a refused token is attributed to a grant only if the application has it", async ({
  expect,
}) => {
  const steps: LoginStep[] = [];
  const to = gatewayWith({ steps });
  const { form, client, grant, verifier } = await newCode();
  const other = (await newClient()).client_id;
  const wrong = {
    ...form,
    code_verifier: verifier.replace(/./, (first) => (first === "a" ? "b" : "a")),
  };
  const madeUp = { ...form, code: `${form["code"]?.split(":")[0]}:made-up:${newName("secret")}` };
  for (const sent of [
    wrong,
    { ...form, client_id: other },
    madeUp,
    { ...form, client_id: "none" },
  ]) {
    expect((await requestToken(to, sent, fromElsewhere())).ok).toBe(false);
  }
  const marks = steps.map((step) => ({ client: undefined, grant: undefined, ...step }));
  expect(marks.map((step) => [step.client, step.grant])).toEqual([
    [client, grant],
    [other, undefined],
    [client, undefined],
    [undefined, undefined],
  ]);
  expect(steps.map((step) => ("reason" in step ? step.reason : undefined))).toEqual([
    ...["verifier", "other-client", undefined, "unknown-client"],
  ]);
});

test("a record that fails breaks no request, and is logged", async ({ expect }) => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const store = {
    ephemeral: () => {
      throw new Error("no object");
    },
  };
  const promises: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>): void => void promises.push(promise);
  const trace = traceInto({ store, waitUntil, address: newName("address"), agent: "" });
  expect(trace(asked("c"))).toMatch(/^\w{8}$/);
  await Promise.all(promises);
  expect(error).toHaveBeenCalledOnce();
});
