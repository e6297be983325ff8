// Starts the report's page: the knobs, and the three ways to read the confusion matrix.

const content = JSON.parse(document.getElementById("content").textContent);

const matrixTable = document.querySelector("#confusion .cp-matrix");
if (matrixTable) {
  const cells = Array.from(matrixTable.tBodies[0].rows, (row) => Array.from(row.cells).slice(1));
  document.querySelector("#confusion .cp-matrix-scroll").before(modeButtons((mode) => paint(cells, content.matrix, mode)));
}

if (content.panel) globalThis.compromisPanel = mountPanel(document.getElementById("panel"), content.panel);
