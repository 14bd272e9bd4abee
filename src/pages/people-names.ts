/** The names of people and service clients, for pages that know their ids. */

import type { AuthContext } from "../auth/context/context.ts";
import { LOCAL_PERSON } from "./page-visitor.ts";
import { personLabel } from "./words.ts";

export type Names = ReadonlyMap<string, string>;

/** @returns by id; an id that is nobody's any more stands for itself. */
export async function namesOf(
  auth: AuthContext | undefined,
  people: readonly string[],
): Promise<Names> {
  const ids = [...new Set(people)];
  return new Map(await Promise.all(ids.map(async (id) => [id, await nameOf(auth, id)] as const)));
}

async function nameOf(auth: AuthContext | undefined, id: string): Promise<string> {
  if (id === "") return "Somebody";
  if (auth === undefined) return id === LOCAL_PERSON ? "This machine" : id;
  const user = await auth.store.ofUser(id).users.find(id);
  if (user !== undefined) return personLabel(user);
  return (await auth.store.ofClient(id).services.find(id))?.label ?? id;
}
