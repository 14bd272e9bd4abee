/** A Worker that prints each span of another one: a line when it opens, and one for its attributes. */

export default {
  /** @returns {(sent: { spanContext: object, event: { type: string } }) => void} */
  tailStream() {
    return ({ spanContext, event }) => {
      if (event.type !== "spanOpen" && event.type !== "attributes") return;
      // oxlint-disable-next-line no-console -- a Worker prints by its log
      console.log(`SPAN ${JSON.stringify({ ...spanContext, event }, asNumber)}`);
    };
  },
};

/**
 * @param {string} _key
 * @param {unknown} value an attribute that is an integer is a `bigint`.
 */
function asNumber(_key, value) {
  return typeof value === "bigint" ? Number(value) : value;
}
