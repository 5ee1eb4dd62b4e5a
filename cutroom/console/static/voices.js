// Records a voice sample in the browser, and plays synthesized speech without leaving the page.
"use strict";

(() => {
  const MAX_SECONDS = 120;
  const sample = document.getElementById("sample");
  const samplePlayer = document.getElementById("sample-player");
  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

  function show(file) {
    document.getElementById("chosen").textContent = file ? file.name : "";
    if (samplePlayer.src) URL.revokeObjectURL(samplePlayer.src);
    samplePlayer.hidden = !file;
    if (file) samplePlayer.src = URL.createObjectURL(file);
  }
  sample?.addEventListener("change", () => show(sample.files[0]));

  // Browsers allow microphone access only in secure contexts; the file input always works.
  const button = document.getElementById("record");
  if (button && navigator.mediaDevices && window.MediaRecorder) {
    document.getElementById("recorder").hidden = false;
    const time = document.getElementById("recorded");
    const state = document.getElementById("record-state");
    let recorder = null;

    const stop = () => { if (recorder?.state === "recording") recorder.stop(); };
    async function start() {
      let stream;
      try {
        stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: false, autoGainControl: false } });
      } catch {
        state.textContent = "Microphone access was denied. Allow it for this page, or upload a file.";
        return;
      }
      const chunks = [];
      const startedAt = performance.now();
      recorder = new MediaRecorder(stream);
      recorder.addEventListener("dataavailable", (event) => chunks.push(event.data));
      const timer = setInterval(() => {
        const seconds = (performance.now() - startedAt) / 1000;
        time.textContent = clock(seconds);
        if (seconds >= MAX_SECONDS) stop();
      }, 200);
      recorder.addEventListener("stop", () => {
        clearInterval(timer);
        for (const track of stream.getTracks()) track.stop();
        const kind = recorder.mimeType.split(";")[0];
        const file = new File(chunks, `recording.${kind.includes("mp4") ? "m4a" : "webm"}`, { type: kind });
        const transfer = new DataTransfer();
        transfer.items.add(file);
        sample.files = transfer.files;
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
    document.getElementById("chosen").textContent = "Record a sample or choose a file.";
  });

  const form = document.getElementById("speak");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    const spoken = document.getElementById("spoken");
    const status = document.getElementById("spoken-state");
    const button = form.querySelector("button");
    button.disabled = true;
    status.textContent = "Generating speech…";
    try {
      const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" } });
      if (!response.ok) {
        const body = await response.json();
        throw new Error((body.error || body).message);
      }
      if (spoken.src) URL.revokeObjectURL(spoken.src);
      spoken.src = URL.createObjectURL(await response.blob());
      spoken.hidden = false;
      status.textContent = "";
      await spoken.play().catch(() => {});
    } catch (error) {
      status.textContent = error.message || "Speech could not be generated. Try again.";
    } finally {
      button.disabled = false;
    }
  });
})();
