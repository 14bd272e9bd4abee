// The forms that the elicitation tools show, as the restricted JSON Schema that goes on the wire.

import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";

type Form = ElicitRequestFormParams["requestedSchema"];

export const userForm: Form = {
  type: "object",
  properties: {
    username: { type: "string", description: "Your name" },
    email: { type: "string", description: "Your email address" },
  },
  required: ["username", "email"],
};

/** One field of each primitive type, each with a default (SEP-1034). */
export const defaultsForm: Form = {
  type: "object",
  properties: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
};

/** The five ways to offer a choice (SEP-1330). */
export const enumsForm: Form = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: {
      type: "string",
      oneOf: [
        { const: "value1", title: "First Option" },
        { const: "value2", title: "Second Option" },
        { const: "value3", title: "Third Option" },
      ],
    },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: {
      type: "array",
      items: { type: "string", enum: ["option1", "option2", "option3"] },
    },
    titledMulti: {
      type: "array",
      items: {
        anyOf: [
          { const: "value1", title: "First Choice" },
          { const: "value2", title: "Second Choice" },
          { const: "value3", title: "Third Choice" },
        ],
      },
    },
  },
};
