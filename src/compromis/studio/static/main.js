// The studio: four steps, the running jobs, and the connection to the server.

import { mountCompare } from "./compare.js";
import { mountData } from "./data.js";
import { named } from "./elements.js";
import { make } from "./panel.js";
import { mountSave } from "./save.js";
import { cancel, checkConnection, follow, greet, on, takeToken } from "./server.js";
import { refresh, restore, session } from "./session.js";
import { mountTune } from "./tune.js";

const byId = (id) => document.getElementById(id);
const TABS = ["data", "tune", "compare", "save"];
const entered = {};

/** Show a step; with `visit` the browser's history gets it, so that Back leads to the step before. */
function show(name, { visit = true } = {}) {
  if (visit && location.hash !== `#${name}`) history.pushState(null, "", `#${name}`);
  for (const each of TABS) {
    const tab = byId(`tab-${each}`);
    const chosen = each === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(each).hidden = !chosen;
  }
  if (visit) window.scrollTo(0, 0);
  entered[name]?.();
}

/** The step that the address names; null if it names none. */
const addressed = () => TABS.find((name) => location.hash === `#${name}`) ?? null;

function mountTabs() {
  window.addEventListener("popstate", () => show(addressed() ?? "data", { visit: false }));
  for (const [i, name] of TABS.entries()) {
    byId(`tab-${name}`).addEventListener("click", () => show(name));
    byId(`tab-${name}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(i + step + TABS.length) % TABS.length];
      show(next);
      byId(`tab-${next}`).focus();
    });
  }
}

function mountTheme() {
  const root = document.documentElement;
  const kept = localStorage.getItem("compromis-theme");
  if (kept) root.dataset.theme = kept;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("compromis-theme", root.dataset.theme);
  });
}

/** Show every unfinished job, with a button to stop it. */
function mountJobs(root) {
  const lines = new Map();
  on("job", (job) => {
    if (["done", "failed", "cancelled"].includes(job.state)) {
      lines.get(job.id)?.remove();
      lines.delete(job.id);
      return;
    }
    if (!lines.has(job.id)) {
      const stop = make("button", { type: "button", class: "quiet", onclick: () => {
        stop.disabled = true;
        cancel(job);
      } }, "Cancel");
      lines.set(job.id, make("div", { class: "job" }, make("span", { class: "job-title" }, named(job.title)),
        make("progress", { max: 1, value: 0, "aria-label": job.title }), make("span", { class: "job-note" }), stop));
      // jobs that end at once would only flicker
      setTimeout(() => lines.has(job.id) && root.append(lines.get(job.id)), 200);
    }
    const line = lines.get(job.id);
    line.querySelector("progress").value = job.share;
    line.querySelector(".job-note").textContent = job.note || `${Math.round(100 * job.share)} %`;
  });
}

function banner(...content) {
  byId("lost").replaceChildren(...content);
  byId("lost").hidden = !content.length;
}

function mountConnection() {
  on("connection", (lost) => {
    document.documentElement.dataset.lost = String(Boolean(lost));
    byId("connection-text").textContent = lost ? "not connected" : "on this machine";
    if (lost === "gone") banner("The studio has stopped. Start it again on the same port and with the same token, and this page goes on; your preferences are kept here.");
    else if (lost === "locked") banner("The studio does not know this page’s token. Open the address that its terminal shows.");
    else banner();
  });
  on("restarted", async () => {
    banner("The studio is back; loading your models again.");
    try {
      const missing = await restore();
      banner(...(missing.length ? ["Back again. Load these files once more: ", ...missing.flatMap((name) => [named(name), " "])] : []));
    } catch (problem) {
      banner(`The models could not be loaded again: ${problem.message}`);
    }
  });
}

/** A file that is dropped anywhere must not replace the page. */
function keepPage() {
  for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
}

async function start() {
  keepPage();
  mountTabs();
  mountTheme();
  mountJobs(byId("jobs"));
  mountConnection();
  mountData(byId("data"), () => show("tune"));
  mountTune(byId("tune"));
  entered.compare = mountCompare(byId("compare"));
  mountSave(byId("save"), () => show("tune"));
  if (!takeToken()) {
    banner("This page has no token. Open the address that the terminal shows.");
    return;
  }
  try {
    await greet();
    byId("connection-text").textContent = "on this machine";
    const { jobs } = await refresh();
    for (const job of jobs) follow(job).then(refresh, () => {});
    show(addressed() ?? (session.models.length ? "tune" : "data"), { visit: false });
  } catch (problem) {
    if (byId("lost").hidden) banner(make("span", {}, problem.message));
  }
  checkConnection();
}

start();
