/** Filling in a form: which of a page's is meant, and what a browser sends for it. */

import type { Form } from "./oauth-html.ts";

type Pair = [name: string, value: string];

export interface Submission {
  /** What is on the button; not needed when the form has one, or none. */
  readonly button?: string | RegExp;
  /** The path of the form's action; not needed when only one form has the button and the fields. */
  readonly action?: string;
  /** What to fill in, by the fields' names. Of boxes, those to be ticked; the others are cleared. */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
  /** Fields that no form has, and that are sent all the same. */
  readonly extra?: readonly Pair[];
  /** More headers, or others; `undefined` leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** @param where for the error when it is not one form, but none or several. */
export function pick(
  forms: readonly Form[],
  { button, action, fields = {} }: Submission,
  where: string,
): Form {
  const meant = forms.filter(
    (form) =>
      (action === undefined || new URL(form.action, "http://page").pathname === action) &&
      (button === undefined || form.buttons.some(({ label }) => isNamed(label, button))) &&
      Object.keys(fields).every((name) => form.controls.some((control) => control.name === name)),
  );
  const [form] = meant;
  if (form !== undefined && meant.length === 1) return form;
  const wanted = JSON.stringify({
    button: button?.toString(),
    action,
    fields: Object.keys(fields),
  });
  throw new Error(`${meant.length} forms for ${wanted} at ${where}`);
}

function isNamed(label: string, name: string | RegExp): boolean {
  return typeof name === "string" ? label === name : name.test(label);
}

/** HTML, constructing the form data set. */
export function dataOf(form: Form, { button, fields = {}, extra = [] }: Submission): Pair[] {
  const data: Pair[] = [];
  for (const { name, type, value, isChecked, options } of form.controls) {
    if (name === "") continue;
    const given = fields[name] === undefined ? undefined : [fields[name]].flat();
    if (type === "checkbox" || type === "radio") {
      if (given?.includes(value) ?? isChecked) data.push([name, value]);
    } else if (type === "select" && given?.some((one) => !options.includes(one)) === true) {
      throw new Error(`${name} offers ${options.join(", ")}, and not ${given.join(", ")}`);
    } else {
      data.push([name, given?.[0] ?? value]);
    }
  }
  checkBoxes(form, fields);
  if (button === undefined && form.buttons.length > 1) throw new Error("Which button?");
  const pressed = form.buttons.find(({ label }) => button === undefined || isNamed(label, button));
  if (pressed !== undefined && pressed.name !== "") data.push([pressed.name, pressed.value]);
  return [...data, ...extra];
}

/** A box that is not there cannot be ticked. */
function checkBoxes({ controls }: Form, fields: NonNullable<Submission["fields"]>): void {
  for (const [name, given] of Object.entries(fields)) {
    const named = controls.filter((control) => control.name === name);
    if (!named.every(({ type }) => type === "checkbox" || type === "radio")) continue;
    const missing = [given].flat().find((one) => !named.some(({ value }) => value === one));
    if (missing !== undefined) throw new Error(`${name} has no box for ${missing}`);
  }
}
