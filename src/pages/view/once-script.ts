/**
 * The script of pages with forms that do something: a form is sent once, however often its button is pressed. Without
 * it, the browser sends a form again with a second click, and shows the response to that alone: a tool runs twice, and
 * the page says of what was done that it is not there any more. Pages without such a form have no script, and neither
 * have those of a sign-in, which applications open that nobody knows.
 */

/** A person who has stopped the browser may press the button again after this time. */
const AGAIN_MS = 10_000;

export const ONCE_SCRIPT = `
let sent = new WeakSet();
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), ${AGAIN_MS});
});
addEventListener("pageshow", () => { sent = new WeakSet(); });
`;
