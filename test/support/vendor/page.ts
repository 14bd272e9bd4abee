/** The page on which a person says who they are, and approves or declines. */

import type { Answer } from "./answering.ts";

export function approvalPage(client: string, asked: URLSearchParams, method: string): Answer {
  if (method !== "GET") return { status: 400, text: "Nobody has said who they are" };
  const hidden = [...asked].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  const text = `<!doctype html>
<html lang="en"><title>Vendor</title>
<h1>Vendor</h1>
<p>${escaped(client)} wants to use your account.</p>
<form method="post" action="/authorize">${hidden.join("")}
<button name="user" value="alice">Approve as Alice</button>
<button name="user" value="bob">Approve as Bob</button>
<button name="user" value="nobody">Decline</button>
</form></html>
`;
  return { status: 200, headers: { "Content-Type": "text/html; charset=utf-8" }, text };
}

function escaped(text: string): string {
  return text.replaceAll(/[<>&"]/g, (sign) => `&#${sign.codePointAt(0) ?? 0};`);
}
