/** The forms of a page, as a person finds them: by the names that are on them. */

interface Control {
  /** `text`, `password`, `hidden`, `checkbox`, `radio`, `select`, … */
  readonly type: string;
  readonly name: string;
  readonly value: string;
  /** Of a box: whether it has its tick. */
  readonly isChecked: boolean;
  /** The accessible name. */
  readonly label: string;
  /** The values that a `select` offers. */
  readonly options: readonly string[];
}

interface Button {
  readonly name: string;
  readonly value: string;
  /** The accessible name. */
  readonly label: string;
}

export interface Form {
  readonly action: string;
  readonly method: "get" | "post";
  readonly controls: readonly Control[];
  readonly buttons: readonly Button[];
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Attributes = ReadonlyMap<string, string>;
interface Label {
  readonly for: string | undefined;
  text: string;
  control?: Writable<Control>;
}

const TOKEN =
  /<!--[^]*?-->|<!doctype[^>]*>|<(style|script)\b[^>]*>[^]*?<\/\1\s*>|<(\/?)([a-z][a-z0-9-]*)((?:\s+[^\s=>/"']+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?)*)\s*\/?>|[^<]+/gi;
const ATTRIBUTE = /([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/g;
const NAMED = new Map([...Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" })]);

function decodeHtml(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return NAMED.get(name) ?? all;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** What is written on a page, or in a part of it, without its markup. */
export function textOf(html: string): string {
  const texts = Array.from(html.matchAll(TOKEN), ([token]) => (token.startsWith("<") ? "" : token));
  return tidy(decodeHtml(texts.join("")));
}

function tidy(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function attributesOf(text: string): Attributes {
  return new Map(
    Array.from(text.matchAll(ATTRIBUTE), ([, name = "", ...values]) => [
      name.toLowerCase(),
      decodeHtml(values.find((value) => value !== undefined) ?? ""),
    ]),
  );
}

/** Good for the pages of the gateway, which are written well; it is no browser. */
export function formsOf(html: string): readonly Form[] {
  const forms: Form[] = [];
  const labels: Label[] = [];
  const byId = new Map<string, Writable<Control>>();
  let form: { controls: Control[]; buttons: Button[] } | undefined;
  let button: Writable<Button> | undefined;
  let select: (Writable<Control> & { options: string[] }) | undefined;
  let label: Label | undefined;
  let textarea: Writable<Control> | undefined;

  function addControl(type: string, attributes: Attributes): Writable<Control> {
    const control = {
      type,
      name: attributes.get("name") ?? "",
      value: attributes.get("value") ?? (type === "checkbox" ? "on" : ""),
      isChecked: attributes.has("checked"),
      label: attributes.get("aria-label") ?? "",
      options: [],
    };
    byId.set(attributes.get("id") ?? "", control);
    if (label !== undefined) label.control = control;
    if (!attributes.has("disabled")) form?.controls.push(control);
    return control;
  }

  function open(name: string, attributes: Attributes): void {
    if (name === "form") {
      const method = attributes.get("method")?.toLowerCase() === "post" ? "post" : "get";
      const opened = { controls: [], buttons: [] };
      form = opened;
      forms.push({ action: attributes.get("action") ?? "", method, ...opened });
    } else if (name === "input") {
      addControl(attributes.get("type")?.toLowerCase() ?? "text", attributes);
    } else if (name === "textarea") {
      textarea = addControl("textarea", attributes);
    } else if (name === "select") {
      select = Object.assign(addControl("select", attributes), { options: [] as string[] });
    } else if (name === "option" && select !== undefined) {
      const value = attributes.get("value") ?? "";
      if (select.options.length === 0 || attributes.has("selected")) select.value = value;
      select.options.push(value);
    } else if (name === "label") {
      label = { for: attributes.get("for"), text: "" };
      labels.push(label);
    } else if (name === "button") {
      const label = attributes.get("aria-label") ?? "";
      button = { name: attributes.get("name") ?? "", value: attributes.get("value") ?? "", label };
      if (!attributes.has("disabled")) form?.buttons.push(button);
    }
  }

  function close(name: string): void {
    if (name === "form") form = undefined;
    else if (name === "select") select = undefined;
    else if (name === "label") label = undefined;
    else if (name === "textarea") textarea = undefined;
    else if (name === "button" && button !== undefined) {
      button.label = tidy(button.label);
      button = undefined;
    }
  }

  for (const [token, , slash, name, rest = ""] of html.matchAll(TOKEN)) {
    if (name !== undefined) {
      if (slash === "/") close(name.toLowerCase());
      else open(name.toLowerCase(), attributesOf(rest));
    } else if (!token.startsWith("<")) {
      // A newline right behind the tag is not part of the text (HTML, the textarea element).
      if (textarea !== undefined) textarea.value = decodeHtml(token).replace(/^\n/, "");
      if (button !== undefined) button.label += decodeHtml(token);
      if (label !== undefined) label.text += decodeHtml(token);
    }
  }
  for (const { for: id, text, control } of labels) {
    const labelled = id === undefined ? control : byId.get(id);
    if (labelled !== undefined && labelled.label === "") labelled.label = tidy(text);
  }
  return forms;
}
