/** The facts about a person in the claims of an OpenID provider, as far as they are verified. */

import { cleanText } from "../../lib/clean-text.ts";
import type { JsonObject } from "../../protocol/json-rpc.ts";
import {
  domainOf,
  isLetIn,
  isAdmin,
  type AllowList,
  isEmail,
  needsEmail,
  type Applicant,
} from "./allow-list.ts";
import type { Identity, KnownIdentity, Standing } from "./provider.ts";
import { SignInError } from "./sign-in-error.ts";

const NOT_ALLOWED = "This account is not among those that may sign in here.";
const NO_EMAIL = "The provider names no address of it that it has verified.";
const MAX_SUBJECT_CHARS = 255;
const MAX_NAME_CHARS = 100;
/** Groups of a directory beyond this number are not kept, and match no later rule. */
const MAX_KEPT_GROUPS = 500;
const MAX_KEPT_GROUP_CHARS = 255;

/** The claims of the signed token, and those that the userinfo endpoint adds. */
export interface Claims {
  readonly idToken: JsonObject;
  readonly userinfo: JsonObject;
}

/** The claim names that differ between providers. */
export interface ClaimNames {
  /** The claim that confirms the address in `email` as the person's own. */
  readonly emailVerified: string;
  /** The claim with the person's domain; without it, the domain is that of the address. */
  readonly domain?: string;
  readonly groups: string;
}

export interface Rules {
  readonly allow: AllowList;
  readonly admins: readonly string[];
}

export function personOf(subject: string, claims: Claims, names: ClaimNames): Applicant {
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

/** @throws SignInError `not-allowed` for a person who is not on the list. */
export function identityOf(
  issuer: string,
  person: Applicant,
  rules: Rules,
  name: unknown,
): Identity {
  if (!isLetIn(rules.allow, person)) {
    const isMissing = person.email === undefined && needsEmail(rules.allow, rules.admins);
    throw new SignInError("not-allowed", isMissing ? `${NOT_ALLOWED} ${NO_EMAIL}` : NOT_ALLOWED);
  }
  const shown = plainName(name);
  const groups = keptGroups(person.groups, rules);
  const { organizations } = person;
  return {
    issuer,
    subject: person.subject,
    ...(shown !== undefined && { name: shown }),
    ...(person.email !== undefined && { email: person.email }),
    ...(groups.length > 0 && { groups }),
    ...(organizations.length > 0 && { organizations }),
    isAdmin: isAdmin(rules.admins, person),
  };
}

/**
 * The stored facts about a person, as the rules match them; only the provider states the domain.
 */
export function knownPerson(
  { subject, email, groups = [], organizations = [] }: KnownIdentity,
  domain: string | undefined,
): Applicant {
  return {
    subject,
    ...(email !== undefined && { email }),
    ...(domain !== undefined && { domain }),
    groups,
    organizations,
  };
}

/**
 * @returns the rights of a person under the rules, or `undefined` when the rules do not admit them.
 */
export function standingUnder(rules: Rules, person: Applicant): Standing | undefined {
  return isLetIn(rules.allow, person) ? { isAdmin: isAdmin(rules.admins, person) } : undefined;
}

/** Groups that match a rule now come first, so that they are kept however many there are. */
function keptGroups(groups: readonly string[], { allow }: Rules): readonly string[] {
  const kept = groups.filter((group) => group.length <= MAX_KEPT_GROUP_CHARS);
  if (kept.length <= MAX_KEPT_GROUPS) return kept;
  const counts = (group: string): boolean => allow.groups.includes(group);
  const ordered = [...kept.filter(counts), ...kept.filter((group) => !counts(group))];
  return ordered.slice(0, MAX_KEPT_GROUPS);
}

export function isSubject(subject: unknown): subject is string {
  return typeof subject === "string" && subject !== "" && subject.length <= MAX_SUBJECT_CHARS;
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

function plainName(name: unknown): string | undefined {
  const plain = typeof name === "string" ? cleanText(name, MAX_NAME_CHARS) : "";
  return plain === "" ? undefined : plain;
}
