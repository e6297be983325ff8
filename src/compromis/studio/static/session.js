// The state of the page: files, models and preferences; and how to load them again after a restart of the server.

import { size } from "./elements.js";
import { ask, follow, tell, upload } from "./server.js";

export const session = { boot: null, folder: "", sources: [], unreadable: [], models: [], preferences: null, chosen: null };
const uploaded = new Map();
let recipes = [];
let quiet = false;

const tellChanged = () => quiet || tell("changed");

/** Return the model that was chosen, null if there is none. */
export const model = () => session.models.find(({ id }) => id === session.chosen) ?? null;
const sourceNamed = (name) => session.sources.find((source) => source.name === name);

/** Read the session from the server. */
export async function refresh() {
  const state = await ask("GET", "/api/session");
  Object.assign(session, state);
  if (!model()) session.chosen = session.models.at(-1)?.id ?? null;
  const nameOf = (id) => session.sources.find((source) => source.id === id)?.name ?? null;
  recipes = session.models.map(({ name, recipe, weights }) => ({
    name, recipe, weights, source: nameOf(recipe.source), model: recipe.model && nameOf(recipe.model),
  }));
  tellChanged();
  return state;
}

/** Choose the model that is tuned and saved. */
export function choose(id) {
  session.chosen = id;
  tellChanged();
}

/** Remove an uploaded file. */
export async function forget(source) {
  await ask("POST", `/api/sources/${source.id}/remove`);
  uploaded.delete(source.name);
  await refresh();
}

/** Whether a file was uploaded from this page. */
export const isUploaded = (source) => uploaded.has(source.name);

/** Upload a file and keep it, in case the server is restarted. */
export async function send(file) {
  if (file.size > session.most_upload) throw new Error(`this file has ${size(file.size)}, uploads may have ${size(session.most_upload)}; start with --max-upload, or name the file when you start the studio`);
  const source = await upload(file);
  uploaded.set(source.name, file);
  await refresh();
  return source;
}

/** Load a model by its recipe and choose it. */
export async function load(recipe) {
  const loaded = await follow(await ask("POST", "/api/models", recipe));
  session.chosen = loaded.id;
  await refresh();
  return loaded;
}

/** Keep the preferences and weights that the page shows: a restarted server gets them back. */
export function remember(id, preferences, weights) {
  session.preferences = preferences;
  const held = session.models.find((each) => each.id === id);
  for (const each of [held, recipes.find(({ name }) => name === held?.name)]) if (each) each.weights = weights;
}

/** Tell the server what the page shows: it compares and saves with it. */
export async function hold(id, preferences, weights) {
  remember(id, preferences, weights);
  await ask("POST", `/api/models/${id}/hold`, { preferences, weights });
}

/** Load the same models on a restarted server; return the names of those whose files only the user can bring back. */
export async function restore() {
  const [wanted, preferences, chosen] = [recipes, session.preferences, model()?.name];
  quiet = true; // the page keeps what it shows until everything is loaded
  try {
    await refresh();
    const missing = [];
    for (const kept of wanted) if (!(await loadAgain(kept, preferences))) missing.push(kept.name);
    session.chosen = session.models.find(({ name }) => name === chosen)?.id ?? null;
    return missing;
  } finally {
    quiet = false;
    await refresh();
  }
}

async function loadAgain({ name, recipe, weights, source, model: fitted }, preferences) {
  if (session.models.some((other) => other.name === name)) return true;
  const data = await findOrSend(source);
  const modelFile = recipe.model ? await findOrSend(fitted) : null;
  if (!data || (recipe.model && !modelFile)) return false;
  const loaded = await load({ ...recipe, name, source: data.id, model: modelFile?.id ?? null });
  if (preferences) await hold(loaded.id, preferencesFor(loaded, preferences), weights);
  return true;
}

async function findOrSend(name) {
  const file = uploaded.get(name);
  return sourceNamed(name) ?? (file ? send(file) : null);
}

/** Return the preferences for the classes of a model. */
export const preferencesFor = ({ classes }, preferences) => ({ ...preferences, classes: preferences.classes.filter(({ label }) => classes.includes(label)) });
