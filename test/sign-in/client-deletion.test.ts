/** An application that is deleted while not everything can be reached: it can be deleted again. */

import { test } from "vitest";

import { deleteClient } from "../../src/pages/admin.ts";
import { PATHS } from "../../src/pages/view/paths.ts";
import { newContext } from "./context.ts";
import { ORIGIN } from "./gateway.ts";
import { isRefused, statusWith } from "./token-use.ts";
import { SESSION_COOKIE, Visitor } from "./visitor.ts";

test("an application that was deleted only in part stays on the page, and is deleted the next time", async ({
  expect,
}) => {
  const [root, ann] = [await Visitor.arrive({ isAdmin: true }), await Visitor.arrive()];
  const { client, tokens } = await ann.person.connect();
  const { store, ...context } = newContext();
  const failing = {
    ...store,
    // As when one of the objects, or all of the gateway, dies at this moment.
    allOfUsers: () =>
      store.allOfUsers().map((shard) => ({
        ...shard,
        endClient: () => Promise.reject(new Error("The object is gone")),
      })),
  };
  const request = new Request(ORIGIN + PATHS.deleteClient, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Cookie: `${SESSION_COOKIE}=${root.secret}`,
      Origin: ORIGIN,
    },
    body: new URLSearchParams({ csrf: await root.formToken(), id: client }),
  });
  await expect(deleteClient({ ...context, store: failing }, request)).rejects.toThrow("is gone");
  expect(await statusWith(tokens.access_token)).toBe(200);

  // The page of the list that begins with it: others have applications, too.
  const path = `${PATHS.admin}?after=${client.slice(0, -1)}`;
  const formsIn = ({ forms }: Awaited<ReturnType<Visitor["visit"]>>): typeof forms =>
    forms.filter(
      ({ action, controls }) =>
        action === PATHS.deleteClient && controls.some(({ value }) => value === client),
    );
  const page = await root.visit(path);
  const forms = formsIn(page);
  expect(forms).toHaveLength(1);
  await root.browser.submit({ ...page, forms });
  await isRefused(tokens.access_token);
  expect(formsIn(await root.visit(path))).toEqual([]);
});
