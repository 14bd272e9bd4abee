/** A person with a browser, an application and a session of it at a server that demands an account of each. */

import type { VendorUser } from "../support/vendor/script.ts";
import type { Json } from "../support/scripted-upstream-script.ts";
import { type Headers, modern, Session } from "../integration/client.ts";
import { type Message, responseIn } from "../integration/event-reader.ts";
import { ORIGIN } from "./gateway.ts";
import { as } from "./people.ts";
import { Visitor } from "./visitor.ts";

/** As a client that opens pages says it. */
const OPENS_PAGES = { elicitation: { form: {}, url: {} } };

export class AccountHolder {
  readonly slug: string;
  readonly visitor: Visitor;
  readonly session: Session;
  readonly #headers: Headers;

  private constructor(slug: string, visitor: Visitor, session: Session, headers: Headers) {
    this.slug = slug;
    this.visitor = visitor;
    this.session = session;
    this.#headers = headers;
  }

  /** Somebody whom no other test knows, and who has connected nothing; or who comes back with another browser. */
  static async arrive(slug: string, known?: Visitor): Promise<AccountHolder> {
    const visitor = known ?? (await Visitor.arrive());
    const path = `/mcp/${slug}`;
    const headers = as((await visitor.person.key({ path })).token);
    const session = await Session.open(ORIGIN + path, { headers });
    return new AccountHolder(slug, visitor, session, headers);
  }

  /** The pages of their account at the server. */
  get page(): string {
    return `/connect/${this.slug}`;
  }

  /** Begins to connect an account, and approves it as this user of the vendor. @returns the callback. */
  async begin(user: VendorUser): Promise<string> {
    const { left } = await this.visitor.submit(this.page, { action: this.page });
    if (left === undefined) throw new Error("Not sent to the vendor");
    left.searchParams.set("user", user);
    const approved = await fetch(left, { redirect: "manual" });
    return approved.headers.get("location") ?? "";
  }

  async connect(user: VendorUser): Promise<void> {
    const { status, text } = await this.visitor.visit(await this.begin(user));
    if (status !== 200) throw new Error(`Not connected: ${text}`);
  }

  async legacy(method: string, params: Json = {}): Promise<Message> {
    return responseIn(await this.session.request(method, params));
  }

  /** As a client of 2026-07-28 that opens pages. */
  async modern(method: string, params: Json = {}): Promise<Message> {
    const options = { headers: this.#headers, capabilities: OPENS_PAGES };
    return responseIn(await modern({ mcp: this.session.path }, method, params, options));
  }

  /** @returns the text of the tool's result. */
  async use(name = "whoami"): Promise<string> {
    const { result } = await this.legacy("tools/call", { name, arguments: {} });
    return JSON.stringify(result?.["content"]);
  }

  /** The names of the tools that a client of each era is shown. */
  async tools(): Promise<readonly (readonly string[])[]> {
    const answers = await Promise.all([this.legacy("tools/list"), this.modern("tools/list")]);
    return answers.map(({ result }) => {
      const { tools } = result as unknown as { readonly tools: readonly { name: string }[] };
      return tools.map(({ name }) => name);
    });
  }
}
