/**
 * The built-in default: one person, the owner, identified by a code that is too long to guess. The
 * operator configures it (`OWNER_CODE`), or it was enrolled once on the first visit; it has no
 * default.
 */

import { hashOf, isSame } from "../../lib/random.ts";
import type { CodeProvider, KnownIdentity, SignInResult, Standing } from "./provider.ts";
import { signInRefused } from "./sign-in-error.ts";

/** The stored facts about an enrolled code. */
interface OwnerEnrolment {
  /** `hashOf` the code; `undefined` before there is one. */
  codeHash(): Promise<string | undefined>;
}

export interface OwnerDeps {
  readonly enrolment: () => OwnerEnrolment;
  /** A keyed hash of a code's hash: only the gateway can recognise the code by it. */
  readonly codeMac: (codeHash: string) => Promise<string>;
}

export interface OwnerConfig {
  readonly name: string;
  readonly label: string;
  /** The operator's code, which replaces an enrolled one. */
  readonly code?: string;
}

export const OWNER_ISSUER = "edgeway:owner";
export const OWNER_SUBJECT = "owner";
const MIN_CODE_CHARS = 20;
const MAX_CODE_CHARS = 256;
const MIN_DIFFERENT_CHARS = 8;
/** Placeholders and careless values. */
const GUESSABLE =
  /change[-_ ]?(?:me|it|this)|passwor[dt]|example|placeholder|(?:your|owner)[-_ ]?code|1234567|abcdefg|qwert/i;

export class OwnerProvider implements CodeProvider {
  readonly kind = "code";
  readonly name: string;
  readonly label: string;
  readonly #config: OwnerConfig;
  readonly #deps: OwnerDeps;
  /**
   * The MAC of the current code: neither the operator's nor an enrolled one changes while this
   * object lives.
   */
  #currentMac: string | undefined;

  constructor(config: OwnerConfig, deps: OwnerDeps) {
    this.name = config.name;
    this.label = config.label;
    this.#config = config;
    this.#deps = deps;
  }

  async hasCode(): Promise<boolean> {
    return (await this.#codeHash()) !== undefined;
  }

  async check(code: string): Promise<SignInResult> {
    const expected = await this.#codeHash();
    if (expected === undefined) {
      return signInRefused("not-set-up", "The owner has no code yet: the gateway is not set up.");
    }
    // Cut, and not refused early: a code that is too long is wrong, and takes as long as any other.
    const given = await hashOf(code.trim().slice(0, MAX_CODE_CHARS + 1));
    if (!isSame(given, expected))
      return signInRefused("wrong-code", "The code is not the owner's.");
    return {
      kind: "identity",
      identity: { issuer: OWNER_ISSUER, subject: OWNER_SUBJECT, name: "Owner", isAdmin: true },
      codeMac: await this.#deps.codeMac(expected),
      authTime: Math.floor(Date.now() / 1000),
    };
  }

  /**
   * A new code ends everything that began under an earlier one: an operator who replaces it has a
   * reason.
   */
  async standing(
    { issuer, subject }: KnownIdentity,
    codeMac: string | undefined,
  ): Promise<Standing | undefined> {
    if (issuer !== OWNER_ISSUER || subject !== OWNER_SUBJECT || codeMac === undefined)
      return undefined;
    const expected = await this.#macOfToday();
    return expected !== undefined && isSame(codeMac, expected) ? { isAdmin: true } : undefined;
  }

  async #macOfToday(): Promise<string | undefined> {
    if (this.#currentMac !== undefined) return this.#currentMac;
    const hash = await this.#codeHash();
    if (hash !== undefined) this.#currentMac = await this.#deps.codeMac(hash);
    return this.#currentMac;
  }

  async #codeHash(): Promise<string | undefined> {
    const { code } = this.#config;
    return code === undefined ? this.#deps.enrolment().codeHash() : hashOf(code);
  }
}

/** @returns why a code is too weak for the owner, in words that follow its name. */
export function weaknessOf(code: string): string | undefined {
  if (code !== code.trim()) return "must not begin or end with a space";
  if (code.length < MIN_CODE_CHARS || code.length > MAX_CODE_CHARS) {
    return `must have ${MIN_CODE_CHARS} to ${MAX_CODE_CHARS} characters`;
  }
  if (GUESSABLE.test(code) || new Set(code).size < MIN_DIFFERENT_CHARS) {
    return "is one that can be guessed; make one by chance, for example with: openssl rand -base64 24";
  }
  return undefined;
}
