// Editing in place: one field at a time takes the place of a text.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const MAX_TEXT = { source: 2_000, line: 1_000 };
  const grows = CSS.supports("field-sizing", "content");
  let open = null; // { row, side, cell, field, base, fit }

  function edit(row, side, caret = null) {
    if (!model.mayEdit || !row || (side === "line" ? !row.line : row.removed)) return false;
    if (open?.row === row && open.side === side) {
      open.field.focus();
      return true;
    }
    commit();
    const cell = studio.cellOf(row, side);
    if (!cell) return false;
    const base = studio.textOf(row, side);
    const field = document.createElement("textarea");
    field.rows = 1;
    field.maxLength = MAX_TEXT[side];
    field.value = base;
    if (side === "line") field.placeholder = row.line.heard ?? "";
    field.className = "field";
    field.lang = cell.lang;
    field.setAttribute("aria-label", `${side === "source" ? "Transcript" : "Translation"}, ${studio.clock(row.start)}, ${model.speakers[row.speaker] ?? row.speaker}`);
    const fit = side === "line" && row.line.fit ? cell.parentNode.querySelector(".remark.fit") ?? addFit(cell) : null;
    open = { row, side, cell, field, base, fit };
    cell.hidden = true;
    cell.after(field);
    field.addEventListener("input", onInput);
    field.addEventListener("blur", onBlur);
    field.focus({ preventScroll: true });
    const at = caret === null ? field.value.length : Math.min(caret, field.value.length);
    field.setSelectionRange(at, at);
    grow();
    studio.elementOf(row).scrollIntoView({ block: "nearest" });
    studio.emit("opened", open);
    return true;
  }
  function addFit(cell) {
    const made = studio.note("", "fit");
    cell.parentNode.querySelector(".notes").append(made);
    return made;
  }
  function grow() {
    if (grows || !open) return;
    open.field.style.height = "auto";
    open.field.style.height = `${open.field.scrollHeight + 2}px`;
  }
  function onInput() {
    grow();
    if (!open?.fit) return;
    const fit = studio.fitOf(open.row.line, studio.tidy(open.field.value));
    open.fit.textContent = fit?.text ?? "";
    open.fit.classList.toggle("long", Boolean(fit?.isLong));
  }
  // Leaving the field saves, also by a click elsewhere; a window that loses the focus keeps it open.
  function onBlur() {
    if (open && document.hasFocus()) commit();
  }

  function close() {
    const closed = open;
    if (!closed) return null;
    open = null; // before the field goes, which takes the focus from it
    closed.field.remove();
    closed.cell.hidden = false;
    studio.draw(closed.row);
    studio.emit("closed", closed);
    return closed;
  }
  // Saves and closes; returns what was open.
  function commit() {
    const closed = close();
    if (!closed) return null;
    const text = studio.tidy(closed.field.value);
    if (text === closed.base) return closed;
    if (!text && closed.side === "source") studio.say("A line of the transcript needs a text. Delete the line to leave it out.");
    else studio.save(closed.row, closed.side, text, closed.base);
    return closed;
  }
  const cancel = close;
  const current = () => open;
  const isTyping = () => open !== null && studio.tidy(open.field.value) !== open.base;

  // A row that someone else removes takes its field with it: the text is kept on the page.
  studio.on("changed", ({ removed }) => {
    if (!open || !removed.includes(open.row)) return;
    const text = studio.tidy(open.field.value);
    const isChanged = text !== open.base;
    open = null;
    if (isChanged) studio.keep(text);
  });
  studio.list.addEventListener("click", (event) => {
    const cell = event.target.closest(".cell[tabindex]");
    if (!cell || window.getSelection()?.type === "Range") return;
    const row = studio.rowOf(cell);
    edit(row, cell.closest(".side").classList.contains("line") ? "line" : "source", caretAt(event, cell));
  });
  // Where in the text the pointer is.
  function caretAt(event, cell) {
    const found = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    if (found && cell.contains(found.offsetNode)) return found.offset;
    const range = document.caretRangeFromPoint?.(event.clientX, event.clientY);
    return range && cell.contains(range.startContainer) ? range.startOffset : null;
  }
  Object.assign(studio, { edit, commit, cancel, current, isTyping });
})();
