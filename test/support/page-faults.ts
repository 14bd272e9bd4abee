/** What is in the way of a person on a page that is open in a real browser: on a phone and on a desk, in light and dark. */

import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** The narrowest phone that there is, and a desk. */
const VIEWPORTS = [
  { width: 320, height: 740 },
  { width: 1280, height: 800 },
];

/** What depends on colours is checked in both schemes, all else in one. */
const SCHEMES = [
  { colorScheme: "light", rules: undefined },
  { colorScheme: "dark", rules: ["color-contrast", "link-in-text-block"] },
] as const;

/**
 * The line and its stops are drawn by pseudo-elements, and no text stands on them. What passes is most
 * of the result, and is neither described nor sent here: that took more time than the checks.
 */
const CHECK = `(runOnly) => axe.run({
  checks: { "color-contrast": { options: { ignorePseudo: true } } },
  resultTypes: ["violations", "incomplete"],
  selectors: false,
  ...(runOnly && { runOnly }),
}).then(({ violations, incomplete }) => ({ violations, incomplete }))`;

const SCROLLS_SIDEWAYS =
  "document.documentElement.scrollWidth > document.documentElement.clientWidth";

/**
 * A field is seen by its border alone, which needs a contrast of 3:1 against what is on both sides of it (WCAG 2.2,
 * 1.4.11). axe has no rule for that.
 */
const FAINT_FIELDS = `(() => {
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const ground = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    return backgroundColor === "rgba(0, 0, 0, 0)" ? ground(element.parentElement) : backgroundColor;
  };
  return [...document.querySelectorAll(".field")].flatMap((field) => {
    const { borderTopColor } = getComputedStyle(field);
    const sides = [ground(field), ground(field.parentElement)];
    const least = Math.min(...sides.map((side) => contrast(borderTopColor, side)));
    return least < 3 ? ["The border of " + field.name + " has a contrast of " + least.toFixed(2)] : [];
  });
})()`;

type Faults = Pick<AxeResults, "violations" | "incomplete">;

/** @returns in each look: where a person with a screen reader, little sight or no mouse would stumble. */
export async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(axe.source);
  for (const viewport of VIEWPORTS) {
    await page.setViewportSize(viewport);
    for (const { colorScheme, rules } of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const found = await violationsOf(page, rules);
      found.push(...(await page.evaluate<string[]>(FAINT_FIELDS)));
      if (await page.evaluate<boolean>(SCROLLS_SIDEWAYS)) found.push("It scrolls sideways");
      faults.push(...found.map((fault) => `${colorScheme}, ${viewport.width} wide: ${fault}`));
    }
  }
  return faults;
}

async function violationsOf(page: Page, rules: readonly string[] | undefined): Promise<string[]> {
  const { violations, incomplete } = await page.evaluate<Faults>(
    `(${CHECK})(${JSON.stringify(rules)})`,
  );
  return [...violations, ...incomplete]
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
