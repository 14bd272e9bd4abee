/** Users of the built-in provider, so that their tokens can be refreshed. */

import { OWNER_ISSUER, OWNER_SUBJECT } from "../../src/auth/identity/owner.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { Person, records, SOMEBODY } from "./people.ts";

/** A user whom no other test knows, and whose sign-in lasts. */
export async function newOwner(): Promise<Person> {
  const person = await Person.signIn();
  const provider = records().providers.get("owner");
  const signedIn = provider?.kind === "code" ? await provider.check(OWNER_CODE) : undefined;
  if (signedIn?.kind !== "identity") throw new Error("The owner's code is not the owner's");
  const { codeMac = "" } = signedIn;
  await person.shard.users.change(person.id, {
    ...{ provider: "owner", issuer: OWNER_ISSUER, subject: OWNER_SUBJECT, codeMac },
  });
  return person.under(codeMac);
}

/** From now on a provider vouches for them that has ended their session. */
export async function endSignIn({ id, shard }: Person): Promise<void> {
  await shard.users.change(id, { ...SOMEBODY, subject: id });
}
