/** The tool of every simulated server: it streams so many events, and then returns the name of the call. */

export const TOOL = {
  name: "work",
  inputSchema: {
    type: "object",
    properties: { call: { type: "string" }, events: { type: "integer" } },
  },
};
