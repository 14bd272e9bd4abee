/**
 * Matches URIs with URI templates (RFC 6570, levels 1 to 3). A match only decides which server is asked,
 * so a variable matches whatever servers in the field accept, which is more than the RFC expands it to.
 * Servers choose the templates and clients the URIs, so no template becomes a regular expression: the
 * time is at most the product of both lengths.
 */

import type { Item } from "../catalog.ts";

/** A template with more expressions is not matched: it is written to cost time. */
const MAX_EXPRESSIONS = 8;
/** Longer templates are not matched. */
const MAX_TEMPLATE_CHARS = 2048;
/** The limit for one server; the first in its order are matched. */
const MAX_TEMPLATES = 1000;

/** @returns the templates of a server by which requests are routed. */
export function routableTemplates(templates: readonly Item[]): readonly Item[] {
  return templates
    .filter(({ name }) => name.length <= MAX_TEMPLATE_CHARS && !UriTemplate.isCostly(name))
    .slice(0, MAX_TEMPLATES);
}

/** @returns a sentence for the user if no request is routed by some of a server's templates. */
export function templateFlaws(slug: string, templates: readonly Item[]): readonly string[] {
  const others = templates.length - routableTemplates(templates).length;
  if (others === 0) return [];
  return [
    `Upstream "${slug}" has ${others} resource templates that are listed but find no resource: the first ${MAX_TEMPLATES} do, of ${MAX_EXPRESSIONS} expressions and ${MAX_TEMPLATE_CHARS} characters at most`,
  ];
}

interface Literal {
  readonly kind: "literal";
  /** The text as it stands and, if different, as RFC 6570 expands it. */
  readonly texts: readonly string[];
}

/** Matches one expression: nothing, or the prefix and any characters except the excluded ones. */
interface Wild {
  readonly kind: "wild";
  readonly prefix: string;
  readonly excluded: string;
}

type Part = Literal | Wild;

/** By the operator of an expression. */
const OPERATORS: Readonly<Record<string, Omit<Wild, "kind">>> = {
  "": { prefix: "", excluded: "/?#" },
  "+": { prefix: "", excluded: "" },
  "#": { prefix: "#", excluded: "" },
  ".": { prefix: ".", excluded: "/?#" },
  "/": { prefix: "/", excluded: "/?#" },
  ";": { prefix: ";", excluded: "/?#" },
  "?": { prefix: "?", excluded: "#" },
  "&": { prefix: "&", excluded: "#" },
};

export class UriTemplate {
  readonly #parts: readonly Part[];
  /** The largest number of steps for each character of a URI. */
  readonly #weight: number;

  private constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#weight = 1;
    for (const part of parts) this.#weight += part.kind === "wild" ? 1 : weightOf(part);
  }

  /** The literal beginning of each URI that fits, as it stands and as RFC 6570 expands it. */
  static beginning(text: string): { readonly prefix: string; readonly encoded: string } {
    const brace = text.indexOf("{");
    const prefix = brace === -1 ? text : text.slice(0, brace);
    return { prefix, encoded: encode(prefix) };
  }

  /** @returns `undefined` for an invalid or costly template: no URI fits it. */
  static parse(text: string): UriTemplate | undefined {
    if (UriTemplate.isCostly(text)) return undefined;
    // Literals are at even places, expressions between them.
    const pieces = text.split(/\{([^{}]*)\}/);
    const parts: Part[] = [];
    for (const [place, piece] of pieces.entries()) {
      const part = place % 2 === 0 ? parseLiteral(piece) : parseExpression(piece);
      if (part === undefined) return undefined;
      if (part.kind === "wild" || part.texts[0] !== "") parts.push(part);
    }
    return new UriTemplate(parts);
  }

  static isCostly(text: string): boolean {
    return text.split("{", MAX_EXPRESSIONS + 2).length > MAX_EXPRESSIONS + 1;
  }

  /** A URI that fits, with the value "1" for every expression. */
  get example(): string {
    return this.#parts
      .map((part) => (part.kind === "literal" ? (part.texts[0] ?? "") : `${part.prefix}1`))
      .join("");
  }

  /** The largest number of steps of a match with the URI. */
  costOf(uri: string): number {
    return this.#weight * uri.length;
  }

  matches(uri: string): boolean {
    /** 1 at each position of the URI where the parts so far may end. */
    let reached: Uint8Array = new Uint8Array(uri.length + 1);
    reached[0] = 1;
    for (const part of this.#parts) {
      reached =
        part.kind === "literal" ? overLiteral(part, uri, reached) : overWild(part, uri, reached);
    }
    return reached[uri.length] === 1;
  }
}

/** The platform compares several characters of a text at once. */
function weightOf({ texts }: Literal): number {
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / 16), 0);
}

function overLiteral({ texts }: Literal, uri: string, reached: Uint8Array): Uint8Array {
  const next = new Uint8Array(reached.length);
  for (let at = reached.indexOf(1); at !== -1; at = reached.indexOf(1, at + 1)) {
    for (const text of texts) if (uri.startsWith(text, at)) next[at + text.length] = 1;
  }
  return next;
}

function overWild({ prefix, excluded }: Wild, uri: string, reached: Uint8Array): Uint8Array {
  const next = new Uint8Array(reached.length);
  let isInside = false;
  for (let at = 0; at < next.length; at++) {
    isInside ||=
      reached[prefix === "" ? at : at - 1] === 1 && uri.startsWith(prefix, at - prefix.length);
    if (isInside || reached[at] === 1) next[at] = 1;
    if (excluded.includes(uri.charAt(at))) isInside = false;
  }
  return next;
}

function parseLiteral(text: string): Literal | undefined {
  if (/[{}]/.test(text)) return undefined;
  const encoded = encode(text);
  return { kind: "literal", texts: encoded === text ? [text] : [text, encoded] };
}

/** Escapes characters that a URI cannot contain; existing escapes stay (RFC 6570, 3.1). */
function encode(text: string): string {
  return encodeURI(text.toWellFormed()).replaceAll("%25", "%");
}

function parseExpression(text: string): Wild | undefined {
  const [, operator = "", list = ""] = /^([+#./;?&]?)(.*)$/s.exec(text) ?? [];
  const variables = list.split(",");
  // A name does not begin with a reserved operator either (RFC 6570, 2.2).
  if (variables.some((variable) => !/^[^=!@|+#./;?&*:][^*:]*(?:\*|:\d{1,4})?$/s.test(variable)))
    return undefined;
  const facts = OPERATORS[operator];
  if (facts === undefined) return undefined;
  // Several values, and lists, expand one after the other.
  const isSeveral = variables.length > 1 || list.endsWith("*");
  const excluded = operator === "/" && isSeveral ? "?#" : facts.excluded;
  return { kind: "wild", prefix: facts.prefix, excluded };
}
