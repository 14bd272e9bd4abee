/**
 * The script of pages with something to copy: it adds a button to everything that can be copied. Without it, or
 * without a clipboard in the browser, there is no button and nothing is missing.
 */

export const COPY_SCRIPT = `
if (navigator.clipboard) {
  const status = document.createElement("p");
  status.className = "unseen";
  status.setAttribute("role", "status");
  document.body.append(status);
  for (const block of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    const what = document.createElement("span");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    what.className = "unseen";
    what.textContent = " " + block.dataset.copy;
    button.append(what);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("code").textContent);
        status.textContent = "Copied " + block.dataset.copy;
        button.firstChild.data = "Copied";
        setTimeout(() => { button.firstChild.data = "Copy"; }, 2000);
      } catch {
        getSelection().selectAllChildren(block.querySelector("code"));
      }
    });
    block.append(button);
  }
}
`;
