/**
 * The people who may sign in. The default is to deny: an empty list admits no person, and a value
 * that a provider has not verified matches nothing.
 */

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
