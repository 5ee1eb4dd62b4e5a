// Saves texts line by line. A text is sent with the revision that it was written for; if someone else has changed the
// transcript meanwhile, it is sent again, unless they changed the same line: then both texts are shown to choose from.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
  const status = document.getElementById("studio-status");
  const problem = document.getElementById("studio-problem");
  const drafts = new Set(); // texts that are not saved
  let notice = "";

  function showStatus() {
    const waiting = [...drafts].filter((each) => !each.problem).length;
    const stopped = drafts.size - waiting;
    if (stopped) status.textContent = stopped === 1 ? "1 change needs your decision" : `${stopped} changes need your decision`;
    else if (waiting) status.textContent = notice || "Saving";
    else status.textContent = model.isLoaded ? "All changes saved" : "Loading";
    status.classList.toggle("is-waiting", drafts.size > 0);
  }
  // A sentence on what has just happened, which screen readers speak.
  function say(text) {
    status.textContent = text;
  }
  function report(text) {
    problem.hidden = !text;
    problem.textContent = text ?? "";
  }

  // Runs a request until the server has decided about it.
  async function persist(attempt) {
    for (let failures = 0; ; failures += 1) {
      try {
        const answer = await attempt();
        notice = "";
        report("");
        return answer;
      } catch (error) {
        if (!(error instanceof studio.StudioError) || !error.isTemporary) throw error;
        notice = "Not saved yet. Trying again.";
        showStatus();
        await new Promise((done) => setTimeout(done, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]));
      }
    }
  }

  // Texts

  function save(row, side, text, base) {
    const earlier = row.drafts?.[side];
    const draft = { row, side, text, bases: new Set(earlier ? earlier.bases : [base]) };
    if (earlier) {
      draft.bases.add(earlier.text);
      drafts.delete(earlier);
    }
    closeConflict(row, side);
    row.drafts = { ...row.drafts, [side]: draft };
    drafts.add(draft);
    studio.draw(row);
    showStatus();
    studio.enqueue(() => send(draft));
  }
  function settle(draft) {
    drafts.delete(draft);
    const { row, side } = draft;
    if (row.drafts?.[side] === draft) {
      delete row.drafts[side];
      if (!Object.keys(row.drafts).length) delete row.drafts;
    }
    studio.draw(row);
    showStatus();
  }
  const isCurrent = (draft) => drafts.has(draft) && draft.row.drafts?.[draft.side] === draft;

  async function send(draft) {
    const { row, side } = draft;
    while (isCurrent(draft)) {
      if (model.byId.get(row.id) !== row || (side === "line" && !row.line)) return lose(draft);
      const saved = studio.savedText(row, side);
      if (saved === draft.text && !draft.isForced) return settle(draft);
      if (!draft.bases.has(saved)) return showConflict(draft, "Someone else changed this line.");
      try {
        const answer = await persist(() => studio.post(...bodyOf(draft)));
        drafts.delete(draft);
        if (side === "line") studio.applyOwn(answer); else studio.apply(answer);
        return settle(draft);
      } catch (error) {
        if (error.code !== "CONFLICT") return refuse(draft, error);
        await persist(() => studio.sync(side === "line" ? row.line.id : undefined));
      }
    }
    return undefined;
  }
  function bodyOf({ row, side, text, isForced }) {
    if (side === "source") return ["transcript", { revision: model.revision, operations: [{ op: "replaceText", id: row.id, text }] }];
    return ["line", {
      id: row.line.id, text: text || null, revision: model.track.revision, transcriptRevision: model.revision, isConfirmed: Boolean(isForced),
    }];
  }
  // Says that the text of a line is right although the original has changed.
  function confirm(row) {
    const draft = { row, side: "line", text: row.line.text, bases: new Set([row.line.text]), isForced: true };
    row.drafts = { ...row.drafts, line: draft };
    drafts.add(draft);
    showStatus();
    studio.enqueue(() => send(draft));
  }

  // Texts that could not be saved

  function refuse(draft, error) {
    draft.problem = `Not saved: ${error.message}`;
    if (error.code === "SIGNED_OUT") report(error.message);
    showConflict(draft, draft.problem);
  }
  function showConflict(draft, reason) {
    const { row, side } = draft;
    draft.problem ??= "Not saved";
    draft.isForced = false;
    closeConflict(row, side);
    const block = document.getElementById("conflict-template").content.firstElementChild.cloneNode(true);
    block.dataset.side = side;
    block.querySelector(".reason").textContent = reason;
    block.querySelector(".mine").textContent = draft.text || "Empty";
    block.querySelector(".theirs").textContent = studio.savedText(row, side) || "Empty";
    studio.elementOf(row).querySelector(`.side.${side}`).append(block);
    studio.draw(row);
    showStatus();
  }
  function closeConflict(row, side) {
    studio.elementOf(row)?.querySelector(`.conflict[data-side=${side}]`)?.remove();
  }
  function resolve(row, side, choice) {
    const draft = row.drafts?.[side];
    closeConflict(row, side);
    if (!draft) return;
    delete draft.problem;
    if (choice === "theirs") return settle(draft);
    draft.bases.add(studio.savedText(row, side));
    studio.draw(row);
    showStatus();
    studio.enqueue(() => send(draft));
  }
  // The line went while its text was being written: the text stays on the page until it is dismissed.
  function lose(draft) {
    drafts.delete(draft);
    keep(draft.text);
    showStatus();
  }
  function keep(text) {
    const block = document.createElement("div");
    block.className = "notice stack lost";
    const reason = document.createElement("p");
    reason.textContent = "Someone else removed or merged the line that you changed. Your text is not saved:";
    const mine = document.createElement("p");
    mine.className = "mine";
    mine.textContent = text;
    const dismiss = document.createElement("button");
    dismiss.type = "button";
    dismiss.className = "slim";
    dismiss.textContent = "Dismiss";
    dismiss.addEventListener("click", () => block.remove());
    block.append(reason, mine, dismiss);
    problem.after(block);
  }

  // Operations on the document

  // `build` returns the operations for the transcript as it is now, or null if they no longer make sense.
  function operate(build) {
    return studio.enqueue(async () => {
      for (;;) {
        const operations = build();
        if (!operations) return null;
        try {
          const answer = await persist(() => studio.post("transcript", { revision: model.revision, operations }));
          studio.apply(answer);
          showStatus();
          return answer;
        } catch (error) {
          if (error.code !== "CONFLICT") throw error;
          await persist(() => studio.sync());
        }
      }
    }).catch((error) => {
      report(error.message);
      return null;
    });
  }
  // Undo and redo never revert what someone else did without a second request.
  function walk(path, done) {
    return studio.enqueue(async () => {
      try {
        const answer = await persist(() => studio.post(path, { revision: model.revision }));
        studio.apply(answer);
        say(done);
        return answer;
      } catch (error) {
        if (error.code === "CONFLICT") {
          await persist(() => studio.sync());
          say("Someone else changed the transcript. Repeat it to include their change.");
        } else say(error.message);
        return null;
      }
    });
  }
  function regenerate() {
    return studio.enqueue(async () => {
      try {
        const body = { revision: model.track.revision, transcriptRevision: model.revision };
        studio.applyOwn(await studio.post("regenerate", body));
        report("");
      } catch (error) {
        report(error.code === "CONFLICT" ? "Something was changed meanwhile. Check the price and try again." : error.message);
        await studio.sync().catch(() => {});
      }
    });
  }

  studio.list.addEventListener("click", (event) => {
    const row = studio.rowOf(event.target);
    const choice = event.target.closest("[data-resolve]");
    if (choice) resolve(row, choice.closest(".conflict").dataset.side, choice.dataset.resolve);
    const action = event.target.closest("[data-action]");
    if (action?.dataset.action === "confirm") confirm(row);
    if (action?.dataset.action === "reset") save(row, "line", "", row.line.text);
  });
  studio.on("problem", report);
  studio.on("loaded", showStatus);
  window.addEventListener("beforeunload", (event) => {
    if (drafts.size || studio.isTyping?.()) event.preventDefault();
  });
  Object.assign(studio, { save, operate, walk, regenerate, say, report, keep, drafts });
})();
