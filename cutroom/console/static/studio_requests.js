// Reads rows and changes from the server, one request at a time: each builds on the revision that the last one returned.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const POLL_MS = Number(studio.root.dataset.poll); // guests have no event stream; changes of captions are not announced
  const BUSY_POLL_MS = 3_000; // while something is being made
  const base = `/videos/${model.video}/studio`;
  let chain = Promise.resolve();
  let syncWaits = false;

  class StudioError extends Error {
    constructor(code, message, status) {
      super(message);
      Object.assign(this, { code, status });
    }
    // Whether the same request may succeed later.
    get isTemporary() {
      return this.status === 0 || this.status === 429 || this.status >= 500;
    }
  }

  async function request(path, options = {}) {
    let response;
    try {
      response = await fetch(`${base}/${path}`, { ...options, headers: { Accept: "application/json", ...options.headers } });
    } catch {
      throw new StudioError("OFFLINE", "The connection is lost.", 0);
    }
    if (response.redirected || !response.headers.get("content-type")?.includes("json")) {
      throw new StudioError("SIGNED_OUT", "You are signed out. Sign in again in another tab.", 401);
    }
    const answer = await response.json();
    if (!response.ok) throw new StudioError(answer.code, answer.message, response.status);
    return answer;
  }
  const query = (values) => new URLSearchParams({ ...values, ...(model.lang ? { lang: model.lang } : {}) });
  const get = (path, values = {}) => request(`${path}?${query(values)}`);
  function post(path, body) {
    const form = new URLSearchParams({ body: JSON.stringify(body) });
    return request(`${path}?${query({})}`, { method: "POST", headers: { "X-CSRF-Token": model.csrf }, body: form });
  }

  // Runs tasks in order; a task that fails does not stop those after it.
  function enqueue(task) {
    const result = chain.then(task);
    chain = result.catch(() => {});
    return result;
  }

  // Takes over what a response says has changed.
  function apply(answer) {
    const before = model.track?.version;
    studio.setHead(answer);
    if (answer.isComplete === false) return void reload();
    const removed = answer.removed.map(studio.remove).filter(Boolean);
    const rows = answer.rows.map(({ previous, ...row }) => studio.put(row, previous));
    studio.emit("changed", { rows, removed });
    if (model.track && before !== undefined && model.track.version !== model.seenVersion) reloadSoon();
  }
  // After a change of lines by this page, which has their new content.
  function applyOwn(answer) {
    if (answer.track) model.seenVersion = answer.track.version;
    apply(answer);
  }

  async function sync(line) {
    apply(await get("changes", { since: model.revision, ...(line ? { line } : {}) }));
  }
  function syncSoon() {
    if (syncWaits || !model.isLoaded) return;
    syncWaits = true;
    enqueue(() => {
      syncWaits = false;
      return sync();
    }).catch((error) => { if (!error.isTemporary) studio.emit("problem", error.message); });
  }

  // Reads every row, page by page; again from the start if the transcript changes meanwhile.
  async function load() {
    const seen = new Set();
    let start = 0;
    let head = null;
    let last = null;
    while (head === null || start < head.total) {
      const answer = await get("rows", { from: start });
      if (head !== null && (answer.revision !== head.revision || answer.track?.version !== head.track?.version)) {
        seen.clear();
        [head, start, last] = [null, 0, null];
        continue;
      }
      head = answer;
      studio.setHead(answer);
      const rows = answer.rows.map((row) => {
        const shown = studio.put(row, last);
        seen.add(row.id);
        last = row.id;
        return shown;
      });
      studio.emit("changed", { rows, removed: [] });
      start += answer.rows.length;
      if (!answer.rows.length) break;
      await new Promise((done) => setTimeout(done)); // lets the page handle input between pages
    }
    const removed = [...model.byId.keys()].filter((id) => !seen.has(id)).map(studio.remove);
    model.seenVersion = model.track?.version ?? null;
    model.isLoaded = true;
    studio.emit("changed", { rows: [], removed });
    studio.emit("loaded");
  }
  let reloadWaits = false;
  function reloadSoon() {
    if (reloadWaits) return;
    reloadWaits = true;
    enqueue(() => {
      reloadWaits = false;
      return load();
    }).catch(() => {});
  }
  const reload = reloadSoon;

  document.getElementById("studio-live").addEventListener("live", syncSoon);
  let polledAt = Date.now();
  setInterval(() => {
    const wait = model.track?.job ? BUSY_POLL_MS : POLL_MS;
    if (document.hidden || Date.now() - polledAt < wait) return;
    polledAt = Date.now();
    syncSoon();
  }, 1_000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) syncSoon(); });

  Object.assign(studio, { StudioError, enqueue, get, post, apply, applyOwn, sync, syncSoon, load });
})();
