// Subscribes this browser to notifications, and submits its subscription as a form.
"use strict";

(() => {
  const form = document.getElementById("add-browser");
  const problem = document.getElementById("push-problem");
  if (!form || !("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) return;
  form.hidden = false;

  function bytesOf(text) {
    const padded = text.replace(/-/g, "+").replace(/_/g, "/").padEnd(Math.ceil(text.length / 4) * 4, "=");
    return Uint8Array.from(atob(padded), (each) => each.charCodeAt(0));
  }

  function textOf(buffer) {
    return btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function show(text) {
    problem.textContent = text;
    problem.hidden = false;
  }

  form.querySelector("button").addEventListener("click", async () => {
    problem.hidden = true;
    if ((await Notification.requestPermission()) !== "granted") {
      show("This browser does not allow notifications from this site. Change it in the browser's settings.");
      return;
    }
    try {
      const registration = await navigator.serviceWorker.register("/notifications/worker.js", { scope: "/notifications/" });
      const options = { userVisibleOnly: true, applicationServerKey: bytesOf(form.dataset.key) };
      const subscription = await registration.pushManager.subscribe(options);
      form.elements.endpoint.value = subscription.endpoint;
      form.elements.p256dh.value = textOf(subscription.getKey("p256dh"));
      form.elements.auth.value = textOf(subscription.getKey("auth"));
      form.requestSubmit();
    } catch {
      show("This browser could not subscribe to notifications.");
    }
  });
})();
