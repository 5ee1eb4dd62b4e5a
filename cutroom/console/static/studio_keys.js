// Keyboard of the studio. Every key has a button that does the same.
"use strict";

(() => {
  const { studio } = window;
  const ALT_KEYS = { KeyS: "nextStale", KeyR: "nextReview", KeyO: "playOriginal", KeyD: "playDub" };
  const FIELDS = "input, textarea, select, [contenteditable]";

  // Returns whether the key is handled.
  function onKey(event) {
    if (event.isComposing || document.querySelector("dialog[open]")) return false;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.altKey && !isCommand && ALT_KEYS[event.code]) return done(() => studio.run(ALT_KEYS[event.code]));
    if (event.code === "Space" && event.ctrlKey) return done(studio.toggle);
    const open = studio.current();
    if (open?.field === event.target) return isCommand ? inFieldWithCommand(event, open) : inField(event, open);
    if (event.target.matches(FIELDS)) return false;
    if (event.key.length === 1 && !isCommand && !event.altKey && studio.typeAhead(event.key)) return true;
    if (isCommand) return onHistory(event);
    if (event.altKey) return false;
    return outside(event);
  }
  function done(action) {
    action();
    return true;
  }

  function inField(event, open) {
    const { field, row, side } = open;
    const isAt = (position) => field.selectionStart === position && field.selectionEnd === position;
    switch (event.key) {
      case "Enter":
        return done(() => leave(studio.commit, row, side));
      case "Escape":
        return done(() => leave(studio.cancel, row, side));
      case "Tab":
        return studio.move(event.shiftKey ? -1 : 1, { isEditing: true });
      case "ArrowUp":
        return !event.shiftKey && isAt(0) && studio.move(-1, { isEditing: true });
      case "ArrowDown":
        return !event.shiftKey && isAt(field.value.length) && studio.move(1, { isEditing: true, caret: 0 });
      default:
        return false;
    }
  }
  function leave(action, row, side) {
    action();
    studio.focus(row, side);
  }
  function inFieldWithCommand(event, open) {
    const { field, side } = open;
    if (event.key === "Enter" && side === "source") return done(() => studio.run("split"));
    if (event.key === "Backspace" && side === "source" && field.selectionStart === 0 && field.selectionEnd === 0) {
      return done(() => studio.run("merge"));
    }
    return studio.isTyping() ? false : onHistory(event); // the browser reverts typing first
  }
  function onHistory(event) {
    const key = event.key.toLowerCase();
    if (key === "z") return done(() => studio.run(event.shiftKey ? "redo" : "undo"));
    return key === "y" && done(() => studio.run("redo"));
  }

  function outside(event) {
    const cell = event.target.closest?.(".cell[tabindex]");
    const isControl = event.target.matches("button, a, summary, video, audio");
    switch (event.key) {
      case " ":
        return !isControl && done(studio.toggle);
      case "Enter":
        return Boolean(cell) && studio.edit(studio.here().row, studio.here().side);
      case "ArrowDown":
        return Boolean(cell) && studio.move(1);
      case "ArrowUp":
        return Boolean(cell) && studio.move(-1);
      case "ArrowLeft":
        return cell ? studio.turn("source") : !isControl && done(() => seekBy(-1));
      case "ArrowRight":
        return cell ? studio.turn("line") : !isControl && done(() => seekBy(1));
      default:
        return false;
    }
  }
  function seekBy(step) {
    const { rows } = studio.model;
    const at = studio.player?.currentTime ?? 0;
    const target = step > 0 ? rows.find((row) => row.start > at + 0.1) : rows.findLast((row) => row.start < at - 0.6);
    studio.seek(target?.start ?? 0);
  }

  document.addEventListener("keydown", (event) => {
    if (!onKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
})();
