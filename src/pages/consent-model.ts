/** The model of the consent page. */

import type { Resource } from "../auth/resources.ts";
import { ADMIN, USE } from "../auth/scopes.ts";
import { offeredScopes } from "../auth/sign-in/decide.ts";
import type { Changes, ConsentQuestion } from "../auth/sign-in/attempt.ts";
import type { ConsentScope, ConsentView } from "./view/consent-view.ts";
import { personLabel } from "./words.ts";

/** @param resources the resources of this gateway. */
export function consentModel(
  { handle, content, user, changes, isOtherPerson }: ConsentQuestion,
  resources: readonly Resource[],
): ConsentView {
  const { client, request, scopes } = content;
  const resource = resources.find(({ id }) => id === request.resource);
  const slugs = resources.flatMap(({ slug }) => slug ?? []);
  return {
    handle,
    client: { name: client.name, verifiedHost: client.verifiedHost },
    redirectUri: request.redirectUri,
    resource: {
      name: resource?.slug ?? nameOf(scopes),
      url: request.resource,
      upstreams: upstreamsOf(resource, scopes, slugs),
    },
    scopes: scopeRows(scopes, resource, changes.newScopes),
    account: user && personLabel(user),
    isOtherPerson: isOtherPerson === true,
    changes: sentencesOf(changes),
  };
}

function nameOf(scopes: readonly string[]): string {
  if (scopes.includes(ADMIN)) return "This gateway";
  return scopes.includes(USE) ? "All servers of this gateway" : "Servers of this gateway";
}

/** The servers that the application can reach, of all that exist. */
function upstreamsOf(
  resource: Resource | undefined,
  scopes: readonly string[],
  slugs: readonly string[],
): readonly string[] {
  if (resource?.slug !== undefined || scopes.includes(ADMIN)) return [];
  return scopes.includes(USE) ? slugs : scopes.map(slugOf);
}

function scopeRows(
  scopes: readonly string[],
  resource: Resource | undefined,
  newScopes: readonly string[],
): readonly ConsentScope[] {
  const { fixed, optional } = offeredScopes(scopes);
  // The scope for everything includes each part; listing the parts too would look like more.
  const shown = fixed.includes(USE) ? [USE] : fixed;
  return [...shown.map((id) => row(id, false)), ...optional.map((id) => row(id, true))];

  function row(id: string, isOptional: boolean): ConsentScope {
    const isNew = newScopes.includes(id);
    return {
      id,
      ...wordsOf(id, resource),
      isOptional,
      isNew,
      isChecked: true,
      isSensitive: id === ADMIN,
    };
  }
}

function wordsOf(
  scope: string,
  resource: Resource | undefined,
): Pick<ConsentScope, "label" | "description"> {
  if (scope === ADMIN) {
    return {
      label: "Administer this gateway",
      description: "Manage its users, its applications and its service clients.",
    };
  }
  const description = "Call tools, read resources and use prompts, as you.";
  const slug = scope === USE ? resource?.slug : slugOf(scope);
  return { label: slug === undefined ? "Use all servers here" : `Use ${slug}`, description };
}

function slugOf(scope: string): string {
  return scope.slice(`${USE}:`.length);
}

function sentencesOf({ earlierName, isOtherwise }: Changes): readonly string[] {
  const otherwise = "Where it gets its access, or how it proves who it is, is not what it was.";
  return [
    ...(earlierName === undefined ? [] : [`It called itself “${earlierName}” before.`]),
    ...(isOtherwise ? [otherwise] : []),
  ];
}
