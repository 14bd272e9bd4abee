/** The prices of the benchmark's bill: none without a source, and none confirmed that is not. */

import { test } from "vitest";

import { PRICES, pricesInWords } from "../../../bench/prices.ts";

test("every price has a page of the platform's, and the day on which it was read", ({ expect }) => {
  for (const { source, readOn } of Object.values(PRICES)) {
    expect(source).toMatch(/^https:\/\/developers\.cloudflare\.com\/\S+\/pricing\/$/);
    expect(readOn).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});

test("pricesInWords() says all of them by source, and what nobody has confirmed", ({ expect }) => {
  const source = "https://example.com/";
  const said = pricesInWords([
    { perMillion: 0.3, unit: "request", source, readOn: "2026-01-02" },
    { perMillion: 2, unit: "row", source, readOn: "2026-01-02" },
    { perMillion: 7, unit: "wish", source, readOn: undefined },
  ]);
  expect(said).toEqual([
    "List prices: $0.3 for a million of: request, $2 for a million of: row (https://example.com/, as of 2026-01-02)",
    "List prices: $7 for a million of: wish (https://example.com/, NOT CONFIRMED)",
  ]);
  expect(pricesInWords().join("")).not.toContain("NOT CONFIRMED");
});
