/** The people who may sign in: exactly those who are listed, and none who only seem so. */

import { describe, test } from "vitest";

import {
  type AllowList,
  isAdmin,
  isLetIn,
  isEmptyList,
  NO_ONE_ALLOWED,
  type Applicant,
} from "../../../../src/auth/identity/allow-list.ts";

const person = (more: Partial<Applicant> = {}): Applicant => ({
  subject: "ann",
  groups: [],
  organizations: [],
  ...more,
});

interface Row {
  readonly name: string;
  readonly list: Partial<AllowList>;
  readonly person: Partial<Applicant>;
}

const ann = { email: "ann@example.com", domain: "example.com" };

describe("isAllowed() lets in by", () => {
  const rows: readonly Row[] = [
    { name: "an address", list: { emails: ["ann@example.com"] }, person: ann },
    { name: "an address in capitals", list: { emails: ["Ann@Example.COM"] }, person: ann },
    { name: "a domain", list: { domains: ["example.com"] }, person: ann },
    { name: "a domain in capitals", list: { domains: ["EXAMPLE.com"] }, person: ann },
    { name: "a group", list: { groups: ["b"] }, person: { groups: ["a", "b"] } },
    {
      name: "an organization",
      list: { organizations: ["Acme"] },
      person: { organizations: ["acme"] },
    },
    { name: "a subject", list: { subjects: ["ann"] }, person: {} },
  ];
  test.for(rows)("$name", (row, { expect }) => {
    expect(isLetIn({ ...NO_ONE_ALLOWED, ...row.list }, person(row.person))).toBe(true);
  });
});

describe("isAllowed() admits no person by", () => {
  const kelvin = { email: "mi\u212Ae@example.com", domain: "example.com" };
  const rows: readonly Row[] = [
    { name: "an empty list", list: {}, person: { ...ann, groups: ["a"], organizations: ["a"] } },
    {
      name: "no address",
      list: { emails: ["ann@example.com"], domains: ["example.com"] },
      person: {},
    },
    {
      name: "a subdomain",
      list: { domains: ["example.com"] },
      person: { domain: "a.example.com" },
    },
    {
      name: "a longer domain",
      list: { domains: ["example.com"] },
      person: { domain: "badexample.com" },
    },
    {
      name: "a part of an address",
      list: { emails: ["ann@example.com"] },
      person: { email: "joann@example.com" },
    },
    {
      name: "a letter that folds to another",
      list: { emails: ["mike@example.com"] },
      person: kelvin,
    },
    { name: "a group in capitals", list: { groups: ["admins"] }, person: { groups: ["Admins"] } },
    { name: "a subject in capitals", list: { subjects: ["ANN"] }, person: {} },
    { name: "a subject that looks like an address", list: { emails: ["ann"] }, person: {} },
    {
      name: "a group named like a domain",
      list: { domains: ["example.com"] },
      person: { groups: ["example.com"] },
    },
  ];
  test.for(rows)("$name", (row, { expect }) => {
    expect(isLetIn({ ...NO_ONE_ALLOWED, ...row.list }, person(row.person))).toBe(false);
  });
});

describe("isAdmin()", () => {
  test("knows administrators by address or subject", ({ expect }) => {
    expect(isAdmin(["Ann@Example.com"], person(ann))).toBe(true);
    expect(isAdmin(["ann"], person())).toBe(true);
    expect(isAdmin([], person(ann))).toBe(false);
    expect(isAdmin(["bob"], person(ann))).toBe(false);
  });

  test("takes no subject for an address", ({ expect }) => {
    const eve = person({ subject: "ann@example.com" });
    expect(isAdmin(["ann@example.com"], eve)).toBe(false);
  });
});

test("isEmptyList() is true of lists that admit no person", ({ expect }) => {
  expect(isEmptyList(NO_ONE_ALLOWED)).toBe(true);
  expect(isEmptyList({ ...NO_ONE_ALLOWED, groups: ["a"] })).toBe(false);
});
