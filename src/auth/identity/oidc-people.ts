/** Decides from verified tokens whether a person may sign in. */

import type { JsonObject } from "../../protocol/json-rpc.ts";
import {
  type Applicant,
  domainOf,
  identityOf,
  isEmail,
  isSubject,
  knownPerson,
  needsEmail,
  standingUnder,
} from "./allow-list.ts";
import type { OidcClient, Tokens } from "./oidc-client.ts";
import type { OidcConfig, OidcTraits } from "./oidc-traits.ts";
import type { Identity, KnownIdentity, Standing } from "./provider.ts";
import { SignInError } from "./sign-in-error.ts";

/** The claims of the signed token, and those that the userinfo endpoint adds. */
export interface Claims {
  readonly idToken: JsonObject;
  readonly userinfo: JsonObject;
}

/** The claim names that differ between providers. */
interface ClaimNames {
  /** The claim that confirms the address in `email` as the person's own. */
  readonly emailVerified: string;
  /** The claim with the person's domain; without it, the domain is that of the address. */
  readonly domain?: string;
  readonly groups: string;
}

export class OidcPeople {
  readonly #config: OidcConfig;
  readonly #traits: OidcTraits;
  readonly #client: OidcClient;
  readonly #names: ClaimNames;

  constructor(config: OidcConfig, traits: OidcTraits, client: OidcClient) {
    this.#config = config;
    this.#traits = traits;
    this.#client = client;
    const { emailVerified, domain } = traits;
    this.#names = {
      emailVerified,
      groups: config.groupsClaim,
      ...(domain !== undefined && { domain }),
    };
  }

  get issuers(): readonly string[] {
    return this.#config.issuers;
  }

  /** The provider's facts about the person who has just signed in. */
  async meet({ idToken, accessToken }: Tokens & { readonly idToken: JsonObject }) {
    const { iss: issuer, sub } = idToken;
    if (typeof issuer !== "string" || !isSubject(sub)) throw noSubject();
    const isComplete = this.#decides(idToken) && this.#names.emailVerified in idToken;
    if (isComplete && "name" in idToken) return { issuer, claims: { idToken, userinfo: {} } };
    const userinfo = await this.#client.userinfo(issuer, accessToken, sub);
    if (userinfo === "refused") {
      throw new SignInError("provider-error", "The provider does not tell who signed in.");
    }
    return { issuer, claims: { idToken, userinfo: userinfo ?? {} } };
  }

  /**
   * Reads new facts about a known person.
   * @returns `undefined` when there are none, "refused" when the provider rejects the token.
   */
  async news(
    { idToken, accessToken }: Tokens,
    { issuer, subject }: KnownIdentity,
  ): Promise<Claims | "refused" | undefined> {
    if (idToken !== undefined && this.#decides(idToken)) return { idToken, userinfo: {} };
    const sub = idToken?.["sub"];
    const about = isSubject(sub) ? sub : subject;
    const userinfo = await this.#client.userinfo(issuer, accessToken, about);
    if (userinfo === "refused") return userinfo;
    if (idToken === undefined && userinfo === undefined) return undefined;
    return { idToken: idToken ?? {}, userinfo: userinfo ?? {} };
  }

  /** @returns whether a group or a domain decides who may sign in, and neither source names any. */
  isUndecided({ idToken, userinfo }: Claims): boolean {
    const { allow } = this.#config;
    const { groups, domain } = this.#names;
    const isDomainUnsaid = domain !== undefined && allow.domains.length > 0 && !(domain in idToken);
    const areGroupsUnsaid = allow.groups.length > 0 && !(groups in idToken || groups in userinfo);
    return isDomainUnsaid || areGroupsUnsaid;
  }

  subjectOf(claims: JsonObject): unknown {
    return this.#traits.subjectOf(claims);
  }

  /**
   * @param known the person as stored, when this is a recheck.
   * @throws SignInError `not-allowed` for a person who may not sign in.
   */
  identify(issuer: string, claims: Claims, known?: KnownIdentity): Identity {
    const subject = known?.subject ?? this.#traits.subjectOf(claims.idToken);
    if (!isSubject(subject)) throw noSubject();
    const person = personOf(subject, claims, this.#names);
    const name = claims.idToken["name"] ?? claims.userinfo["name"];
    const whole = this.#withEmail(person, claims, known?.email);
    const identity = identityOf(issuer, whole, this.#config, name);
    // Otherwise the domain is that of the address, which is stored.
    const hasOwnDomain = this.#names.domain !== undefined && whole.domain !== undefined;
    return { ...identity, ...(hasOwnDomain && { domain: whole.domain }) };
  }

  standing(known: KnownIdentity): Standing | undefined {
    if (!this.issuers.includes(known.issuer)) return undefined;
    const { email, domain: own } = known;
    const domain = this.#names.domain === undefined ? email && domainOf(email) : own;
    return standingUnder(this.#config, knownPerson(known, domain));
  }

  /** A refreshed token may omit the address, which then stays as it was. */
  #withEmail(
    person: Applicant,
    { idToken, userinfo }: Claims,
    email: string | undefined,
  ): Applicant {
    const isStated = "email" in idToken || Object.keys(userinfo).length > 0;
    if (email === undefined || isStated) return person;
    const domain = this.#names.domain === undefined ? domainOf(email) : person.domain;
    return { ...person, email, ...(domain !== undefined && { domain }) };
  }

  /** @returns whether the token alone decides who may sign in. */
  #decides(idToken: JsonObject): boolean {
    const { allow, admins } = this.#config;
    const { emailVerified, groups } = this.#names;
    const hasEmail = !needsEmail(allow, admins) || emailVerified in idToken;
    return hasEmail && (allow.groups.length === 0 || groups in idToken);
  }
}

function noSubject(): SignInError {
  return new SignInError("bad-token", "The ID token does not say who signed in.");
}

function personOf(subject: string, claims: Claims, names: ClaimNames): Applicant {
  const email = verifiedEmail(claims, names.emailVerified);
  const domain =
    names.domain === undefined ? email && domainOf(email) : claims.idToken[names.domain];
  return {
    subject,
    ...(email !== undefined && { email }),
    ...(typeof domain === "string" && { domain }),
    groups: stringsOf(claims.idToken[names.groups] ?? claims.userinfo[names.groups]),
    organizations: [],
  };
}

/**
 * The address and its verification come from the same source, or one source could vouch for the
 * other's address.
 */
function verifiedEmail({ idToken, userinfo }: Claims, verified: string): string | undefined {
  const { email, [verified]: mark } = verified in idToken ? idToken : userinfo;
  const isVerified = mark === true || mark === "true" || mark === "1" || mark === 1;
  return isVerified && typeof email === "string" && isEmail(email) ? email : undefined;
}

function stringsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((entry) => typeof entry === "string");
}
