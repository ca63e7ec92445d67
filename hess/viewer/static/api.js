// Questions to the server. An answer that has not changed is the same object as before.

const known = new Map(); // path -> {tag, value}

export async function ask(path) {
  const before = known.get(path);
  const headers = before ? {"If-None-Match": before.tag} : {};
  const response = await fetch(path, {headers, cache: "no-store"});
  if (response.status === 304) return before.value;
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ?? response.statusText);
  known.set(path, {tag: response.headers.get("ETag"), value});
  return value;
}

export const askRuns = () => ask("api/runs");
export const askRun = (name) => ask(`api/run?name=${encodeURIComponent(name)}`);

// A snapshot does not change, and there are many: nothing is remembered here.
export async function askSnapshot(name, step) {
  const response = await fetch(`api/snapshot?name=${encodeURIComponent(name)}&step=${step}`);
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ?? response.statusText);
  return value;
}
