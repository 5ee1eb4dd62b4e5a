// What the tests share. They run against a real API and worker: `tests/clients/test_typescript.py` starts both.
import { Cutroom } from "../dist/index.js";

export const baseUrl = process.env.CUTROOM_BASE_URL;
export const video = process.env.CUTROOM_TEST_VIDEO;

/** Retries without waiting: what is tested is whether they happen. */
export const QUICK = { firstDelayMs: 1, maxDelayMs: 5 };

export function open(options = {}) {
  return new Cutroom({ retries: QUICK, ...options });
}

/**
 * A `fetch` that passes requests on to the service, except for the faults: each may take the next request that it
 * matches, and returns a response, or throws, in place of the real one. `requests` records every attempt.
 */
export function faulty(...faults) {
  const requests = [];
  const faultyFetch = async (input, init = {}) => {
    const url = new URL(input);
    const headers = new Headers(init.headers);
    requests.push({ method: init.method ?? "GET", url, headers, bytes: init.body?.length ?? 0 });
    const index = faults.findIndex((fault) => fault.matches(url, init));
    if (index < 0) return fetch(input, init);
    const [fault] = faults.splice(index, 1);
    return fault.act(() => fetch(input, init));
  };
  return { fetch: faultyFetch, requests };
}

function fault(path, act, method) {
  const matches = (url, init) => url.pathname.startsWith(path) && (!method || init.method === method);
  return { matches, act };
}

/** The service does the work, and its response is lost. */
export const lost = (path, method) =>
  fault(
    path,
    async (send) => {
      await (await send()).arrayBuffer();
      throw new TypeError("fetch failed", { cause: new Error("socket hang up") });
    },
    method,
  );

/** The service does the work, and half of its response arrives. */
export const truncated = (path) =>
  fault(path, async (send) => {
    const response = await send();
    const text = await response.text();
    return new Response(text.slice(0, text.length / 2), { status: response.status, headers: response.headers });
  });

/** The service is not reached, and something else responds. */
export const answered = (path, status, body, headers = {}) =>
  fault(path, async () => {
    const isText = typeof body === "string";
    const type = isText ? "text/html" : "application/json";
    return new Response(isText ? body : JSON.stringify(body), { status, headers: { "content-type": type, ...headers } });
  });

export const refused = (path, status, code, headers = {}) =>
  answered(path, status, { error: { code, message: "No.", details: {} } }, headers);
