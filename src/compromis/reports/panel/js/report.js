// Starts the report's page: the sliders, tables that sort, the three ways to read the confusion matrix, and values under the pointer.

const content = JSON.parse(document.getElementById("content").textContent);

const matrixTable = document.querySelector("#confusion .cp-matrix");
if (matrixTable) {
  const cells = Array.from(matrixTable.tBodies[0].rows, (row) => Array.from(row.cells).slice(1));
  document.querySelector("#confusion .cp-matrix-scroll").before(modeButtons((mode) => paint(cells, content.matrix, mode)));
}

for (const table of document.querySelectorAll("section > .cp-scroll > .cp-table")) {
  makeSortable(table);
  const field = finder(table);
  if (field) table.parentElement.before(field);
}

/** Return the corners of a drawn path as points of the unit square. */
const cornersOf = (path) => path.split(/[MLZ]/).filter(Boolean).map((pair) => {
  const [x, y] = pair.split(",").map(Number);
  return [x / 150, 1 - y / 100];
});

// static pictures tell the values of their curves under the pointer: the corners of a path are its data
for (const svg of document.querySelectorAll("svg[data-across]")) {
  const readout = svg.parentElement.querySelector(".cp-readout");
  const { across, up, most } = svg.dataset;
  const lines = Array.from(svg.querySelectorAll("path[data-name]"), (path) => [path.dataset, cornersOf(path.getAttribute("d"))]);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = (((event.clientX - box.left) / box.width) * 158 - 4) / 150;
    const at = across === "weight" ? `weight ×${Number((10 ** (4 * x - 2)).toPrecision(3))}` : `${across} ${Math.max(0, Math.min(1, x)).toFixed(2)}`;
    const told = lines.map(([{ name, rows }, points]) => {
      const [, y] = points.reduce((best, point) => (Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best), [9, NaN]);
      return `${name || up} ${rows ? count(Math.round(y * rows)) : y.toFixed(3)}`;
    });
    if (x >= -0.02 && x <= 1.02) setText(readout, `${at}: ${told.join(", ")}`);
  });
  svg.addEventListener("pointerleave", () => setText(readout, most ?? ""));
}

/** Keep the state of the panel in the page's address, so that a reload or a link opens it again. */
function mountWithAddress(root, page) {
  const here = ["http:", "https:", "file:"].includes(location.protocol);
  const kept = () => location.hash.startsWith("#state=");
  let timer = null, first = null;
  const write = () => {
    const fragment = panel.fragment();
    if (here && (kept() || fragment !== first)) history.replaceState(null, "", fragment);
  };
  const panel = mountPanel(root, page, {
    onChange() {
      clearTimeout(timer);
      timer = setTimeout(write, 250);
    },
    link: here ? (fragment) => location.href.split("#")[0] + fragment : null,
  });
  first = panel.fragment();
  if (panel.open(location.hash)) document.getElementById("knobs").scrollIntoView();
  addEventListener("hashchange", () => panel.open(location.hash));
  // a way to a section does not cost the state
  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("a[href^='#']")?.getAttribute("href").slice(1);
    const section = target && kept() && document.getElementById(target);
    if (!section) return;
    event.preventDefault();
    section.setAttribute("tabindex", "-1");
    section.scrollIntoView();
    section.focus({ preventScroll: true });
  });
  return panel;
}

if (content.panel) globalThis.compromisPanel = mountWithAddress(document.getElementById("panel"), content.panel);
