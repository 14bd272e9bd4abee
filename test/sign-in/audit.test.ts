/** The audit log: the last thousand lines of each user, the same lines in the log, and no more. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, test, vi } from "vitest";

import { AuditLog } from "../../src/auth/store/audit-log.ts";
import { AUDIT_EVENTS, type AuditEvent, auditLine } from "../../src/observability/audit.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { Person } from "./people.ts";
import { Visitor } from "./visitor.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The log entries from now on. */
function logged(): () => readonly string[] {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  return () => log.mock.calls.map((values) => values.map(String).join(" "));
}

describe("the audit lines of a user", () => {
  test("are the newest thousand of that user, however many others have", async ({ expect }) => {
    logged();
    const [ann, bob] = ["u_ann", "u_bob"];
    await runInDurableObject(env.AUTH.getByName("u0"), (_, { storage }) => {
      const audit = new AuditLog(storage.sql);
      for (let n = 0; n < 1100; n++) {
        audit.append(ann, "key_used", { key: `ann ${n}` });
        if (n % 2 === 0) audit.append(bob, "key_used", { key: `bob ${n}` });
      }
      const keysOf = (user: string, limit?: number): readonly (string | undefined)[] =>
        audit.list(user, limit).map(({ detail }) => detail.key);
      const [anns, bobs] = [keysOf(ann), keysOf(bob)];
      expect([anns.length, bobs.length]).toEqual([1000, 550]);
      expect([anns[0], anns[999]]).toEqual(["ann 1099", "ann 100"]);
      expect([bobs[0], bobs[549]]).toEqual(["bob 1098", "bob 0"]);
      expect(keysOf(ann, 3)).toEqual(["ann 1099", "ann 1098", "ann 1097"]);
      expect(keysOf("u_nobody")).toEqual([]);
      const kept = storage.sql.exec("SELECT COUNT(*) AS n FROM audit_1 WHERE user = ?", ann);
      expect(kept.one()).toEqual({ n: 1000 });
    });
  });

  test("are in the log as well, one line of JSON each", async ({ expect }) => {
    const lines = logged();
    const ann = await Person.signIn();
    await ann.shard.audit.append(ann.id, "signed_in", { provider: "owner", address: "192.0.2.1" });
    const { at, ...entry } = (await ann.shard.audit.list(ann.id))[0] ?? { at: 0 };
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000);
    const detail = { provider: "owner", address: "192.0.2.1" };
    expect(entry).toEqual({ event: "signed_in", detail });
    expect(lines().map((line) => JSON.parse(line) as unknown)).toEqual([
      { event: "audit", what: "signed_in", user: ann.id, ...detail },
    ]);
  });
});

describe("B57: the name that a stranger chooses,", () => {
  test.for([
    "https://h.example/x\n[ERROR] forged",
    'a\r\n{"event":"audit","what":"signed_in"}',
    "\u2028[ERROR] forged",
    "\u001b[2Kforged",
    "\u202eforged",
    `","what":"signed_in","x":"`,
    "x".repeat(10_000),
  ])("%j, forges no line", async (text, { expect }) => {
    const lines = logged();
    auditLine(text, "denied", { application: text, reason: text });
    const ann = await Person.signIn();
    await ann.shard.audit.append(ann.id, "denied", { application: text });
    const all = lines();
    expect(all.length).toBe(2);
    for (const line of all) {
      // oxlint-disable-next-line no-control-regex -- those are what is looked for
      expect(line).not.toMatch(/[\u0000-\u001f\u007f\u2028\u202e]/u);
      expect(line.length).toBeLessThan(1000);
      expect(JSON.parse(line)).toMatchObject({ event: "audit", what: "denied" });
    }
    const [entry] = await ann.shard.audit.list(ann.id);
    // oxlint-disable-next-line no-control-regex -- those are what is looked for
    expect(entry?.detail.application).not.toMatch(/[\u0000-\u001f\u007f\u2028\u202e]/u);
  });
});

test("every event is shown to the user in a sentence of the gateway", async ({ expect }) => {
  logged();
  const ann = await Visitor.arrive();
  const events = Object.keys(AUDIT_EVENTS) as AuditEvent[];
  for (const event of events) await ann.shard.audit.append(ann.person.id, event);
  const { text } = await ann.visit(PATHS.account);
  for (const { meaning } of Object.values(AUDIT_EVENTS)) expect(text).toContain(meaning);
  expect(text).toContain("Denied · A code was sent twice");
  expect(text).not.toContain("Denied · Signed in");
});
