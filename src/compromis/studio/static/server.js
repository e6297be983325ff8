// Requests to the server: token, connection, uploads and jobs; and the events of the page.

const KEY = "compromis-token";
const events = new EventTarget();
let boot = null;
let lost = false;

/** Move the token from the address, where it would be seen, into the storage of this tab; return whether there is one. */
export function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.hash);
  }
  return sessionStorage.getItem(KEY) !== null;
}

const token = () => sessionStorage.getItem(KEY) ?? "";
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Listen to an event of the page: job, connection, restarted, changed. */
export const on = (name, listener) => events.addEventListener(name, (event) => listener(event.detail));
export const tell = (name, detail) => events.dispatchEvent(new CustomEvent(name, { detail }));

export class Unreachable extends Error {}
export class Cancelled extends Error {}

/** Send a request and return the answer; an error is one sentence. */
export async function ask(method, path, body) {
  const headers = { "x-compromis-token": token() };
  if (method === "POST") headers["content-type"] = "application/json";
  const options = { method, headers, body: method === "POST" ? JSON.stringify(body ?? {}) : undefined, cache: "no-store" };
  const answer = await fetch(path, options).catch(() => {
    setLost("gone");
    throw new Unreachable("The studio cannot be reached; this page goes on when it is back.");
  });
  const content = await answer.json().catch(() => ({ error: `the answer cannot be read (status ${answer.status})` }));
  if (answer.status === 401) setLost("locked");
  if (!answer.ok) throw new Error(content.error);
  return content;
}

function setLost(why) {
  if (lost === why) return;
  lost = why;
  tell("connection", why);
}

/** Ask every few seconds whether the server is there, more often while it is not. */
export async function checkConnection() {
  for (;;) {
    await pause(lost ? 700 : 3000);
    await greet().catch(() => {}); // a "connection" event was sent
  }
}

/** Ask which server answers; after a restart it has another id. */
export async function greet() {
  const before = boot;
  ({ boot } = await ask("GET", "/api/alive"));
  setLost(false);
  if (before !== null && before !== boot) tell("restarted");
}

/** Follow a job to its end and return its result; `seen` gets each state. */
export async function follow(job, seen = () => {}) {
  const home = boot;
  tell("job", job);
  for (;;) {
    seen(job);
    if (job.state === "done") return job.result;
    if (job.state === "failed") throw Object.assign(new Error(job.error), { kind: job.error_kind });
    if (job.state === "cancelled") throw new Cancelled("Cancelled.");
    try {
      job = await ask("GET", `/api/jobs/${job.id}?seen=${job.version}`);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      await pause(500);
    }
    if (boot !== home) {
      tell("job", { ...job, state: "failed" });
      throw new Error("The studio was started anew while this ran; please do it again.");
    }
    tell("job", job);
  }
}

/** Stop a job of the server, or an upload. */
export const cancel = (job) => (job.abort ? job.abort() : ask("POST", `/api/jobs/${job.id}/cancel`));

let uploads = 0;

/** Upload a file; its progress is shown as a job. */
export function upload(file) {
  const request = new XMLHttpRequest();
  const job = { id: `upload-${++uploads}`, title: `Uploading ${file.name}`, state: "running", share: 0, note: "", abort: () => request.abort() };
  const settle = (state) => tell("job", Object.assign(job, { state }));
  return new Promise((resolve, reject) => {
    request.open("POST", "/api/upload");
    request.setRequestHeader("x-compromis-token", token());
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("x-file-name", encodeURIComponent(file.name.toWellFormed?.() ?? file.name));
    request.upload.onprogress = (event) => tell("job", Object.assign(job, { share: event.loaded / Math.max(1, event.total) }));
    request.onload = () => {
      const content = JSON.parse(request.responseText || "{}");
      settle(request.status === 200 ? "done" : "failed");
      if (request.status === 200) resolve(content);
      else reject(new Error(content.error ?? `the upload failed (status ${request.status})`));
    };
    request.onabort = () => (settle("cancelled"), reject(new Cancelled("Cancelled.")));
    request.onerror = () => {
      settle("failed");
      greet().catch(() => {});
      reject(new Error("The upload broke off: the file is too large, or the studio has stopped."));
    };
    tell("job", job);
    request.send(file);
  });
}
