/** A person with a browser that is signed in already: how one gets there is tested elsewhere. */

import { Browser, type Page } from "../support/oauth-browser.ts";
import type { Submission } from "../support/oauth-forms.ts";
import { gateway, ORIGIN } from "./gateway.ts";
import { Person, records, ROOT_EMAIL } from "./people.ts";

export const SESSION_COOKIE = "__Host-edgeway-session";
const AGENT =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";

export interface VisitorOptions {
  readonly isAdmin?: boolean;
  /** When they proved who they are; just now by default. */
  readonly authenticatedAt?: number;
}

export class Visitor {
  readonly person: Person;
  readonly browser: Browser;
  /** Of the session, in the browser's cookie. */
  readonly secret: string;

  private constructor(person: Person, browser: Browser, secret: string) {
    this.person = person;
    this.browser = browser;
    this.secret = secret;
  }

  /** Somebody whom no other test knows. */
  static async arrive({ isAdmin = false, ...options }: VisitorOptions = {}): Promise<Visitor> {
    const person = await Person.signIn();
    if (isAdmin) await person.shard.users.change(person.id, { email: ROOT_EMAIL });
    return Visitor.as(person, options);
  }

  /** Another browser of a person. */
  static async as(person: Person, options: VisitorOptions = {}): Promise<Visitor> {
    const { authenticatedAt = Date.now() } = options;
    const secret = await person.shard.sessions.open(person.id, {
      ...{ authenticatedAt, agent: AGENT },
      ...person.remembered,
    });
    const browser = new Browser(ORIGIN, gateway.send);
    browser.jar.take(new URL(ORIGIN), [`${SESSION_COOKIE}=${secret}; Path=/; Secure; HttpOnly`]);
    return new Visitor(person, browser, secret);
  }

  get shard(): Person["shard"] {
    return this.person.shard;
  }

  visit(path: string): Promise<Page> {
    return this.browser.visit(path);
  }

  /** Loads a page and sends a form of it. */
  async submit(path: string, submission: Submission): Promise<Page> {
    return this.browser.submit(await this.visit(path), submission);
  }

  /** What forms of this session carry. */
  async formToken(): Promise<string> {
    return (await records().secrets()).formToken(this.secret);
  }

  /** Sends a form that no page has, as a browser would. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return gateway.send(ORIGIN + path, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        Cookie: `${SESSION_COOKIE}=${this.secret}`,
        Origin: ORIGIN,
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
  }
}

/** Where a form that takes a new sign-in sends the browser. @param path of the form's page. */
export function newSignIn(path: string): string {
  return `/login?${new URLSearchParams({ to: `${path}?done=signed-in-again`, fresh: "1" }).toString()}`;
}

/** The recent actions on the account page. */
export function activityOn({ text }: Page): string {
  return text.slice(text.indexOf("Recent activity"));
}
