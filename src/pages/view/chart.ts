/** Charts of days as inline SVG, made here: no script draws them. A table beside each has its numbers. */

import { type Html, html } from "./html.ts";

/** One day of a chart; a part of its bar may be marked as failed. */
interface Bar {
  readonly label: string;
  readonly value: number;
  readonly failed?: number;
}

interface Chart {
  /** Unique on its page. */
  readonly id: string;
  readonly title: string;
  /** What a reader sees in it, in a sentence. */
  readonly description: string;
  /** The oldest first. */
  readonly bars: readonly Bar[];
  /** The value of the highest bar that there can be, and its words. */
  readonly top: readonly [value: number, label: string];
}

const [WIDTH, HEIGHT] = [720, 160];
/** Of a bar and the gap beside it, the share of the bar. */
const FILLED = 0.8;
/** What happened at all can be seen. */
const LEAST = 2;

export function chart({ id, title, description, bars, top: [highest, topLabel] }: Chart): Html {
  const step = WIDTH / Math.max(1, bars.length);
  const heightOf = (value: number): number =>
    value === 0 ? 0 : Math.max(LEAST, (value / Math.max(1, highest)) * HEIGHT);
  const rect = (index: number, from: number, height: number, look: string): Html | false =>
    height > 0 &&
    html`<rect
      class="${look}"
      x="${round(index * step + (step * (1 - FILLED)) / 2)}"
      y="${round(HEIGHT - from - height)}"
      width="${round(step * FILLED)}"
      height="${round(height)}"
    />`;
  return html`<figure class="chart">
    <p class="small" aria-hidden="true">${topLabel}</p>
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-labelledby="${id}-title ${id}-text"
    >
      <title id="${id}-title">${title}</title>
      <desc id="${id}-text">${description}</desc>
      ${bars.map(({ value, failed = 0 }, index) => {
        const failedHeight = heightOf(failed);
        const rest = Math.max(0, heightOf(value) - failedHeight);
        return html`${rect(index, 0, failedHeight, "failed")}${rect(index, failedHeight, rest, "bar")}`;
      })}
    </svg>
    <p class="small ends" aria-hidden="true">
      <span>${bars[0]?.label ?? ""}</span> <span>${bars.at(-1)?.label ?? ""}</span>
    </p>
  </figure>`;
}

function round(value: number): string {
  return value.toFixed(1);
}
