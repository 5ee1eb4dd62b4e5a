// Shared by all pages: local times, copy buttons, menus, forms inside a page, keyboard shortcuts, confirmation prompts.
"use strict";

function localTimes(root) {
  for (const each of root.querySelectorAll("time[datetime]:not([data-localized])")) {
    const at = new Date(each.dateTime);
    each.dataset.localized = "";
    each.title = at.toString();
    each.textContent = at.toLocaleString(undefined, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
  }
}

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    navigator.clipboard?.writeText(document.getElementById(copy.dataset.copy).textContent.trim());
    copy.textContent = "Copied";
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm || form.dataset.confirm;
  if (question && !window.confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.method === "post" && !form.hasAttribute("hx-post")) {
    // After the form data has been collected: the value of a disabled button is not sent.
    setTimeout(() => { for (const each of form.querySelectorAll("button")) each.disabled = true; }, 0);
  }
});

window.addEventListener("pageshow", (event) => {
  if (event.persisted) for (const each of document.querySelectorAll("form button")) each.disabled = false;
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
  if (event.target.matches("input, textarea, select, [contenteditable]")) return;
  if (event.key === "?") document.getElementById("keys-help")?.showModal();
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    event.preventDefault();
    if (search) search.focus(); else window.location.href = "/library#search";
  }
});

// Keeps selected videos and open menus when htmx swaps a fragment.
const selected = new Set();
const opened = new Set();
function showSelection() {
  const form = document.getElementById("bulk");
  if (!form) return;
  form.hidden = selected.size === 0;
  document.getElementById("selected-count").textContent = selected.size;
  document.body.classList.toggle("selecting", selected.size > 0);
}
document.addEventListener("change", (event) => {
  if (!event.target.matches("input[form=bulk]")) return;
  if (event.target.checked) selected.add(event.target.value); else selected.delete(event.target.value);
  showSelection();
});
document.getElementById("clear-selection")?.addEventListener("click", () => {
  for (const each of document.querySelectorAll("input[form=bulk]")) each.checked = false;
  selected.clear();
  showSelection();
});
// Forms inside a page: errors that come with the form are shown, closing returns the focus to what opened it.
function closeSlot(slot) {
  slot.replaceChildren();
  document.getElementById(slot.dataset.opener)?.focus();
}
document.addEventListener("click", (event) => {
  const slot = event.target.closest("[data-cancel]")?.closest(".slot");
  if (!slot) return;
  event.preventDefault();
  closeSlot(slot);
});
document.addEventListener("keydown", (event) => {
  const slot = event.key === "Escape" && event.target.closest?.(".slot");
  if (slot) closeSlot(slot);
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event;
  if (!detail.isError || !detail.xhr.getResponseHeader("HX-Reswap")) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
document.addEventListener("htmx:afterRequest", (event) => {
  const { successful, requestConfig, target, xhr } = event.detail;
  if (requestConfig.verb !== "post" && !target.matches(".slot")) return;
  if (successful) for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
  document.getElementById("problem").hidden = successful || xhr.getResponseHeader("HX-Reswap") !== null;
});
document.addEventListener("htmx:afterSwap", (event) => {
  const slot = event.detail.target;
  if (slot.matches(".slot") && !slot.querySelector("form")) document.getElementById(slot.dataset.opener)?.focus();
});
document.addEventListener("htmx:beforeSwap", () => {
  opened.clear();
  for (const each of document.querySelectorAll("[data-keep][open]")) opened.add(each.dataset.keep);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const each of document.querySelectorAll("input[form=bulk]")) each.checked = selected.has(each.value);
  for (const each of document.querySelectorAll("[data-keep]")) if (opened.has(each.dataset.keep)) each.open = true;
});
document.addEventListener("htmx:afterSwap", (event) => localTimes(event.detail.target.parentNode || document));

// Narrow screens scroll navigation sideways: start at the current entry.
function showCurrent() {
  for (const each of document.querySelectorAll("nav [aria-current]")) each.parentNode.scrollLeft = each.offsetLeft - each.parentNode.offsetLeft - 16;
}
document.addEventListener("htmx:afterSwap", showCurrent);
showCurrent();
localTimes(document);
if (window.location.hash === "#search") document.querySelector("input[type=search]")?.focus();
