// Resumable uploads. Unfinished uploads are stored in IndexedDB, so that they continue after a reload.
"use strict";

(() => {
  const box = document.getElementById("add");
  if (!box) return;
  const list = document.getElementById("uploads");
  const pending = document.getElementById("pending-upload");
  const CHUNK_UNIT = 256 * 1024; // the protocol requires chunks in multiples of this
  const RETRY_DELAYS = [1000, 2000, 5000, 10000, 20000, 30000];
  let selected = [];

  const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const sameOrigin = (address) => {
    // URLs of this installation are requested from the host that served the page.
    const url = new URL(address, location.href);
    return url.origin === new URL(box.dataset.base).origin ? url.pathname + url.search : address;
  };

  // IndexedDB keeps the files across reloads.
  const opened = new Promise((done, fail) => {
    const request = indexedDB.open("cutroom", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("uploads", { keyPath: "videoId" });
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
  async function table(mode, work) {
    const database = await opened;
    return new Promise((done, fail) => {
      const transaction = database.transaction("uploads", mode);
      const request = work(transaction.objectStore("uploads"));
      transaction.oncomplete = () => done(request.result);
      transaction.onerror = transaction.onabort = () => fail(transaction.error);
    });
  }
  const save = (record) => table("readwrite", (store) => store.put(record)).catch(() => table("readwrite", (store) => store.put({ ...record, file: null })).catch(() => {}));
  const remove = (videoId) => table("readwrite", (store) => store.delete(videoId)).catch(() => {});

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
    const setStatus = (text, kind) => { state.textContent = text; state.className = `state numbers ${kind}`; };
    return {
      row,
      setStatus,
      at(bytes) { bar.value = bytes; setStatus(`${Math.floor((100 * bytes) / (record.size || 1))} % uploaded`, "processing"); },
    };
  }

  const receivedBytes = (response) => {
    const range = /bytes=0-(\d+)/.exec(response.headers.get("range") || "");
    return range ? Number(range[1]) + 1 : 0;
  };

  // One attempt: query the received range, then send the rest in chunks. Resolves to true when complete.
  async function attempt(record, line) {
    const status = await fetch(record.location, { method: "PUT", headers: { "content-range": `bytes */${record.size}` } });
    if (status.ok) return true;
    if (status.status !== 308) throw Object.assign(new Error("rejected"), { status: status.status });
    let at = receivedBytes(status);
    const chunk = Math.min(64, Math.max(1, Math.ceil(record.size / 40 / CHUNK_UNIT))) * CHUNK_UNIT;
    while (at < record.size) {
      line.at(at);
      const end = Math.min(at + chunk, record.size);
      const response = await fetch(record.location, {
        method: "PUT",
        headers: { "content-range": `bytes ${at}-${end - 1}/${record.size}` },
        body: record.file.slice(at, end),
      });
      if (response.ok) return true;
      if (response.status !== 308) throw Object.assign(new Error("rejected"), { status: response.status });
      at = receivedBytes(response);
    }
    return true;
  }

  async function run(record, line) {
    for (let tries = 0; ; tries += 1) {
      try {
        if (await attempt(record, line)) break;
      } catch (error) {
        if (error.status === 404 || error.status === 410 || error.status === 412) {
          line.setStatus("This upload has expired. Start it again.", "failed");
          await remove(record.videoId);
          return;
        }
        const wait = RETRY_DELAYS[Math.min(tries, RETRY_DELAYS.length - 1)];
        line.setStatus(`Connection lost. Retrying in ${wait / 1000} s.`, "queued");
        await sleep(wait);
      }
    }
    await remove(record.videoId);
    line.at(record.size);
    line.setStatus("Uploaded. Processing.", "ready");
    window.htmx?.trigger("#grid", "refresh");
    setTimeout(() => line.row.remove(), 8000);
  }

  async function start(file) {
    const line = show({ videoId: "", name: file.name, size: file.size });
    line.setStatus("Starting", "processing");
    const form = new URLSearchParams(new FormData(document.getElementById("import")));
    form.delete("url");
    form.set("name", file.name);
    form.set("type", file.type);
    form.set("folder", box.dataset.folder);
    const created = await fetch("/library/uploads", { method: "POST", body: form, headers: { accept: "application/json" } });
    const session = await created.json();
    if (!created.ok) return line.setStatus(session.message, "failed");
    const started = await fetch(sameOrigin(session.url), { method: "POST", headers: { "x-goog-resumable": "start", "content-type": file.type || "application/octet-stream" } });
    if (!started.ok) return line.setStatus("The upload could not be started.", "failed");
    const record = { videoId: session.videoId, name: file.name, size: file.size, file, location: sameOrigin(started.headers.get("location")) };
    line.row.dataset.video = session.videoId;
    await save(record);
    window.htmx?.trigger("#grid", "refresh");
    await run(record, line);
  }

  // Continues uploads that were interrupted by leaving the page.
  async function resume() {
    for (const record of await table("readonly", (store) => store.getAll()).catch(() => [])) {
      const line = show(record);
      if (record.file) { run(record, line); continue; }
      line.setStatus("Choose the file again to continue.", "queued");
      const again = document.createElement("input");
      again.type = "file";
      again.setAttribute("aria-label", `Choose ${record.name} again`);
      again.addEventListener("change", () => {
        const file = again.files[0];
        if (file && file.size === record.size) { again.remove(); run({ ...record, file }, line); }
        else line.setStatus("This is a different file. Choose the original one.", "failed");
      });
      line.row.append(again);
    }
  }

  // Reads the duration before the upload, for the price.
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
        sleep(4000).then(() => 0),
      ]);
      URL.revokeObjectURL(element.src);
    }
    document.getElementById("seconds").value = total > 0 ? total.toFixed(3) : "";
    window.htmx?.trigger("#recipe", "priced");
  }

  function choose(files) {
    selected = [...files];
    if (!selected.length) return;
    document.getElementById("pending-names").textContent = selected.map((file) => file.name).join(", ");
    pending.hidden = false;
    document.querySelector(".recipe-box").open = true;
    measure(selected);
  }

  const target = document.getElementById("drop");
  for (const kind of ["dragenter", "dragover"]) {
    target.addEventListener(kind, (event) => { event.preventDefault(); target.classList.add("over"); });
  }
  for (const kind of ["dragleave", "drop"]) target.addEventListener(kind, () => target.classList.remove("over"));
  target.addEventListener("drop", (event) => { event.preventDefault(); choose(event.dataTransfer.files); });
  document.getElementById("files").addEventListener("change", (event) => choose(event.target.files));
  document.getElementById("send").addEventListener("click", () => {
    pending.hidden = true;
    for (const file of selected.splice(0)) start(file).catch(() => {});
    document.getElementById("seconds").value = "";
  });
  document.getElementById("cancel-upload").addEventListener("click", () => { selected = []; pending.hidden = true; });
  resume();
})();
