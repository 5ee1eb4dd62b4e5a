// Recording a sample in the browser, and hearing a sentence without leaving the page.
"use strict";

(() => {
  const LONGEST_SECONDS = 120;
  const sample = document.getElementById("sample");
  const heard = document.getElementById("heard");
  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

  function show(file) {
    document.getElementById("chosen").textContent = file ? file.name : "";
    if (heard.src) URL.revokeObjectURL(heard.src);
    heard.hidden = !file;
    if (file) heard.src = URL.createObjectURL(file);
  }
  sample?.addEventListener("change", () => show(sample.files[0]));

  // Browsers give the microphone to secure pages only; elsewhere there is the file.
  const button = document.getElementById("record");
  if (button && navigator.mediaDevices && window.MediaRecorder) {
    document.getElementById("recorder").hidden = false;
    const time = document.getElementById("recorded");
    const state = document.getElementById("record-state");
    let recorder = null;

    const stop = () => { if (recorder?.state === "recording") recorder.stop(); };
    async function start() {
      let sound;
      try {
        sound = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: false, autoGainControl: false } });
      } catch {
        state.textContent = "The microphone is not to be had. Allow it for this page, or send a file.";
        return;
      }
      const pieces = [];
      const began = performance.now();
      recorder = new MediaRecorder(sound);
      recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
      const ticking = setInterval(() => {
        const seconds = (performance.now() - began) / 1000;
        time.textContent = clock(seconds);
        if (seconds >= LONGEST_SECONDS) stop();
      }, 200);
      recorder.addEventListener("stop", () => {
        clearInterval(ticking);
        for (const track of sound.getTracks()) track.stop();
        const kind = recorder.mimeType.split(";")[0];
        const file = new File(pieces, `recording.${kind.includes("mp4") ? "m4a" : "webm"}`, { type: kind });
        const carried = new DataTransfer();
        carried.items.add(file);
        sample.files = carried.files;
        show(file);
        button.textContent = "Record again";
        button.setAttribute("aria-pressed", "false");
        state.textContent = "Recorded. Listen to it below.";
      });
      recorder.start(1000);
      button.textContent = "Stop";
      button.setAttribute("aria-pressed", "true");
      state.textContent = "Recording.";
    }
    button.addEventListener("click", () => (recorder?.state === "recording" ? stop() : start()));
  }

  document.getElementById("clone")?.addEventListener("submit", (event) => {
    if (sample.files.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.getElementById("chosen").textContent = "Record something, or choose a recording.";
  });

  const form = document.getElementById("speak");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    const spoken = document.getElementById("spoken");
    const told = document.getElementById("spoken-state");
    const say = form.querySelector("button");
    say.disabled = true;
    told.textContent = "Speaking.";
    try {
      const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } });
      if (!answer.ok) {
        const said = await answer.json();
        throw new Error((said.error || said).message);
      }
      if (spoken.src) URL.revokeObjectURL(spoken.src);
      spoken.src = URL.createObjectURL(await answer.blob());
      spoken.hidden = false;
      told.textContent = "";
      await spoken.play().catch(() => {});
    } catch (fault) {
      told.textContent = fault.message || "It could not be read. Try again.";
    } finally {
      say.disabled = false;
    }
  });
})();
