// The studio's state: the rows of the transcript as the server last returned them, and what has not been saved yet.
"use strict";

window.studio = (() => {
  const root = document.getElementById("studio");
  const { video, lang, csrf, mayEdit, duration } = root.dataset;
  const model = {
    video, lang, csrf,
    mayEdit: mayEdit === "yes",
    duration: Number(duration),
    revision: 0, // of the transcript
    speakers: {}, // labels
    track: null, // the dub or captions beside the transcript, without its lines
    seenVersion: null, // of the track, when its lines were read
    rows: [], // in order
    byId: new Map(),
    isLoaded: false,
  };

  // Inserts or replaces a row; `previous` is the id of the row before it.
  function put(row, previous) {
    const known = model.byId.get(row.id);
    if (known) {
      for (const name of ["line", "continues", "removed"]) delete known[name];
      Object.assign(known, row);
      return known;
    }
    const before = previous === null ? -1 : model.rows.indexOf(model.byId.get(previous));
    model.rows.splice(before + 1, 0, row);
    model.byId.set(row.id, row);
    return row;
  }
  function remove(id) {
    const row = model.byId.get(id);
    if (!row) return null;
    model.byId.delete(id);
    model.rows.splice(model.rows.indexOf(row), 1);
    return row;
  }
  function setHead({ revision, speakers, track }) {
    Object.assign(model, { revision, speakers, track });
  }
  // The last row that starts before a time; rows that overlap are nearly in order.
  function rowAt(seconds) {
    let low = 0;
    let high = model.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (model.rows[middle].start <= seconds) low = middle + 1; else high = middle;
    }
    return model.rows[low - 1] ?? null;
  }
  // What a row shows: a text that is being saved, or the saved one.
  function textOf(row, side) {
    const draft = row.drafts?.[side];
    if (draft !== undefined) return draft.text;
    return savedText(row, side);
  }
  function savedText(row, side) {
    return side === "source" ? row.text : row.line?.text ?? "";
  }

  const listeners = new Map();
  function on(name, listener) {
    listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  }
  function emit(name, detail) {
    for (const listener of listeners.get(name) ?? []) listener(detail);
  }
  // White space counts as one space, as on the server.
  const tidy = (text) => text.replace(/\s+/g, " ").trim();
  const clock = (seconds) => {
    const whole = Math.floor(seconds);
    const rest = `${String(Math.floor(whole / 60) % 60)}:${String(whole % 60).padStart(2, "0")}`;
    return whole >= 3600 ? `${Math.floor(whole / 3600)}:${rest.padStart(5, "0")}` : rest;
  };
  return { root, model, put, remove, setHead, rowAt, textOf, savedText, on, emit, tidy, clock };
})();
