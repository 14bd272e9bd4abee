/** `Content-Type` and `Accept` (RFC 9110, 8.3 and 12.5.1). */

import { describe, test } from "vitest";

import { accepts, mediaType } from "../../../src/lib/media-type.ts";

describe("mediaType()", () => {
  test.for([
    { header: "application/json", type: "application/json" },
    { header: "Application/JSON; charset=utf-8", type: "application/json" },
    { header: " text/event-stream ;x=1;y=2", type: "text/event-stream" },
    { header: "application/json;", type: "application/json" },
    { header: "application/jsonp", type: "application/jsonp" },
    { header: "", type: "" },
    { header: null, type: "" },
  ])("of $header is $type", ({ header, type }, { expect }) => {
    expect(mediaType(header)).toBe(type);
  });
});

describe("accepts()", () => {
  test.for([
    { header: "application/json", json: true, sse: false },
    { header: "application/json, text/event-stream", json: true, sse: true },
    { header: "text/event-stream,application/json;q=0.5", json: true, sse: true },
    { header: "TEXT/Event-Stream ; q=1", json: false, sse: true },
    { header: "application/*", json: true, sse: false },
    { header: "text/*, application/json", json: true, sse: true },
    { header: "*/*", json: true, sse: true },
    { header: "*/*;q=0", json: false, sse: false },
    { header: "*/*;q=0.0", json: false, sse: false },
    { header: "*/*;q=0.001", json: true, sse: true },
    { header: "application/json;q=0, text/event-stream", json: false, sse: true },
    { header: "*/*;q=0, application/json", json: true, sse: false },
    // The most specific range decides, wherever it stands.
    { header: "application/json;q=0, */*", json: false, sse: true },
    { header: "*/*, text/*;q=0", json: true, sse: false },
    { header: "application/jsonp, text/event-stream-2", json: false, sse: false },
    { header: "text/html", json: false, sse: false },
    { header: ",,", json: false, sse: false },
    { header: "", json: false, sse: false },
    { header: null, json: false, sse: false },
  ])("$header: JSON $json, events $sse", ({ header, json, sse }, { expect }) => {
    expect(accepts(header, "application/json")).toBe(json);
    expect(accepts(header, "text/event-stream")).toBe(sse);
  });
});
