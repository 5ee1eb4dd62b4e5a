// Uploads by the resumable protocol. What is under way is kept in the browser, so that a reload goes on where it was.
"use strict";

(() => {
  const box = document.getElementById("add");
  if (!box) return;
  const list = document.getElementById("uploads");
  const waiting = document.getElementById("waiting");
  const STEP = 256 * 1024; // the protocol takes pieces of this and its multiples
  const PAUSES = [1000, 2000, 5000, 10000, 20000, 30000];
  let chosen = [];

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const here = (address) => {
    // An address of ours is taken on the host that the page came from.
    const url = new URL(address, location.href);
    return url.origin === new URL(box.dataset.base).origin ? url.pathname + url.search : address;
  };

  // One table in the browser's own database: files survive a reload there.
  const opened = new Promise((done, fail) => {
    const asked = indexedDB.open("cutroom", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("uploads", { keyPath: "videoId" });
    asked.onsuccess = () => done(asked.result);
    asked.onerror = () => fail(asked.error);
  });
  async function table(mode, work) {
    const database = await opened;
    return new Promise((done, fail) => {
      const act = database.transaction("uploads", mode);
      const asked = work(act.objectStore("uploads"));
      act.oncomplete = () => done(asked.result);
      act.onerror = act.onabort = () => fail(act.error);
    });
  }
  const keep = (record) => table("readwrite", (store) => store.put(record)).catch(() => table("readwrite", (store) => store.put({ ...record, file: null })).catch(() => {}));
  const drop = (videoId) => table("readwrite", (store) => store.delete(videoId)).catch(() => {});

  function show(record) {
    const row = document.createElement("li");
    row.className = "upload";
    row.dataset.video = record.videoId;
    const name = document.createElement("span");
    name.className = "break";
    name.textContent = record.name;
    const state = document.createElement("span");
    state.className = "state processing numbers";
    const bar = document.createElement("progress");
    bar.max = record.size || 1;
    bar.value = 0;
    bar.setAttribute("aria-label", `Upload of ${record.name}`);
    row.append(name, state, bar);
    list.append(row);
    const say = (words, kind) => { state.textContent = words; state.className = `state numbers ${kind}`; };
    return {
      row,
      say,
      at(bytes) { bar.value = bytes; say(`${Math.floor((100 * bytes) / (record.size || 1))} % sent`, "processing"); },
    };
  }

  const stored = (answer) => {
    const range = /bytes=0-(\d+)/.exec(answer.headers.get("range") || "");
    return range ? Number(range[1]) + 1 : 0;
  };

  // One try: ask how far it has come, then send the rest piece by piece. Says whether it is whole.
  async function attempt(record, line) {
    const ask = await fetch(record.location, { method: "PUT", headers: { "content-range": `bytes */${record.size}` } });
    if (ask.ok) return true;
    if (ask.status !== 308) throw Object.assign(new Error("refused"), { status: ask.status });
    let at = stored(ask);
    const piece = Math.min(64, Math.max(1, Math.ceil(record.size / 40 / STEP))) * STEP;
    while (at < record.size) {
      line.at(at);
      const end = Math.min(at + piece, record.size);
      const answer = await fetch(record.location, {
        method: "PUT",
        headers: { "content-range": `bytes ${at}-${end - 1}/${record.size}` },
        body: record.file.slice(at, end),
      });
      if (answer.ok) return true;
      if (answer.status !== 308) throw Object.assign(new Error("refused"), { status: answer.status });
      at = stored(answer);
    }
    return true;
  }

  async function run(record, line) {
    for (let tries = 0; ; tries += 1) {
      try {
        if (await attempt(record, line)) break;
      } catch (error) {
        if (error.status === 404 || error.status === 410 || error.status === 412) {
          line.say("This upload has ended. Start it anew.", "failed");
          await drop(record.videoId);
          return;
        }
        const wait = PAUSES[Math.min(tries, PAUSES.length - 1)];
        line.say(`The line broke. Trying again in ${wait / 1000} s.`, "failed");
        await pause(wait);
      }
    }
    await drop(record.videoId);
    line.at(record.size);
    line.say("Received. It is being read now.", "ready");
    window.htmx?.trigger("#grid", "refresh");
    setTimeout(() => line.row.remove(), 8000);
  }

  async function start(file) {
    const line = show({ videoId: "", name: file.name, size: file.size });
    line.say("starting", "processing");
    const form = new URLSearchParams(new FormData(document.getElementById("import")));
    form.delete("url");
    form.set("name", file.name);
    form.set("type", file.type);
    form.set("folder", box.dataset.folder);
    const made = await fetch("/library/uploads", { method: "POST", body: form, headers: { accept: "application/json" } });
    const told = await made.json();
    if (!made.ok) return line.say(told.message, "failed");
    const begun = await fetch(here(told.url), { method: "POST", headers: { "x-goog-resumable": "start", "content-type": file.type || "application/octet-stream" } });
    if (!begun.ok) return line.say("The upload could not be started.", "failed");
    const record = { videoId: told.videoId, name: file.name, size: file.size, file, location: here(begun.headers.get("location")) };
    line.row.dataset.video = told.videoId;
    await keep(record);
    window.htmx?.trigger("#grid", "refresh");
    await run(record, line);
  }

  // What was under way when the page was left.
  async function goOn() {
    for (const record of await table("readonly", (store) => store.getAll()).catch(() => [])) {
      const line = show(record);
      if (record.file) { run(record, line); continue; }
      line.say("Choose the file again to go on.", "queued");
      const again = document.createElement("input");
      again.type = "file";
      again.setAttribute("aria-label", `Choose ${record.name} again`);
      again.addEventListener("change", () => {
        const file = again.files[0];
        if (file && file.size === record.size) { again.remove(); run({ ...record, file }, line); }
        else line.say("This is another file. Choose the same one.", "failed");
      });
      line.row.append(again);
    }
  }

  // How long a film is can be told before it is sent; the price follows from it.
  async function measure(files) {
    let total = 0;
    for (const file of files) {
      const element = document.createElement(file.type.startsWith("audio/") ? "audio" : "video");
      element.preload = "metadata";
      element.src = URL.createObjectURL(file);
      total += await Promise.race([
        new Promise((done) => {
          element.onloadedmetadata = () => done(Number.isFinite(element.duration) ? element.duration : 0);
          element.onerror = () => done(0);
        }),
        pause(4000).then(() => 0),
      ]);
      URL.revokeObjectURL(element.src);
    }
    document.getElementById("seconds").value = total > 0 ? total.toFixed(3) : "";
    window.htmx?.trigger("#recipe", "priced");
  }

  function choose(files) {
    chosen = [...files];
    if (!chosen.length) return;
    document.getElementById("waiting-names").textContent = chosen.map((file) => file.name).join(", ");
    waiting.hidden = false;
    document.querySelector(".recipe-box").open = true;
    measure(chosen);
  }

  const target = document.getElementById("drop");
  for (const kind of ["dragenter", "dragover"]) {
    target.addEventListener(kind, (event) => { event.preventDefault(); target.classList.add("over"); });
  }
  for (const kind of ["dragleave", "drop"]) target.addEventListener(kind, () => target.classList.remove("over"));
  target.addEventListener("drop", (event) => { event.preventDefault(); choose(event.dataTransfer.files); });
  document.getElementById("files").addEventListener("change", (event) => choose(event.target.files));
  document.getElementById("send").addEventListener("click", () => {
    waiting.hidden = true;
    for (const file of chosen.splice(0)) start(file).catch(() => {});
    document.getElementById("seconds").value = "";
  });
  document.getElementById("forget").addEventListener("click", () => { chosen = []; waiting.hidden = true; });
  goOn();
})();
