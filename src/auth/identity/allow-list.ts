/**
 * The people who may sign in. The default is to deny: an empty list admits no person, and a value
 * that a provider has not verified matches nothing.
 */

import { cleanText } from "../../lib/clean-text.ts";
import type { Identity, KnownIdentity, Standing } from "./provider.ts";
import { SignInError } from "./sign-in-error.ts";

const NOT_ALLOWED = "This account is not among those that may sign in here.";
const NO_EMAIL = "The provider names no address of it that it has verified.";
const MAX_SUBJECT_CHARS = 255;
const MAX_NAME_CHARS = 100;
/** Groups of a directory beyond this number are not kept, and match no later rule. */
const MAX_KEPT_GROUPS = 500;
const MAX_KEPT_GROUP_CHARS = 255;

export interface AllowList {
  /** Case-insensitive for ASCII letters, like `domains` and `organizations`. */
  readonly emails: readonly string[];
  /** Exact: a domain does not include its subdomains. */
  readonly domains: readonly string[];
  readonly groups: readonly string[];
  readonly organizations: readonly string[];
  readonly subjects: readonly string[];
}

/** The verified facts about a person. */
export interface Applicant {
  readonly subject: string;
  readonly email?: string;
  /** The domain of the verified address, or the one that the provider states. */
  readonly domain?: string;
  readonly groups: readonly string[];
  readonly organizations: readonly string[];
}

export interface Rules {
  readonly allow: AllowList;
  readonly admins: readonly string[];
}

export const NO_ONE_ALLOWED: AllowList = {
  emails: [],
  domains: [],
  groups: [],
  organizations: [],
  subjects: [],
};

export function isEmptyList(list: AllowList): boolean {
  return Object.values(list).every((entries: readonly string[]) => entries.length === 0);
}

export function isLetIn(list: AllowList, person: Applicant): boolean {
  const { subject, email, domain, groups, organizations } = person;
  return (
    list.subjects.includes(subject) ||
    (email !== undefined && hasFolded(list.emails, email)) ||
    (domain !== undefined && hasFolded(list.domains, domain)) ||
    groups.some((group) => list.groups.includes(group)) ||
    organizations.some((organization) => hasFolded(list.organizations, organization))
  );
}

/**
 * @param admins addresses and subjects. An entry with an "@" is only ever an address: a provider
 *   may let people choose a subject that looks like another person's address.
 */
export function isAdmin(admins: readonly string[], { subject, email }: Applicant): boolean {
  const isNamed = !subject.includes("@") && admins.includes(subject);
  return isNamed || (email !== undefined && hasFolded(admins, email));
}

/** @returns whether an address can decide: otherwise the provider need not be asked for it. */
export function needsEmail(list: AllowList, admins: readonly string[]): boolean {
  return list.emails.length > 0 || list.domains.length > 0 || admins.some(isEmail);
}

export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf("@") + 1);
}

function hasFolded(entries: readonly string[], value: string): boolean {
  const folded = fold(value);
  return entries.some((entry) => fold(entry) === folded);
}

/**
 * ASCII only: `toLowerCase` turns the Kelvin sign into a "k", and one address into another
 * person's.
 */
function fold(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
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
 * The stored facts about a person, as the rules match them.
 *
 * @param domain that of the address, unless the provider states one of its own: where it could have
 *   and did not, there is none.
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

function plainName(name: unknown): string | undefined {
  const plain = typeof name === "string" ? cleanText(name, MAX_NAME_CHARS) : "";
  return plain === "" ? undefined : plain;
}
