/**
 * The script of a page whose calls are live: it puts new rows on top of the table, as the server has made
 * them. Without it there is the link that loads the page again.
 */

export const LIVE_SCRIPT = `
const rows = document.querySelector("[data-live]");
if (rows && window.EventSource) {
  const status = document.querySelector("#live");
  const source = new EventSource(rows.dataset.live);
  source.addEventListener("begin", () => {
    status.textContent = "Live: new calls appear on top.";
  });
  source.addEventListener("calls", ({ data }) => {
    const template = document.createElement("template");
    template.innerHTML = data;
    for (const row of [...template.content.children].reverse()) {
      if (!document.getElementById(row.id)) rows.prepend(row);
    }
    while (rows.children.length > 200) rows.lastElementChild.remove();
  });
  source.addEventListener("end", ({ data }) => {
    source.close();
    status.textContent = data;
  });
  source.addEventListener("error", () => {
    status.textContent = source.readyState === EventSource.CLOSED
      ? "Not live: so many people look on that there is no place left, or you have signed out."
      : "Not live at the moment.";
  });
}
`;
