/** Pins: literal wire values of methods, revisions and error codes. A change here breaks peers. */

import { describe, test } from "vitest";

import {
  ErrorCode,
  isModernErrorCode,
  modernHttpStatus,
} from "../../../src/protocol/error-codes.ts";
import { Meta } from "../../../src/protocol/envelope.ts";
import { isCacheable, isServed } from "../../../src/protocol/methods.ts";
import { mirroredNameOf } from "../../../src/protocol/mirrored-name.ts";
import {
  allowsBatches,
  allowsPriming,
  claimsModernEra,
  isLegacyRevision,
  isModernRevision,
  LATEST_MODERN,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  negotiate,
} from "../../../src/protocol/revisions.ts";

describe("methods", () => {
  test.for([
    { method: "initialize", eras: ["legacy"] },
    { method: "ping", eras: ["legacy"] },
    { method: "server/discover", eras: ["modern"], cacheable: true },
    { method: "tools/list", eras: ["legacy", "modern"], cacheable: true },
    { method: "tools/call", eras: ["legacy", "modern"], mirrors: "name" },
    { method: "resources/list", eras: ["legacy", "modern"], cacheable: true },
    { method: "resources/templates/list", eras: ["legacy", "modern"], cacheable: true },
    { method: "resources/read", eras: ["legacy", "modern"], cacheable: true, mirrors: "uri" },
    { method: "resources/subscribe", eras: ["legacy"] },
    { method: "resources/unsubscribe", eras: ["legacy"] },
    { method: "prompts/list", eras: ["legacy", "modern"], cacheable: true },
    { method: "prompts/get", eras: ["legacy", "modern"], mirrors: "name" },
    { method: "completion/complete", eras: ["legacy", "modern"] },
    { method: "logging/setLevel", eras: ["legacy"] },
    { method: "subscriptions/listen", eras: ["modern"] },
    // The extension for tasks; what else tasks of 2025-11-25 have is gone.
    ...["tasks/get", "tasks/update", "tasks/cancel"].map((method) => ({
      ...{ method, eras: ["modern"], mirrors: "taskId" },
    })),
    ...["tasks/list", "tasks/result"].map((method) => ({ method, eras: [] })),
    // Members of Object.prototype, and methods of clients, are no methods of ours.
    ...["constructor", "__proto__", "toString", "", "Tools/List", "sampling/createMessage"].map(
      (method) => ({ method, eras: [] }),
    ),
  ])("$method: $eras", ({ method, eras, ...facts }, { expect }) => {
    expect({
      eras: (["legacy", "modern"] as const).filter((era) => isServed(method, era)),
      cacheable: isCacheable(method),
      mirrors: mirroredNameOf(method),
    }).toEqual({
      eras,
      cacheable: "cacheable" in facts,
      mirrors: "mirrors" in facts ? facts.mirrors : undefined,
    });
  });
});

test("error codes and the status that carries them", ({ expect }) => {
  expect(ErrorCode).toEqual({
    ParseError: -32700,
    InvalidRequest: -32600,
    MethodNotFound: -32601,
    InvalidParams: -32602,
    InternalError: -32603,
    Transport: -32000,
    SessionNotFound: -32001,
    ResourceNotFound: -32002,
    HeaderMismatch: -32020,
    MissingRequiredClientCapability: -32021,
    UnsupportedProtocolVersion: -32022,
    UrlElicitationRequired: -32042,
  });
  const statuses = Object.values(ErrorCode).map((code) => [code, modernHttpStatus(code)]);
  expect(Object.fromEntries(statuses)).toEqual({
    [-32700]: 200,
    [-32600]: 200,
    [-32601]: 404,
    [-32602]: 200,
    [-32603]: 200,
    [-32000]: 200,
    [-32001]: 200,
    [-32002]: 200,
    [-32020]: 400,
    [-32021]: 400,
    [-32022]: 400,
    [-32042]: 200,
  });
  // The numbers of the drafts prove nothing: -32001 is an SDK's "Session not found".
  const proofs = [-32019, -32020, -32021, -32022, -32023, -32001, -32003, -32004];
  expect(proofs.filter(isModernErrorCode)).toEqual([-32020, -32021, -32022]);
});

test("_meta keys", ({ expect }) => {
  expect(Meta).toEqual({
    protocolVersion: "io.modelcontextprotocol/protocolVersion",
    clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
    clientInfo: "io.modelcontextprotocol/clientInfo",
    logLevel: "io.modelcontextprotocol/logLevel",
    serverInfo: "io.modelcontextprotocol/serverInfo",
    subscriptionId: "io.modelcontextprotocol/subscriptionId",
  });
});

describe("revisions", () => {
  test("are these five, and no other", ({ expect }) => {
    expect(LEGACY_REVISIONS).toEqual(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
    expect(MODERN_REVISIONS).toEqual(["2026-07-28"]);
    expect(LATEST_MODERN).toBe("2026-07-28");
    for (const value of [...LEGACY_REVISIONS, ...MODERN_REVISIONS, "2024-10-07", "", null, 5]) {
      expect(isLegacyRevision(value)).toBe(
        (LEGACY_REVISIONS as readonly unknown[]).includes(value),
      );
      expect(isModernRevision(value)).toBe(value === "2026-07-28");
    }
  });

  test.for([
    { requested: "2024-11-05", answer: "2024-11-05" },
    { requested: "2025-03-26", answer: "2025-03-26" },
    { requested: "2025-06-18", answer: "2025-06-18" },
    { requested: "2025-11-25", answer: "2025-11-25" },
    { requested: "2026-07-28", answer: "2025-11-25" },
    { requested: "1999-01-01", answer: "2025-11-25" },
    { requested: undefined, answer: "2025-11-25" },
    { requested: 20251125, answer: "2025-11-25" },
  ])("initialize at $requested is answered with $answer", ({ requested, answer }, { expect }) => {
    expect(negotiate(requested)).toBe(answer);
  });

  test.for([
    { value: "2026-07-27", isModern: false },
    { value: "2026-07-28", isModern: true },
    { value: "2027-01-01", isModern: true },
    { value: "2025-11-25", isModern: false },
    { value: "v999.0.0", isModern: false },
    { value: "DRAFT-2026-v1", isModern: false },
    { value: "2026-07-28 ", isModern: false },
    { value: "", isModern: false },
  ])('"$value" claims the modern era: $isModern', ({ value, isModern }, { expect }) => {
    expect(claimsModernEra(value)).toBe(isModern);
  });

  test("batches are of 2025-03-26 alone, priming begins with 2025-11-25", ({ expect }) => {
    expect(LEGACY_REVISIONS.filter(allowsBatches)).toEqual(["2025-03-26"]);
    expect(LEGACY_REVISIONS.filter(allowsPriming)).toEqual(["2025-11-25"]);
  });
});
