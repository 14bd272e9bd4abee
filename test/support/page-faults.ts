/** What is in the way of a person on a page that is open in a real browser: on a phone and on a desk, in light and dark. */

import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** The narrowest phone that there is, and a desk. */
const LOOKS = (["light", "dark"] as const).flatMap((colorScheme) =>
  [
    { width: 320, height: 740 },
    { width: 1280, height: 800 },
  ].map((viewport) => ({ colorScheme, viewport })),
);

/**
 * The line and its stops are drawn by pseudo-elements, and no text stands on them. What passes is most
 * of the result, and is neither described nor sent here: that took more time than the checks.
 */
const CHECK = `axe.run({
  checks: { "color-contrast": { options: { ignorePseudo: true } } },
  resultTypes: ["violations", "incomplete"],
  selectors: false,
}).then(({ violations, incomplete }) => ({ violations, incomplete }))`;

const SCROLLS_SIDEWAYS =
  "document.documentElement.scrollWidth > document.documentElement.clientWidth";

type Faults = Pick<AxeResults, "violations" | "incomplete">;

/** @returns in each look: where a person with a screen reader, little sight or no mouse would stumble. */
export async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(axe.source);
  for (const { colorScheme, viewport } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const { violations, incomplete } = await page.evaluate<Faults>(CHECK);
    const found = [...violations, ...incomplete]
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    if (await page.evaluate<boolean>(SCROLLS_SIDEWAYS)) found.push("It scrolls sideways");
    faults.push(...found.map((fault) => `${colorScheme}, ${viewport.width} wide: ${fault}`));
  }
  return faults;
}
