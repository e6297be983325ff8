// Talking to the server: the token, the connection, uploads, and jobs that are followed to their end.

const KEY = "compromis-token";
const events = new EventTarget();
let boot = null;
let lost = false;

/** Take the token out of the address, where it would be seen, and keep it for this tab. */
export function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) !== null;
}

const token = () => sessionStorage.getItem(KEY) ?? "";
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export const on = (name, listener) => events.addEventListener(name, (event) => listener(event.detail));
const tell = (name, detail) => events.dispatchEvent(new CustomEvent(name, { detail }));

export class Unreachable extends Error {}
export class Cancelled extends Error {}

/** Ask the server; an error is one sentence. */
export async function ask(method, path, body) {
  const headers = { "x-compromis-token": token() };
  if (method === "POST") headers["content-type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: method === "POST" ? JSON.stringify(body ?? {}) : undefined, cache: "no-store" });
  } catch {
    setLost("gone");
    throw new Unreachable("The studio cannot be reached; this page goes on when it is back.");
  }
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

/** Look every now and then whether the server is there, more often while it is not. */
export async function watch() {
  for (;;) {
    await pause(lost ? 700 : 3000);
    try {
      await greet();
    } catch {
      // the connection's state says it
    }
  }
}

/** Ask who answers; a server that was started anew has another mark. */
export async function greet() {
  const found = await ask("GET", "/api/alive");
  const before = boot;
  boot = found.boot;
  setLost(false);
  if (before !== null && before !== boot) tell("restarted");
}

/** Follow a job to its end and return its result; `seen` is called with each state. */
export async function follow(job, seen = () => {}) {
  const home = boot;
  tell("job", job);
  for (;;) {
    seen(job);
    if (job.state === "done") return job.result;
    if (job.state === "failed") throw new Error(job.error);
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

export const cancel = (job) => (job.abort ? job.abort() : ask("POST", `/api/jobs/${job.id}/cancel`));

let uploads = 0;

/** Send a file; its progress is a job of the page itself. */
export function upload(file) {
  const request = new XMLHttpRequest();
  const job = { id: `upload-${++uploads}`, title: `Uploading ${file.name}`, state: "running", share: 0, note: "", abort: () => request.abort() };
  const settle = (state) => tell("job", Object.assign(job, { state }));
  return new Promise((done, fail) => {
    request.open("POST", "/api/upload");
    request.setRequestHeader("x-compromis-token", token());
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("x-file-name", encodeURIComponent(file.name.toWellFormed?.() ?? file.name));
    request.upload.onprogress = (event) => tell("job", Object.assign(job, { share: event.loaded / Math.max(1, event.total) }));
    request.onload = () => {
      const content = JSON.parse(request.responseText || "{}");
      settle(request.status === 200 ? "done" : "failed");
      if (request.status === 200) done(content);
      else fail(new Error(content.error ?? `the upload failed (status ${request.status})`));
    };
    request.onabort = () => (settle("cancelled"), fail(new Cancelled("Cancelled.")));
    request.onerror = () => {
      settle("failed");
      greet().catch(() => {});
      fail(new Error("The upload broke off: the file is too large, or the studio has stopped."));
    };
    tell("job", job);
    request.send(file);
  });
}
