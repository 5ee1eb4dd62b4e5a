// What buttons and keys do with the line that has the focus, or had it last.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const root = studio.root;
  let here = { row: null, side: "source" };

  const sides = ["source", "line"];
  const isEditable = (row, side) => (side === "line" ? Boolean(row.line) : !row.removed);
  function focus(row, side) {
    const shown = isEditable(row, side) ? side : sides.find((each) => isEditable(row, each));
    const cell = studio.cellOf(row, shown);
    here = { row, side: shown };
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest" });
  }
  root.addEventListener("focusin", (event) => {
    const row = studio.rowOf(event.target);
    if (!row) return;
    here = { row, side: event.target.closest(".side")?.classList.contains("line") ? "line" : "source" };
    showDeletion();
  });
  const isHere = () => here.row && model.byId.get(here.row.id) === here.row;
  function current() {
    if (!isHere()) here = { row: studio.player ? studio.rowAt(studio.player.currentTime) : null, side: "source" };
    here.row ??= model.rows[0] ?? null;
    return here.row;
  }

  // Moving

  function neighbor(row, side, step) {
    for (let at = model.rows.indexOf(row) + step; at >= 0 && at < model.rows.length; at += step) {
      if (isEditable(model.rows[at], side)) return model.rows[at];
    }
    return null;
  }
  function move(step, { isEditing = false, caret = null } = {}) {
    const { side } = here;
    const next = neighbor(current(), side, step);
    if (!next) return false;
    if (isEditing) studio.edit(next, side, caret); else focus(next, side);
    return true;
  }
  function turn(side) {
    const row = current();
    if (!isEditable(row, side)) return false;
    focus(row, side);
    return true;
  }
  function nextWith(kind, nothing) {
    const { rows } = model;
    const start = rows.indexOf(current());
    for (let step = 1; step <= rows.length; step += 1) {
      const row = rows[(start + step) % rows.length];
      if (!row.line?.marks.some((each) => each.kind === kind)) continue;
      studio.commit();
      focus(row, "line");
      return studio.say(row.line.marks.map((each) => each.text).join(". "));
    }
    return studio.say(nothing);
  }

  // Changing the document. What a command leads to gets the focus, unless the person has gone on meanwhile.

  function stayer() {
    const before = document.activeElement;
    return () => !studio.current() && [before, document.body].includes(document.activeElement);
  }
  // What is typed between a command and its response goes into the field that opens then.
  let typedAhead = null;
  const typeAhead = (text) => {
    if (typedAhead === null) return false;
    typedAhead += text;
    return true;
  };
  async function operateAndEdit(operation, open) {
    const isHere = stayer();
    typedAhead = "";
    const answer = await operation();
    const text = typedAhead;
    typedAhead = null;
    if (!isHere()) return;
    if (answer) open(answer); else focus(current(), "source");
    const { field } = studio.current() ?? {};
    if (field && text) {
      field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
      field.dispatchEvent(new Event("input"));
    }
  }

  // The text of a line as it is typed, and what was saved before.
  function typed(row) {
    const open = studio.current();
    const isOpen = open?.row === row && open.side === "source";
    return { open: isOpen ? open : null, base: studio.savedText(row, "source"), text: isOpen ? open.field.value : studio.textOf(row, "source") };
  }
  function replaced(row, base, text) {
    return text === base ? [] : [{ op: "replaceText", id: row.id, text }];
  }
  function split() {
    const row = current();
    const { open, base, text } = typed(row);
    if (!open) return studio.say("Put the cursor where the line is to be split.");
    const whole = studio.tidy(text);
    // Positions count characters, of which some are two units of a JavaScript string.
    const before = text.slice(0, open.field.selectionStart).replace(/\s+/g, " ").trimStart();
    const at = [...before].length;
    if (!before.trim() || !whole.slice(before.length).trim()) return studio.say("Both lines need a text.");
    studio.cancel();
    const operations = () => [...replaced(row, base, whole), { op: "split", id: row.id, at }];
    return operateAndEdit(() => operateOn(row, base, whole, operations), (answer) => {
      const added = answer.rows.find((each) => each.id !== row.id && each.previous === row.id);
      studio.edit(model.byId.get(added?.id), "source", 0);
    });
  }
  function merge() {
    const row = current();
    const before = neighbor(row, "source", -1);
    if (!before) return studio.say("There is no line before.");
    const { base, text } = typed(row);
    const whole = studio.tidy(text);
    studio.cancel();
    const operations = () => {
      if (!model.byId.has(before.id)) return null;
      return [...replaced(row, base, whole), { op: "merge", ids: [before.id, row.id] }];
    };
    return operateAndEdit(() => operateOn(row, base, whole, operations), () => {
      studio.edit(before, "source", before.text.length - whole.length);
    });
  }
  // An operation on a text that someone else has changed is not made: the text is saved as any other, with a choice.
  async function operateOn(row, base, text, build) {
    let isOutdated = false;
    const answer = await studio.operate(() => {
      isOutdated = model.byId.get(row.id) !== row || row.text !== base;
      return isOutdated ? null : build();
    });
    if (answer === null && text !== base && row.text !== text) studio.save(row, "source", text, base);
    if (isOutdated) studio.say("Someone else changed this line. Look at it, then repeat the command.");
    return answer;
  }
  async function toggleDeletion() {
    const row = current();
    if (!row || row.removed) return;
    studio.commit();
    const { deleted } = row;
    const op = deleted ? "restore" : "delete";
    const isHere = stayer();
    await studio.operate(() => (model.byId.has(row.id) && row.deleted === deleted ? [{ op, ids: [row.id] }] : null));
    studio.say(deleted ? "Line restored." : "Line deleted. Dubs and captions leave it out.");
    if (isHere()) focus(row, "source");
    showDeletion();
  }
  function showDeletion() {
    const button = root.querySelector("[data-command=delete]");
    if (button) button.textContent = here.row?.deleted ? "Restore" : "Delete";
  }
  async function walk(path, done) {
    studio.commit();
    const isHere = stayer();
    const answer = await studio.walk(path, done);
    const first = answer?.rows.find((each) => model.byId.has(each.id));
    if (first && isHere()) focus(model.byId.get(first.id), "source");
  }

  // Speakers

  const dialog = document.getElementById("speaker-dialog");
  const form = dialog.querySelector("form");
  const NEW = "new";
  function newSpeaker() {
    for (let number = 1; ; number += 1) if (!(`speaker_${number}` in model.speakers)) return `speaker_${number}`;
  }
  function chooseSpeaker() {
    const row = current();
    if (!row || row.removed) return;
    studio.commit();
    const { speaker, label } = form.elements;
    const options = [...Object.entries(model.speakers), [NEW, "New speaker"]];
    speaker.replaceChildren(...options.map(([id, text]) => new Option(text, id, false, id === row.speaker)));
    const showLabel = () => { label.value = speaker.value === NEW ? "" : model.speakers[speaker.value]; };
    speaker.onchange = showLabel;
    showLabel();
    dialog.onclose = () => {
      if (dialog.returnValue === "save") setSpeaker(row, speaker.value, studio.tidy(label.value));
      focus(row, "source");
    };
    dialog.returnValue = "";
    dialog.showModal();
  }
  function setSpeaker(row, chosen, label) {
    if (!label) return;
    studio.operate(() => {
      if (!model.byId.has(row.id)) return null;
      const id = chosen === NEW ? newSpeaker() : chosen;
      const operations = [];
      if (row.speaker !== id) operations.push({ op: "setSpeaker", ids: [row.id], speaker: id });
      if (model.speakers[id] !== label) operations.push({ op: "renameSpeaker", speaker: id, label });
      return operations.length ? operations : null;
    });
  }

  const commands = {
    undo: () => walk("undo", "Change reverted."),
    redo: () => walk("redo", "Change repeated."),
    split,
    merge,
    delete: toggleDeletion,
    speaker: chooseSpeaker,
    playOriginal: () => current() && studio.playOriginal(current()),
    playDub: () => current() && studio.playDub(current()),
    preview: () => studio.preview(current()),
    wordings: () => studio.wordings(current()),
    nextStale: () => nextWith("stale", "Nothing is out of date."),
    nextReview: () => nextWith("review", "Nothing is to be reviewed."),
    regenerate: () => studio.regenerate(),
    keys: () => document.getElementById("keys-help").showModal(),
  };
  const EDITING = new Set(["undo", "redo", "split", "merge", "delete", "speaker"]);
  function run(name) {
    if (!model.isLoaded || (EDITING.has(name) && !model.mayEdit)) return;
    commands[name]();
  }
  const tools = document.getElementById("studio-tools");
  tools.addEventListener("pointerdown", (event) => { // the cursor stays in the line
    if (event.target.closest("button") && studio.current()) event.preventDefault();
  });
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-command]");
    if (button) run(button.dataset.command);
  });
  tools.hidden = false;

  const price = document.getElementById("studio-regenerate");
  const job = document.getElementById("studio-job");
  function showTrack() {
    if (!price) return;
    const { track } = model;
    price.hidden = !track?.price;
    price.textContent = track?.price ?? "";
    job.textContent = track?.job ?? track?.problem ?? (track && !track.stale ? "Everything is up to date" : "");
  }
  studio.on("changed", showTrack);
  studio.on("loaded", showDeletion);
  document.querySelector("#choose-track select")?.addEventListener("change", (event) => event.target.form.requestSubmit());

  studio.report("");
  studio.enqueue(studio.load).catch((error) => studio.report(error.message));
  Object.assign(studio, { run, move, turn, focus, typeAhead, here: () => here });
})();
