// The player's head moves through transcript and lanes; a click anywhere seeks. A dub is a second sound, kept in step.
"use strict";

(() => {
  const player = document.getElementById("player");
  const stage = document.querySelector(".stage");
  const words = document.getElementById("words");
  const span = Number(stage.dataset.span);
  const lines = [...words.querySelectorAll("button[data-start]")];
  let chosen = ""; // the dub that is heard; none is the film's own sound

  const clock = (seconds) => {
    const whole = Math.floor(seconds);
    const rest = `${String(Math.floor(whole / 60) % 60)}:${String(whole % 60).padStart(2, "0")}`;
    return whole >= 3600 ? `${Math.floor(whole / 3600)}:${rest.padStart(5, "0")}` : rest;
  };

  function offsets() {
    const bars = document.querySelector("#tracks .bars")?.getBoundingClientRect();
    const frame = document.getElementById("tracks")?.getBoundingClientRect();
    return bars && frame ? { left: bars.left - frame.left, width: bars.width } : { left: 0, width: 1 };
  }

  function follow() {
    if (!player) return;
    const at = player.currentTime;
    const head = document.getElementById("head");
    const place = offsets();
    if (head) head.style.left = `${place.left + (place.width * Math.min(at, span)) / span}px`;
    const now = document.getElementById("now");
    if (now) now.textContent = clock(at);
    const line = lines.findLast((each) => Number(each.dataset.start) <= at + 0.05);
    for (const each of lines) {
      if (each === line && !each.hasAttribute("aria-current")) {
        each.setAttribute("aria-current", "true");
        const top = each.parentNode.offsetTop - words.offsetTop;
        if (!player.paused) words.scrollTo({ top: top - words.clientHeight / 3, behavior: "smooth" });
      } else if (each !== line) each.removeAttribute("aria-current");
    }
  }

  function seek(seconds) {
    if (!player) return;
    player.currentTime = Math.max(0, Math.min(seconds, span));
    follow();
  }

  document.addEventListener("click", (event) => {
    const jump = event.target.closest("[data-start]:not(video)");
    if (jump) return seek(Number(jump.dataset.start));
    const choice = event.target.closest("[data-choice]");
    if (choice) return hear(choice);
    const track = event.target.closest("#tracks .bars");
    if (track) {
      const box = track.getBoundingClientRect();
      seek(((event.clientX - box.left) / box.width) * span);
    }
  });

  // Another language is another sound of the stream. One that the stream does not carry runs beside it and is pulled
  // back when it drifts; the film's own sound is silent then.
  const dub = document.getElementById("dub-sound");
  let stream = null; // the player of adaptive streams, once it has taken over
  let known = ""; // the languages that its lists had when it read them
  let beside = false; // whether a dub is a second sound
  let loading = null;
  const told = () => document.getElementById("live").dataset;
  const trackOf = (language) => stream?.getAudioTracks().find((each) => each.language === language || each.language === language.split("-")[0]);

  async function hear(choice) {
    if (!player) return;
    const { language, inStream } = choice.dataset;
    chosen = choice.dataset.choice;
    mark();
    const isStreamed = inStream !== undefined && told().manifest !== "";
    if (isStreamed && (stream === null || (!trackOf(language) && known !== told().streamed))) await load();
    if (chosen !== choice.dataset.choice) return; // somebody chose again meanwhile
    const track = isStreamed ? trackOf(language) : undefined;
    if (track && !track.active) stream.selectAudioTrack(track);
    beside = chosen !== "" && !track;
    player.muted = beside;
    stage.dataset.heard = beside ? "beside" : `stream ${track?.language ?? ""}`.trim();
    dub.pause();
    if (beside) {
      dub.src = choice.dataset.sound;
      dub.currentTime = player.currentTime;
      if (!player.paused) dub.play().catch(() => {});
    }
    for (const track of player.textTracks) if (chosen && track.mode === "showing" && track.language !== language) track.mode = "disabled";
  }
  function mark() {
    for (const each of document.querySelectorAll("[data-choice]")) {
      each.setAttribute("aria-pressed", String(each.dataset.choice === chosen));
    }
  }
  if (player) {
    player.addEventListener("play", () => { if (beside) { dub.currentTime = player.currentTime; dub.play().catch(() => {}); } });
    player.addEventListener("pause", () => dub.pause());
    player.addEventListener("seeked", () => { if (beside) dub.currentTime = player.currentTime; });
    player.addEventListener("ratechange", () => { dub.playbackRate = player.playbackRate; });
    player.addEventListener("volumechange", () => { dub.volume = player.volume; });
    player.addEventListener("timeupdate", () => {
      if (beside && !player.paused && Math.abs(dub.currentTime - player.currentTime) > 0.12) dub.currentTime = player.currentTime;
    });
    player.addEventListener("loadedmetadata", () => {
      const start = Number(player.dataset.start);
      if (start > 0) seek(start);
    }, { once: true });
    if (told().manifest) load();
    const tick = () => { follow(); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  }

  // Adaptive playback, from where the film stands now; where that fails, the file as it came in.
  function load() {
    loading ??= takeOver().finally(() => { loading = null; });
    return loading;
  }
  async function takeOver() {
    const { manifest, streamed } = told();
    const url = new URL(manifest);
    const ours = url.pathname.startsWith("/media/");
    const { currentTime, paused } = player;
    const file = (player.dataset.source ||= player.src);
    const made = stream ?? new shaka.Player();
    try {
      shaka.polyfill.installAll();
      if (!stream) await made.attach(player);
      // Lists may be kept for some seconds: with other languages they are others, and asked for anew.
      await made.load(ours ? `${url.pathname}?languages=${streamed}` : url.href, currentTime || null);
      stream = made;
      known = streamed;
    } catch {
      stream = null;
      await made.destroy().catch(() => {});
      player.src = file;
      player.currentTime = currentTime;
    }
    if (!paused) await player.play().catch(() => {});
  }

  document.addEventListener("keydown", (event) => {
    if (!player || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select, video, audio, summary")) return;
    if (event.key === " " && !event.target.matches("button, a")) {
      event.preventDefault();
      if (player.paused) player.play(); else player.pause();
    }
    const starts = lines.map((each) => Number(each.dataset.start));
    if (event.key === "ArrowRight") seek(starts.find((start) => start > player.currentTime + 0.1) ?? player.currentTime + 5);
    if (event.key === "ArrowLeft") seek(starts.findLast((start) => start < player.currentTime - 0.6) ?? 0);
  });
  document.addEventListener("htmx:afterSwap", () => {
    mark();
    follow();
    // Captions that were made meanwhile join the player's own.
    const live = document.getElementById("live");
    for (const code of (live.dataset.subtitles || "").split(",")) {
      if (!player || !code || [...player.querySelectorAll("track")].some((track) => track.srclang === code)) continue;
      const track = document.createElement("track");
      track.kind = "captions";
      track.srclang = code;
      track.label = new Intl.DisplayNames(["en"], { type: "language" }).of(code);
      track.src = `/videos/${live.dataset.video}/subtitles/${code}.vtt`;
      player.append(track);
    }
  });
})();
