// Shows notifications that arrive while no page is open. One that arrives twice replaces itself.
"use strict";

self.addEventListener("push", (event) => {
  const message = event.data.json();
  event.waitUntil(
    self.registration.showNotification(message.title, { tag: message.tag, data: { path: message.path } }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data.path));
});
