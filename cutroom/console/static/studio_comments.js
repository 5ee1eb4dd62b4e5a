// Comments in the studio: a comment's time seeks, and a new comment is at the time of the player until someone types.
//
// The page dispatches `studio:time` on the document as the player moves, with `detail.seconds`, and where it is known
// `detail.segmentId` and `detail.language`; it seeks when it receives `studio:seek` with `detail.seconds`.
"use strict";

(() => {
  let current = { seconds: 0, segmentId: "", language: "" };

  function clock(seconds) {
    const tenths = Math.max(0, Math.floor(seconds * 10));
    const minutes = Math.floor(tenths / 600);
    const rest = `${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
    return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
  }

  const form = () => document.querySelector("form[data-comment-form]");
  // What someone types stays at the time at which they began.
  const isInUse = (each) => each.elements.text.value !== "" || each.contains(document.activeElement);

  function follow() {
    const each = form();
    if (!each || isInUse(each)) return;
    each.elements.time.value = clock(current.seconds);
    each.elements.segment.value = current.segmentId;
    each.elements.language.value = current.language;
  }

  document.addEventListener("studio:time", (event) => {
    const { seconds, segmentId = "", language = "" } = event.detail;
    current = { seconds, segmentId, language };
    follow();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-seek]");
    if (button) document.dispatchEvent(new CustomEvent("studio:seek", { detail: { seconds: Number(button.dataset.seek) } }));
  });

  document.addEventListener("htmx:afterSwap", follow);
})();
