/**
 * The script of a page whose calls are live: it puts new rows into the table, as the server has made them. Each gets
 * the place that it would have if the page was loaded again, since several objects send them. Without the script there
 * is the link that loads the page again.
 */

export const LIVE_SCRIPT = `
const rows = document.querySelector("[data-live]");
if (rows && window.EventSource) {
  const status = document.querySelector("#live");
  const older = document.querySelector("#older");
  const isOlder = (one, other) => {
    const [a, b] = [one, other].map((row) => row.dataset.place);
    const [atA, atB] = [a, b].map((place) => parseInt(place, 10));
    return atA === atB ? a < b : atA < atB;
  };
  const source = new EventSource(rows.dataset.live);
  source.addEventListener("begin", () => {
    status.textContent = "Live: new calls appear on top.";
  });
  source.addEventListener("calls", ({ data }) => {
    const template = document.createElement("template");
    template.innerHTML = data;
    for (const row of [...template.content.children]) {
      if (document.getElementById(row.id)) continue;
      const next = [...rows.children].find((each) => isOlder(each, row));
      // What is older than all rows is among the older calls, if there are any.
      if (next || older.hidden) rows.insertBefore(row, next ?? null);
    }
    if (rows.children.length <= 200) return;
    while (rows.children.length > 200) rows.lastElementChild.remove();
    const link = older.querySelector("a");
    const url = new URL(link.href);
    url.searchParams.set("before", rows.lastElementChild.dataset.place);
    link.href = url.href;
    older.hidden = false;
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
