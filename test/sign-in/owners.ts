/** Users whom the embedded provider stands by, so that their tokens can be refreshed. */

import { OWNER_ISSUER, OWNER_SUBJECT } from "../../src/auth/identity/owner.ts";
import { upkeepPurpose } from "../../src/auth/tokens/grant-judge.ts";
import { seal } from "../../src/lib/seal.ts";
import { OWNER_CODE } from "../support/oauth-owner.ts";
import { Person, records } from "./people.ts";

/** Somebody whom no other test knows, and whose sign-in lasts. */
export async function newOwner(): Promise<Person> {
  const person = await Person.signIn();
  const provider = records().providers.get("owner");
  const signedIn = provider?.kind === "code" ? await provider.check(OWNER_CODE) : undefined;
  if (signedIn?.kind !== "identity") throw new Error("The owner's code is not the owner's");
  await change(person, { upkeep: signedIn.upkeep ?? "" });
  return person;
}

/** As when the owner's code is replaced: the provider stands by the sign-in no more. */
export async function endSignIn(person: Person): Promise<void> {
  await change(person, { upkeep: "of another code" });
}

async function change(person: Person, { upkeep }: { readonly upkeep: string }): Promise<void> {
  const { ring } = await records().secrets();
  await person.shard.users.change(person.id, {
    ...{ issuer: OWNER_ISSUER, subject: OWNER_SUBJECT },
    upkeep: await seal(ring, upkeepPurpose(person.id), upkeep),
  });
}
