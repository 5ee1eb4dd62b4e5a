// The player's head moves through transcript and lanes; a click anywhere seeks. A dub is a second sound, kept in step.
"use strict";

(() => {
  const player = document.getElementById("player");
  const stage = document.querySelector(".stage");
  const words = document.getElementById("words");
  const span = Number(stage.dataset.span);
  const lines = [...words.querySelectorAll("button[data-start]")];
  let sound = ""; // the language that is heard; none is the film's own

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
    const choice = event.target.closest("[data-sound]");
    if (choice) return hear(choice);
    const track = event.target.closest("#tracks .bars");
    if (track) {
      const box = track.getBoundingClientRect();
      seek(((event.clientX - box.left) / box.width) * span);
    }
  });

  // Another language: the film's own sound is silent, the dub runs beside it and is pulled back when it drifts.
  const dub = document.getElementById("dub-sound");
  let stream = null; // the player of adaptive streams, once it has taken over
  let beside = false; // whether the dub is a second sound
  function hear(choice) {
    if (!player) return;
    sound = choice.dataset.language || "";
    const wanted = sound || stage.dataset.language;
    const track = stream?.getAudioTracks().find((each) => each.language === wanted || each.language === wanted.split("-")[0]);
    beside = sound !== "" && !track;
    player.muted = beside;
    stage.dataset.heard = beside ? "beside" : "stream";
    dub.pause();
    if (track) stream.selectAudioTrack(track);
    if (beside) {
      dub.src = choice.dataset.sound;
      dub.currentTime = player.currentTime;
      if (!player.paused) dub.play().catch(() => {});
      for (const track of player.textTracks) if (track.mode === "showing" && track.language !== sound) track.mode = "disabled";
    }
    mark();
  }
  function mark() {
    for (const each of document.querySelectorAll("[data-sound]")) {
      each.setAttribute("aria-pressed", String((each.dataset.language || "") === sound));
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
    });
    if (player.dataset.manifest) load();
    const tick = () => { follow(); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  }

  // Adaptive playback; where that fails, the file as it came in.
  async function load() {
    const url = new URL(player.dataset.manifest);
    const ours = url.pathname.startsWith("/media/") ? url.pathname : url.href;
    try {
      shaka.polyfill.installAll();
      const made = new shaka.Player();
      await made.attach(player);
      await made.load(ours);
      stream = made;
    } catch {
      player.src = player.dataset.source;
    }
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
