// The strip of running work: what it is, how far it is, and a button to stop it.

import { el, named } from "./elements.js";
import { cancel, on } from "./server.js";

/** Show every unfinished job in `root`. */
export function mountJobs(root) {
  const shown = new Map();
  on("job", (job) => {
    const finished = ["done", "failed", "cancelled"].includes(job.state);
    if (finished) {
      shown.get(job.id)?.remove();
      shown.delete(job.id);
      return;
    }
    if (!shown.has(job.id)) {
      const line = el("div", { class: "job" },
        el("span", { class: "job-title" }, named(job.title)),
        el("progress", { max: 1, value: 0, "aria-label": job.title }),
        el("span", { class: "job-note" }),
        el("button", { type: "button", class: "quiet", onclick: (event) => {
          event.currentTarget.disabled = true;
          cancel(job);
        } }, "Cancel"));
      shown.set(job.id, line);
      // work that is over at once would only flicker
      setTimeout(() => shown.has(job.id) && root.append(line), 200);
    }
    const line = shown.get(job.id);
    line.querySelector("progress").value = job.share;
    line.querySelector(".job-note").textContent = job.note || `${Math.round(100 * job.share)} %`;
  });
}
