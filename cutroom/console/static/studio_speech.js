// Speaks a line of the dub as it is typed, without changing anything, and offers shorter wordings.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const POLL_MS = 700;
  const MAX_POLLS = 120;
  const NOTES = {
    pending: " · asking the language model",
    late: " · the language model has not answered in time",
    failed: " · the language model has not answered",
  };
  const audio = new Audio();

  // The text as it is typed; none if it is that of the line.
  function bodyOf(row) {
    const open = studio.current();
    const text = studio.tidy(open?.row === row && open.side === "line" ? open.field.value : studio.textOf(row, "line"));
    return text && text !== studio.savedText(row, "line") ? { id: row.line.id, text } : { id: row.line.id };
  }
  const failed = (error) => studio.say(error.message);

  async function preview(row) {
    if (!row?.line || row.removed) return studio.say("There is no line of the dub here.");
    studio.say("Preparing the preview.");
    let found = await studio.post("preview", bodyOf(row));
    for (let count = 0; ["queued", "processing"].includes(found.status) && count < MAX_POLLS; count += 1) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      found = await studio.get("preview", { line: row.line.id, preview: found.id });
    }
    if (found.status === "failed") return studio.say(found.error?.message ?? "The preview failed.");
    if (found.status !== "ready") return studio.say("The preview is not ready yet. Try again in a moment.");
    const [take] = found.takes;
    studio.player?.pause();
    audio.src = take.audioUrl;
    audio.play().catch(() => {});
    const excess = take.fit.excessSeconds;
    return studio.say(`Preview: ${take.seconds.toFixed(1)} s, ${excess > 0.05 ? `${excess.toFixed(1)} s too long` : "fits"}`);
  }

  // The wordings that are known are shown at once, and again when the language model has answered.
  async function wordings(row) {
    if (!row?.line || row.removed) return studio.say("There is no line of the dub here.");
    let found = await studio.post("wordings", bodyOf(row));
    const known = found.wordings.length;
    if (known || found.model !== "pending") offer(row, found);
    else studio.say("Asking the language model.");
    if (found.model !== "pending") return;
    for (let count = 0; found.model === "pending" && count < MAX_POLLS; count += 1) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      found = await studio.get("wordings", { line: row.line.id, wordings: found.id });
    }
    const isOpen = studio.elementOf(row)?.querySelector(".side.line .wordings");
    if (!known || (isOpen && found.wordings.length > known)) offer(row, found);
  }

  function offer(row, found) {
    const side = studio.elementOf(row)?.querySelector(".side.line");
    side?.querySelector(".wordings")?.remove();
    const note = NOTES[found.model] ?? "";
    if (!found.wordings.length) return studio.say(`There is no shorter wording that fits.${note}`);
    const block = document.createElement("div");
    block.className = "wordings";
    block.setAttribute("role", "group");
    block.setAttribute("aria-label", "Shorter wordings");
    for (const { text, seconds } of found.wordings) {
      const choice = document.createElement("button");
      choice.type = "button";
      choice.className = "slim";
      choice.textContent = `${text} · ${seconds.toFixed(1)} s`;
      choice.addEventListener("click", () => {
        block.remove();
        if (model.byId.get(row.id) === row) studio.save(row, "line", text, studio.savedText(row, "line"));
        studio.focus(row, "line");
      });
      block.append(choice);
    }
    studio.commit();
    side?.append(block);
    block.firstElementChild.focus();
    return studio.say(`${found.wordings.length} shorter wordings${note}`);
  }
  Object.assign(studio, {
    preview: (row) => preview(row).catch(failed),
    wordings: (row) => wordings(row).catch(failed),
  });
})();
