// Keeps pages current: one event stream per visible page says what has changed, and the affected sections reload themselves.
//
// A section has an id, `data-live` with the topics that it shows, and htmx reloads it on the event `live`. A hidden page
// closes its stream, because browsers open few connections per host; when it is shown again, the stream continues where
// it ended. The cursor says what the page has seen: first the snapshot that it was rendered with.
"use strict";

(() => {
  const { library } = document.body.dataset;
  if (!library || !window.EventSource) return;
  const COALESCE_MS = 250; // changes that come together reload a section once
  const SILENCE_MS = 40_000; // the server sends something every 15 seconds
  const NOTICE_MS = 1_500; // shorter interruptions are not mentioned
  const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
  let cursor = document.body.dataset.snapshot;
  let source = null;
  let failures = 0;
  let isOver = false; // signed out, or no longer a member
  let retryTimer, silenceTimer, noticeTimer;
  const stale = new Set(); // ids of sections to reload
  let reloadTimer = null;

  const line = document.getElementById("connection");
  function say(text, href) {
    line.hidden = !text;
    line.textContent = text;
    if (!href) return;
    const link = document.createElement("a");
    link.href = href;
    link.textContent = "Sign in";
    line.append(" ", link);
  }

  // Sections

  const sections = () => document.querySelectorAll("[data-live]");
  // What someone is typing or choosing stays; the section reloads when they are done.
  const isInUse = (section) => section.querySelector("details.menu[open] form, input:not([type=checkbox]):focus, textarea:focus, select:focus");
  function reload() {
    clearTimeout(reloadTimer);
    reloadTimer = null;
    if (document.hidden) return;
    for (const section of sections()) {
      if (!stale.has(section.id) || isInUse(section) || section.classList.contains("htmx-request")) continue;
      stale.delete(section.id);
      window.htmx.trigger(section, "live");
    }
  }
  function reloadSoon() {
    reloadTimer ??= setTimeout(reload, COALESCE_MS);
  }
  function mark(topics) {
    for (const section of sections()) {
      if (topics === null || section.dataset.live.split(" ").some((topic) => topics.includes(topic))) stale.add(section.id);
    }
    if (stale.size) reloadSoon();
  }
  for (const kind of ["focusout", "toggle"]) document.addEventListener(kind, () => { if (stale.size) reloadSoon(); }, true);
  document.addEventListener("htmx:afterRequest", (event) => {
    const section = event.detail.elt;
    if (!section.dataset?.live) return;
    const { status } = event.detail.xhr;
    if (!event.detail.successful && (status === 0 || status === 429 || status >= 500)) {
      stale.add(section.id);
      setTimeout(reloadSoon, RETRY_MS.at(-1));
    } else if (stale.size) reloadSoon();
  });

  function showProgress({ job, percent, text, stage }) {
    for (const bar of document.querySelectorAll(`progress[data-job="${CSS.escape(job)}"]`)) bar.value = Math.max(bar.value, percent);
    for (const each of document.querySelectorAll(`[data-job-state="${CSS.escape(job)}"]`)) each.textContent = each.dataset.prefix + text;
    for (const each of document.querySelectorAll(`[data-job-stage="${CSS.escape(job)}"]`)) each.textContent = stage;
  }

  // The connection

  function heard(event) {
    if (event.lastEventId) cursor = event.lastEventId;
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(lost, SILENCE_MS);
  }
  function connect() {
    clearTimeout(retryTimer);
    if (isOver || source || document.hidden) return;
    source = new EventSource(`/events?${new URLSearchParams({ library, after: cursor })}`);
    silenceTimer = setTimeout(lost, SILENCE_MS);
    source.onerror = lost;
    source.addEventListener("ready", (event) => {
      heard(event);
      failures = 0;
      clearTimeout(noticeTimer);
      noticeTimer = null;
      say("");
      if (stale.size) reloadSoon();
    });
    source.addEventListener("beat", heard);
    source.addEventListener("changed", (event) => { heard(event); mark(JSON.parse(event.data)); });
    source.addEventListener("missed", (event) => { heard(event); mark(null); });
    source.addEventListener("progress", (event) => { heard(event); showProgress(JSON.parse(event.data)); });
    source.addEventListener("end", (event) => {
      isOver = true;
      disconnect();
      if (event.data === "signed-out") say("You are signed out.", `/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`);
      else say("You no longer have access to this library.");
    });
  }
  function disconnect() {
    source?.close();
    source = null;
    for (const timer of [retryTimer, silenceTimer, noticeTimer]) clearTimeout(timer);
    noticeTimer = null;
  }
  function lost() {
    source?.close();
    source = null;
    clearTimeout(silenceTimer);
    noticeTimer ??= setTimeout(() => say("Connection lost. Reconnecting."), NOTICE_MS);
    const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
    failures += 1;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(connect, wait * (0.5 + Math.random()));
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) disconnect();
    else { connect(); if (stale.size) reloadSoon(); }
  });
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  window.addEventListener("online", () => { failures = 0; connect(); });
  connect();
})();
