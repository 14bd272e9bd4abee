/**
 * Whether a URI may have come from a URI template (RFC 6570, levels 1 to 3). It decides whom to ask,
 * and no more: a variable takes what servers of the field let it take, which is more than what the
 * RFC makes of one, and the server judges the rest. There is no regular expression in it, since
 * servers choose the templates and clients the URIs: time is the product of both lengths at most.
 */

/** The limit for one template: more are written to cost time. */
export const MAX_EXPRESSIONS = 8;

interface Literal {
  readonly kind: "literal";
  /** As it stands, and as the RFC expands it, where that is not the same. */
  readonly texts: readonly string[];
}

/** What stands for one expression: nothing, or the prefix and any characters but some. */
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
  /** The steps that each character of a URI takes at worst. */
  readonly #weight: number;

  private constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#weight = 1;
    for (const part of parts) this.#weight += part.kind === "wild" ? 1 : weightOf(part);
  }

  /** What a URI begins with that fits, as it stands and as the RFC expands it. */
  static beginning(text: string): { readonly prefix: string; readonly encoded: string } {
    const brace = text.indexOf("{");
    const prefix = brace === -1 ? text : text.slice(0, brace);
    return { prefix, encoded: encode(prefix) };
  }

  /** @returns `undefined` for what is no template: nothing fits it. */
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

  /** A URI that fits: every expression has the value "1". */
  get example(): string {
    return this.#parts
      .map((part) => (part.kind === "literal" ? (part.texts[0] ?? "") : `${part.prefix}1`))
      .join("");
  }

  /** The steps that a match of the URI takes at worst. */
  costOf(uri: string): number {
    return this.#weight * uri.length;
  }

  matches(uri: string): boolean {
    /** The places of the URI up to which the parts so far may reach. */
    let reached: Uint8Array = new Uint8Array(uri.length + 1);
    reached[0] = 1;
    for (const part of this.#parts) {
      reached =
        part.kind === "literal" ? overLiteral(part, uri, reached) : overWild(part, uri, reached);
    }
    return reached[uri.length] === 1;
  }
}

/** Of texts, several characters are compared at once. */
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

/** What a URI cannot carry is escaped; what is escaped already stays (RFC 6570, 3.1). */
function encode(text: string): string {
  return encodeURI(text.toWellFormed()).replaceAll("%25", "%");
}

function parseExpression(text: string): Wild | undefined {
  const [, operator = "", list = ""] = /^([+#./;?&]?)(.*)$/s.exec(text) ?? [];
  const variables = list.split(",");
  // Operators that are kept for later (RFC 6570, 2.2) begin no name either.
  if (variables.some((variable) => !/^[^=!@|+#./;?&*:][^*:]*(?:\*|:\d{1,4})?$/s.test(variable)))
    return undefined;
  const facts = OPERATORS[operator];
  if (facts === undefined) return undefined;
  // Several values, and lists, are one after the other.
  const isSeveral = variables.length > 1 || list.endsWith("*");
  const excluded = operator === "/" && isSeveral ? "?#" : facts.excluded;
  return { kind: "wild", prefix: facts.prefix, excluded };
}
