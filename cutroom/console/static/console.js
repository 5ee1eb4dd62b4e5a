// What every page needs of a script: times in the reader's zone, copying, closing menus, keys, and asking before harm.
"use strict";

function localTimes(root) {
  for (const each of root.querySelectorAll("time[datetime]:not([data-said])")) {
    const at = new Date(each.dateTime);
    each.dataset.said = "";
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
  const question = event.submitter?.dataset.ask || form.dataset.ask;
  if (question && !window.confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.method === "post" && !form.hasAttribute("hx-post")) {
    // After the form has been read: a disabled button's own value would not be sent.
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

document.addEventListener("htmx:afterSwap", (event) => localTimes(event.detail.target.parentNode || document));
localTimes(document);
if (window.location.hash === "#search") document.querySelector("input[type=search]")?.focus();
