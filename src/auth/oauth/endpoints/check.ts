/** The checks of an endpoint stand in lists, in the order in which they run. */

/** @returns what ends the request; `undefined` when the next check may run. */
export type Check<Subject, Finding> = (subject: Subject) => Finding | undefined;

/** @returns the finding of the first check that has one: no later check runs. */
export function firstFinding<Subject, Finding>(
  checks: readonly Check<Subject, Finding>[],
  subject: Subject,
): Finding | undefined {
  for (const check of checks) {
    const finding = check(subject);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
