// What the page knows: files, models, the preferences; and how to build it again on a server that was started anew.

import { size } from "./elements.js";
import { ask, follow, upload } from "./server.js";

const events = new EventTarget();
export const session = { boot: null, folder: "", sources: [], models: [], preferences: null, chosen: null };
const uploaded = new Map();
let recipes = [];
let quiet = false;

const tell = () => quiet || events.dispatchEvent(new Event("changed"));

export const changed = (listener) => events.addEventListener("changed", listener);
export const model = () => session.models.find((one) => one.id === session.chosen) ?? null;

/** Take over what the server says. */
export async function refresh() {
  const found = await ask("GET", "/api/session");
  Object.assign(session, found);
  if (!model()) session.chosen = session.models.at(-1)?.id ?? null;
  const nameOf = (id) => session.sources.find((one) => one.id === id)?.name ?? null;
  recipes = session.models.map(({ name, recipe, weights }) => ({
    name, recipe, weights, source: nameOf(recipe.source), model: recipe.model && nameOf(recipe.model),
  }));
  tell();
  return found;
}

export function choose(id) {
  session.chosen = id;
  tell();
}

/** Upload a file and keep it, in case the server is started anew. */
export async function send(file) {
  if (file.size > session.most_upload) throw new Error(`this file has ${size(file.size)}, uploads may have ${size(session.most_upload)}; start with --max-upload, or name the file when you start the studio`);
  const source = await upload(file);
  uploaded.set(source.name, file);
  await refresh();
  return source;
}

export const load = async (recipe, seen) => {
  const shown = await follow(await ask("POST", "/api/models", recipe), seen);
  session.chosen = shown.id;
  await refresh();
  return shown;
};

/** Keep what the page shows: the server compares and saves with it. */
export async function hold(id, preferences, weights) {
  session.preferences = preferences;
  const found = session.models.find((one) => one.id === id);
  if (found) found.weights = weights;
  const kept = recipes.find((one) => one.name === found?.name);
  if (kept) kept.weights = weights;
  await ask("POST", `/api/models/${id}/hold`, { preferences, weights });
}

/** Load the same models again on a server that was started anew; return the names of what only the user can bring back. */
export async function restore() {
  const [wanted, preferences, chosen] = [recipes, session.preferences, model()?.name];
  quiet = true; // the page keeps what it shows until everything is there
  try {
    await refresh();
    const missing = [];
    for (const one of wanted) if (!(await again(one, preferences))) missing.push(one.name);
    session.chosen = session.models.find((one) => one.name === chosen)?.id ?? null;
    return missing;
  } finally {
    quiet = false;
    await refresh();
  }
}

async function again(one, preferences) {
  if (session.models.some((other) => other.name === one.name)) return true;
  const source = await bring(one.source);
  const fitted = one.recipe.model ? await bring(one.model) : null;
  if (!source || (one.recipe.model && !fitted)) return false;
  const shown = await load({ ...one.recipe, name: one.name, source: source.id, model: fitted?.id ?? null });
  if (preferences) await hold(shown.id, only(preferences, shown), one.weights);
  return true;
}

/** The part of preferences that is about a model's classes. */
export const only = (preferences, one) => ({ metric: preferences.metric, classes: preferences.classes.filter((each) => one.classes.includes(each.label)) });

async function bring(name) {
  const offered = session.sources.find((one) => one.name === name);
  if (offered) return offered;
  const file = uploaded.get(name);
  return file ? send(file) : null;
}
