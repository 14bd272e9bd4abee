/**
 * A person at a browser without a script, who types and reads. A test has them do it at once; with `PACE=person`
 * they take 200 ms for a key and two seconds for a page, so that a walk takes the time that it takes a person.
 */

import type { Browser, Page } from "playwright-core";

const isHuman = process.env["PACE"] === "person";
const KEY_MS = 200;
const PAGE_MS = 2000;

export class Person {
  readonly page: Page;
  readonly #origin: string;

  constructor(page: Page, origin: string) {
    this.page = page;
    this.#origin = origin;
  }

  static async at(browser: Browser, origin: string): Promise<Person> {
    const context = await browser.newContext({ javaScriptEnabled: false });
    return new Person(await context.newPage(), origin);
  }

  /** Types the address of a page of the gateway. */
  async goes(path: string): Promise<void> {
    const { href } = new URL(path, this.#origin);
    if (isHuman) await this.page.waitForTimeout(href.length * KEY_MS);
    await this.arrives(href);
  }

  /** An application opens a page for them. */
  async arrives(url: string): Promise<void> {
    await this.page.goto(url);
    await this.#reads();
  }

  async follows(name: string | RegExp): Promise<void> {
    await this.page.getByRole("link", { name }).first().click();
    await this.#reads();
  }

  async types(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).fill("");
    await this.page.getByLabel(label).pressSequentially(text, { delay: isHuman ? KEY_MS : 0 });
  }

  /** Copies a text from elsewhere, as people do with a code. */
  async pastes(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).fill(text);
  }

  async presses(name: string | RegExp): Promise<void> {
    await this.page.getByRole("button", { name }).click();
    await this.#reads();
  }

  async #reads(): Promise<void> {
    if (isHuman) await this.page.waitForTimeout(PAGE_MS);
  }
}
