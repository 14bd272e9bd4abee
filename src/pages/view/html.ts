/** Markup as tagged templates: every value is escaped, unless it is markup already. */

import { html as template } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

export type Html = HtmlEscapedString;

type Value = Html | string | number | undefined | false | readonly Html[];

/** Characters that reorder the text around them, which no escaping makes harmless. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Hono's template, restricted to available values: a view does not wait. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const made = template(strings, ...values.map(straighten));
  if (made instanceof Promise) throw new TypeError("A view has no promises in it");
  return made;
}

/** Markup is a `String` object, so a primitive string is text. */
function straighten(value: Value): Value {
  return typeof value === "string" ? value.replace(TURNING, "") : value;
}
