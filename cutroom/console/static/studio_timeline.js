// Draws when something is said: thousands of spans are one picture, not elements.
"use strict";

(() => {
  const { studio } = window;
  const { model } = studio;
  const tracks = { source: document.getElementById("source-spans"), line: document.getElementById("line-spans") };
  let waits = false;

  function draw() {
    waits = false;
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    paint(tracks.source, (context, x) => {
      for (const row of model.rows) {
        if (row.removed) continue;
        context.fillStyle = color(row.deleted ? "line" : "speech");
        context.fillRect(x(row.start), 4, Math.max(1, x(row.end) - x(row.start) - 0.5), 16);
      }
    });
    paint(tracks.line, (context, x) => {
      for (const { line, start, end } of model.rows) {
        if (!line) continue;
        const [from, to] = line.spoken ?? [start, end];
        context.fillStyle = color(line.marks.length ? "bad" : "dub");
        context.fillRect(x(from), 4, Math.max(1, x(to) - x(from) - 0.5), 16);
      }
    });
  }
  function paint(canvas, fill) {
    if (!canvas?.clientWidth) return;
    const scale = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    fill(context, (seconds) => (seconds / model.duration) * canvas.clientWidth);
  }
  function drawSoon() {
    if (waits) return;
    waits = true;
    setTimeout(() => requestAnimationFrame(draw), 200);
  }
  studio.on("drawn", drawSoon);
  new ResizeObserver(drawSoon).observe(tracks.source);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawSoon);
})();
