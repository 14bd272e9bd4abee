/**
 * Who may sign in. Closed to strangers: an empty list lets nobody in, and what a provider has not
 * verified matches nothing.
 */

export interface AllowList {
  /** ASCII capitals and small letters are the same here, and in `domains` and `organizations`. */
  readonly emails: readonly string[];
  /** Exact: a domain does not speak for its subdomains. */
  readonly domains: readonly string[];
  readonly groups: readonly string[];
  readonly organizations: readonly string[];
  readonly subjects: readonly string[];
}

/** What a provider vouches for. */
export interface Applicant {
  readonly subject: string;
  readonly email?: string;
  /** The one whose member the person is: of the verified address, or what the provider says. */
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
 * @param admins addresses and subjects. What has an "@" is an address and nothing else: a provider
 *   may let people choose a subject that looks like somebody's address.
 */
export function isAdmin(admins: readonly string[], { subject, email }: Applicant): boolean {
  const isNamed = !subject.includes("@") && admins.includes(subject);
  return isNamed || (email !== undefined && hasFolded(admins, email));
}

/** Whether an address can decide: a provider need not be asked for what nobody looks at. */
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

/** ASCII only: `toLowerCase` makes a "k" of the Kelvin sign, and somebody else of an address. */
function fold(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
