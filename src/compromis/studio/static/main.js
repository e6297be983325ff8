// The studio: four steps, one strip of running work, and a page that survives its server.

import { mountCompare } from "./compare.js";
import { mountData } from "./data.js";
import { el, named } from "./elements.js";
import { mountJobs } from "./jobstrip.js";
import { mountSave } from "./save.js";
import { follow, greet, on, takeToken, watch } from "./server.js";
import { refresh, restore, session } from "./session.js";
import { mountTune } from "./tune.js";

const at = (id) => document.getElementById(id);
const TABS = ["data", "tune", "compare", "save"];
const entered = {};

function show(name) {
  for (const each of TABS) {
    const tab = at(`tab-${each}`);
    const chosen = each === name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    at(each).hidden = !chosen;
  }
  entered[name]?.();
}

function mountTabs() {
  for (const [place, name] of TABS.entries()) {
    at(`tab-${name}`).addEventListener("click", () => show(name));
    at(`tab-${name}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(place + step + TABS.length) % TABS.length];
      show(next);
      at(`tab-${next}`).focus();
    });
  }
}

function mountTheme() {
  const root = document.documentElement;
  const kept = localStorage.getItem("compromis-theme");
  if (kept) root.dataset.theme = kept;
  at("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("compromis-theme", root.dataset.theme);
  });
}

function banner(...content) {
  at("lost").replaceChildren(...content);
  at("lost").hidden = !content.length;
}

function mountConnection() {
  on("connection", (lost) => {
    document.documentElement.dataset.lost = String(Boolean(lost));
    at("connection-text").textContent = lost ? "not connected" : "on this machine";
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

/** A file dropped beside the place for it must not replace the page. */
function keepPage() {
  for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
}

async function start() {
  keepPage();
  mountTabs();
  mountTheme();
  mountJobs(at("jobs"));
  mountConnection();
  mountData(at("data"), () => show("tune"));
  mountTune(at("tune"));
  entered.compare = mountCompare(at("compare"));
  mountSave(at("save"), () => show("tune"));
  if (!takeToken()) {
    banner("This page has no token. Open the address that the terminal shows.");
    return;
  }
  try {
    await greet();
    at("connection-text").textContent = "on this machine";
    const found = await refresh();
    for (const job of found.jobs) follow(job).then(refresh, () => {});
    if (session.models.length) show("tune");
  } catch (problem) {
    if (at("lost").hidden) banner(el("span", {}, problem.message));
  }
  watch();
}

start();
