// Plays lines, marks the one that is heard, and keeps other panels of the page at the same time.
"use strict";

(() => {
  const { studio } = window;
  const player = document.getElementById("player");
  let until = null; // where the line that is played ends
  let marked = null;

  function select(name) {
    const choice = document.getElementById(`audio-${name}`);
    if (choice && choice.getAttribute("aria-pressed") !== "true") choice.click();
  }
  function play(from, to) {
    if (!player) return;
    until = to;
    player.currentTime = from;
    player.play().catch(() => {});
  }
  function playOriginal(row) {
    select("original");
    play(row.start, row.end);
  }
  function playDub(row) {
    if (!row.line?.spoken) return studio.say("This line is not spoken yet.");
    select("dub");
    return play(...row.line.spoken);
  }
  function toggle() {
    if (!player) return;
    until = null;
    if (player.paused) player.play().catch(() => {}); else player.pause();
  }
  function seek(seconds) {
    if (!player) return;
    until = null;
    player.currentTime = Math.max(0, Math.min(seconds, studio.model.duration));
  }

  function mark() {
    const row = studio.rowAt(player.currentTime + 0.05);
    const element = row && studio.elementOf(row);
    if (element !== marked) {
      marked?.classList.remove("playing");
      element?.classList.add("playing");
      marked = element;
      const isTyping = document.activeElement?.matches("textarea, input, select");
      if (element && !player.paused && !isTyping) element.scrollIntoView({ block: "nearest" });
    }
    const detail = { seconds: player.currentTime, language: (studio.model.lang ?? "").split(":")[0] };
    if (row && !row.removed) detail.segmentId = row.id;
    document.dispatchEvent(new CustomEvent("studio:time", { detail }));
  }
  if (player) {
    player.addEventListener("timeupdate", () => {
      if (until !== null && player.currentTime >= until) {
        player.pause();
        until = null;
      }
      mark();
    });
    player.addEventListener("seeked", mark);
    document.addEventListener("studio:seek", (event) => seek(event.detail.seconds));
  }
  Object.assign(studio, { playOriginal, playDub, toggle, seek, player });
})();
