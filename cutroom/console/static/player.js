// Keeps transcript and timeline in sync with the player, seeks on click, and switches between audio tracks and dubs.
"use strict";

(() => {
  const player = document.getElementById("player");
  const stage = document.querySelector(".stage");
  const duration = Number(stage.dataset.duration);
  const starts = stage.dataset.starts.split(",").filter(Boolean).map(Number); // of the lines of the transcript
  let lines = []; // their buttons, while the transcript is shown
  let chosen = ""; // id of the selected dub; empty for the original audio

  const clock = (seconds) => {
    const whole = Math.floor(seconds);
    const rest = `${String(Math.floor(whole / 60) % 60)}:${String(whole % 60).padStart(2, "0")}`;
    return whole >= 3600 ? `${Math.floor(whole / 3600)}:${rest.padStart(5, "0")}` : rest;
  };

  function movePlayhead(tracks, at) {
    const spans = tracks.querySelector(".spans").getBoundingClientRect();
    const left = spans.left - tracks.getBoundingClientRect().left;
    tracks.querySelector(".playhead").style.left = `${left + (spans.width * Math.min(at, duration)) / duration}px`;
  }

  function follow() {
    if (!player) return;
    const at = player.currentTime;
    for (const tracks of document.querySelectorAll(".tracks")) movePlayhead(tracks, at);
    for (const now of document.querySelectorAll(".now")) now.textContent = clock(at);
    const line = lines.findLast((each) => Number(each.dataset.start) <= at + 0.05);
    for (const each of lines) {
      if (each === line && !each.hasAttribute("aria-current")) {
        each.setAttribute("aria-current", "true");
        const transcript = document.getElementById("transcript");
        const top = each.parentNode.offsetTop - transcript.offsetTop;
        if (!player.paused) transcript.scrollTo({ top: top - transcript.clientHeight / 3, behavior: "smooth" });
      } else if (each !== line) each.removeAttribute("aria-current");
    }
  }

  function seek(seconds) {
    if (!player) return;
    player.currentTime = Math.max(0, Math.min(seconds, duration));
    follow();
  }

  document.addEventListener("click", (event) => {
    const jump = event.target.closest("[data-start]:not(video)");
    if (jump) return seek(Number(jump.dataset.start));
    const choice = event.target.closest("[data-choice]");
    if (choice) return selectAudio(choice);
    const track = event.target.closest(".tracks .spans");
    if (track) {
      const box = track.getBoundingClientRect();
      seek(((event.clientX - box.left) / box.width) * duration);
    }
  });

  // A language is an audio track of the stream. A dub that the stream does not contain plays in a separate audio element,
  // which is kept in sync with the muted player.
  const dub = document.getElementById("dub-audio");
  let stream = null; // the Shaka player, once it has loaded the manifest
  let loadedLanguages = ""; // languages of the manifest when it was loaded
  let separateAudio = false; // whether a dub plays in the separate audio element
  let loading = null;
  const live = () => document.getElementById("live").dataset;
  const trackOf = (language) => stream?.getAudioTracks().find((each) => each.language === language || each.language === language.split("-")[0]);

  async function selectAudio(choice) {
    if (!player) return;
    const { language, inStream } = choice.dataset;
    chosen = choice.dataset.choice;
    mark();
    const isStreamed = inStream !== undefined && live().manifest !== "";
    if (isStreamed && (stream === null || (!trackOf(language) && loadedLanguages !== live().streamed))) await load();
    if (chosen !== choice.dataset.choice) return; // another choice was made meanwhile
    const track = isStreamed ? trackOf(language) : undefined;
    if (track && !track.active) stream.selectAudioTrack(track);
    separateAudio = chosen !== "" && !track;
    player.muted = separateAudio;
    stage.dataset.audioSource = separateAudio ? "separate" : `stream ${track?.language ?? ""}`.trim();
    dub.pause();
    if (separateAudio) {
      dub.src = choice.dataset.audio;
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
    player.addEventListener("play", () => { if (separateAudio) { dub.currentTime = player.currentTime; dub.play().catch(() => {}); } });
    player.addEventListener("pause", () => dub.pause());
    player.addEventListener("seeked", () => { if (separateAudio) dub.currentTime = player.currentTime; });
    player.addEventListener("ratechange", () => { dub.playbackRate = player.playbackRate; });
    player.addEventListener("volumechange", () => { dub.volume = player.volume; });
    player.addEventListener("timeupdate", () => {
      if (separateAudio && !player.paused && Math.abs(dub.currentTime - player.currentTime) > 0.12) dub.currentTime = player.currentTime;
    });
    player.addEventListener("loadedmetadata", () => {
      const start = Number(player.dataset.start);
      if (start > 0) seek(start);
    }, { once: true });
    if (live().manifest) load();
    // Frames are drawn while something plays only: a page that is typed in has better use for them.
    let isTicking = false;
    const tick = () => {
      follow();
      isTicking = !player.paused;
      if (isTicking) requestAnimationFrame(tick);
    };
    player.addEventListener("play", () => {
      if (!isTicking) requestAnimationFrame(tick);
      isTicking = true;
    });
    for (const kind of ["seeked", "timeupdate", "loadedmetadata"]) player.addEventListener(kind, follow);
    window.addEventListener("resize", follow);
    follow();
  }

  // Switches to adaptive streaming at the current position; falls back to the original file.
  function load() {
    loading ??= loadStream().finally(() => { loading = null; });
    return loading;
  }
  async function loadStream() {
    const { manifest, streamed } = live();
    const url = new URL(manifest);
    const isOwnManifest = url.pathname.startsWith("/media/");
    const { currentTime } = player;
    let shouldPlay = !player.paused; // attaching the stream interrupts playback, also when it was started meanwhile
    const onPlay = () => { shouldPlay = true; };
    const onPause = () => { shouldPlay = false; };
    player.addEventListener("play", onPlay);
    player.addEventListener("pause", onPause);
    const file = (player.dataset.source ||= player.src);
    const shakaPlayer = stream ?? new shaka.Player();
    try {
      shaka.polyfill.installAll();
      if (!stream) await shakaPlayer.attach(player);
      // Manifests are cached for some seconds: the languages in the URL bypass the cache when they change.
      await shakaPlayer.load(isOwnManifest ? `${url.pathname}?languages=${streamed}` : url.href, currentTime || null);
      stream = shakaPlayer;
      loadedLanguages = streamed;
    } catch {
      stream = null;
      await shakaPlayer.destroy().catch(() => {});
      player.src = file;
      player.currentTime = currentTime;
    }
    player.removeEventListener("play", onPlay);
    player.removeEventListener("pause", onPause);
    if (shouldPlay) await player.play().catch(() => {});
  }

  document.addEventListener("keydown", (event) => {
    if (!player || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select, video, audio, summary")) return;
    if (event.key === " " && !event.target.matches("button, a")) {
      event.preventDefault();
      if (player.paused) player.play(); else player.pause();
    }
    if (event.key === "ArrowRight") seek(starts.find((start) => start > player.currentTime + 0.1) ?? player.currentTime + 5);
    if (event.key === "ArrowLeft") seek(starts.findLast((start) => start < player.currentTime - 0.6) ?? 0);
  });
  function showTab() {
    lines = [...document.querySelectorAll("#transcript button[data-start]")];
  }
  showTab();
  document.addEventListener("htmx:afterSwap", () => {
    showTab();
    mark();
    follow();
    // Add text tracks for captions that became ready.
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
