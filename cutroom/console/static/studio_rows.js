// Draws the rows. Those that the page came with are taken over. Rows are in chunks, of which the browser lays out only
// those that are visible; all of them are in the document, for searches in the page and for screen readers.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const list = document.getElementById("segments");
  const template = document.getElementById("segment-template").content.firstElementChild;
  const CHUNK_ROWS = 50;
  const EMPTY = { source: "", line: "Not translated yet" };

  const elementOf = (row) => document.getElementById(`row-${row.id}`);
  const rowOf = (element) => model.byId.get(element?.closest(".segment")?.dataset.id) ?? null;
  const cellOf = (row, side) => elementOf(row)?.querySelector(`.side.${side} .cell`) ?? null;

  function note(text, kind = "") {
    const made = document.createElement("span");
    made.className = `remark ${kind}`.trim();
    made.textContent = text;
    return made;
  }
  function action(text, name) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "slim";
    made.dataset.action = name;
    made.textContent = text;
    return made;
  }

  function fillCell(row, side, element) {
    const cell = element.querySelector(".cell");
    const text = studio.textOf(row, side);
    const has = side === "source" ? !row.removed : Boolean(row.line);
    cell.textContent = text || (has ? (side === "line" && row.line.heard) || EMPTY[side] : side === "line" && row.continues ? "Spoken with the line above" : "");
    cell.classList.toggle("missing", !text);
    if (has) {
      cell.tabIndex = 0;
      cell.setAttribute("role", "button");
    } else {
      cell.removeAttribute("tabindex");
      cell.removeAttribute("role");
    }
  }
  function lineNotes(row) {
    const { line } = row;
    if (!line) return [];
    const notes = line.marks.map((each) => note(each.text, each.kind));
    const fit = fitOf(line, studio.textOf(row, "line"));
    if (fit) notes.push(note(fit.text, fit.isLong ? "fit long" : "fit"));
    if (model.mayEdit && line.marks.some((each) => each.kind === "review")) notes.push(action("Still right", "confirm"));
    if (model.mayEdit && line.edited) notes.push(action("Back to the translation", "reset"));
    return notes;
  }
  // How a text fits its time, by the measured speed of its voice.
  function fitOf(line, text) {
    if (!line.fit || !text) return null;
    const over = [...text].length * line.fit.secondsPerCharacter - line.fit.availableSeconds;
    return over >= 0.05 ? { text: `${over.toFixed(1)} s too long`, isLong: true } : { text: "Fits", isLong: false };
  }
  function sourceNotes(row) {
    const notes = [];
    if (row.removed) notes.push(note("No longer in the transcript"));
    if (row.deleted) notes.push(note("Deleted"));
    for (const draft of Object.values(row.drafts ?? {})) if (draft.problem) notes.push(note(draft.problem, "stale"));
    return notes;
  }

  function fill(element, row) {
    element.classList.toggle("deleted", row.deleted);
    element.classList.toggle("removed", Boolean(row.removed));
    element.classList.toggle("unsaved", Boolean(row.drafts));
    const time = element.querySelector(".time");
    time.textContent = studio.clock(row.start);
    time.dataset.start = row.start;
    element.querySelector(".who").textContent = model.speakers[row.speaker] ?? row.speaker;
    for (const side of ["source", "line"]) {
      const part = element.querySelector(`.side.${side}`);
      if (!part) continue;
      fillCell(row, side, part);
      part.querySelector(".notes").replaceChildren(...(side === "source" ? sourceNotes(row) : lineNotes(row)));
    }
  }
  function draw(row) {
    const element = elementOf(row);
    if (element) fill(element, row);
  }
  function make(row) {
    const element = template.cloneNode(true);
    element.id = `row-${row.id}`;
    element.dataset.id = row.id;
    return element;
  }

  function place(element, previous) {
    if (!previous) return void list.firstElementChild.prepend(element);
    const chunk = previous.parentNode;
    if (chunk.children.length < CHUNK_ROWS || previous !== chunk.lastElementChild) return void previous.after(element);
    const next = document.createElement("div");
    next.className = "chunk";
    next.append(element);
    chunk.after(next);
    return undefined;
  }

  // Brings the list up to date; rows that are being edited keep their field.
  studio.on("changed", ({ rows, removed }) => {
    for (const row of removed) elementOf(row)?.remove();
    for (const row of rows) {
      let element = elementOf(row);
      if (!element) {
        const previous = model.rows[model.rows.indexOf(row) - 1]; // rows come in order, so that it is drawn already
        element = make(row);
        place(element, previous && elementOf(previous));
      }
      fill(element, row);
    }
    if (rows.length || removed.length) studio.emit("drawn");
  });
  studio.on("loaded", () => {
    document.getElementById("more-rows")?.remove();
    for (const element of list.querySelectorAll(".segment")) if (!model.byId.has(element.dataset.id)) element.remove();
  });
  let labels = "";
  studio.on("changed", () => { // a renamed speaker changes every row
    const now = JSON.stringify(model.speakers);
    if (labels && labels !== now) for (const row of model.rows) draw(row);
    labels = now;
  });

  Object.assign(studio, { list, elementOf, rowOf, cellOf, draw, fitOf, note });
})();
