// Passkeys: asks the browser for one, and submits the form with what it returns.
"use strict";

async function requestOptions(form) {
  const response = await fetch(form.dataset.options, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRF-Token": form.elements.csrf.value },
    body: new URLSearchParams(new FormData(form)),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

async function usePasskey(form) {
  const { options, state } = await requestOptions(form);
  const publicKey = form.dataset.passkey === "create"
    ? PublicKeyCredential.parseCreationOptionsFromJSON(options)
    : PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
  form.elements.credential.value = JSON.stringify(credential.toJSON());
  form.elements.state.value = state;
  if (form.elements.password) form.elements.password.disabled = true;  // it was checked with the options
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const problem = form.querySelector("[role=alert]");
    problem.hidden = true;
    usePasskey(form).catch((error) => {
      problem.textContent = error.name === "NotAllowedError" ? "No passkey was used." : error.message;
      problem.hidden = false;
    });
  });
}
