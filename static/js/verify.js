/** Verification: keys, votes without a page load, what is not saved yet, and the lease kept while one works. */
import { keysOff, typing } from "./page.js";

const OURS = new Set([403, 404, 409, 422]); // answers that bring a page of their own
const main = document.getElementById("main");
const slot = (name) => document.querySelector(`[data-slot="${name}"]`);
const form = (name) => main.querySelector(`[data-form="${name}"]`);

/** The button of what is on its way. Its form stays as it was filled in, so that a click sends it again. */
let unsaved = null;
let usedAt = Date.now();

// -- a new message on the page -----------------------------------------------------------------------------------

/** The message to judge stays in view, also where a notice or a phone's keyboard leaves less room. */
const room = new ResizeObserver(() => document.getElementById("judged").scrollIntoView({ block: "nearest" }));

function arrive() {
  room.disconnect();
  room.observe(slot("scroll"));
}

function announce(words) {
  slot("status").textContent = words;
}

main.addEventListener("htmx:afterSwap", () => {
  unsaved = null;
  arrive();
  const problem = main.querySelector("#vote-problem");
  const place = main.querySelector("progress").textContent;
  const said = main.querySelector(".judge").dataset.said;
  if (!problem) announce(`${said ? `${said}. ` : ""}Next message. Done: ${place}`);
  document.getElementById("q").focus({ preventScroll: true });
});

// -- sending -----------------------------------------------------------------------------------------------------

main.addEventListener("htmx:beforeRequest", (event) => {
  const button = event.detail.requestConfig.triggeringEvent?.submitter;
  unsaved = button ?? null;
});

main.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (!new URL(xhr.responseURL, location.href).pathname.startsWith("/verify/")) {
    event.detail.shouldSwap = false;
    slot("signed-out").hidden = false;
  } else if (OURS.has(xhr.status) && xhr.getResponseHeader("X-Part")) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});

function notSaved() {
  slot("unsaved").hidden = !unsaved;
  slot("again")?.focus();
}

for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) main.addEventListener(name, notSaved);

function again() {
  if (!unsaved?.isConnected) return;
  slot("unsaved").hidden = true;
  unsaved.click();
}

addEventListener("online", () => unsaved && !slot("unsaved").hidden && again());

// -- judging -----------------------------------------------------------------------------------------------------

main.addEventListener("submit", (event) => {
  const sent = event.target.dataset.form;
  if (sent === "ok") {
    const note = form("no")?.elements.note;
    const kept = slot("ok-note");
    if (note && kept) kept.value = note.value;
  }
  if (sent !== "no" || event.submitter?.value === "skip") return;
  if (event.target.querySelector(":checked")) return;
  event.preventDefault();
  event.stopPropagation();
  document.getElementById("choose").textContent = "Tick what is wrong with it, then save.";
}, true);

main.addEventListener("change", () => {
  const problem = document.getElementById("choose");
  if (problem) problem.textContent = "";
});

function press(name, value) {
  form(name)?.querySelector(`button[value="${value}"]`)?.click(); // a click, since htmx sends the button that was clicked
}

function toggleVeils() {
  const veils = [...main.querySelectorAll("details.veil")];
  const open = !veils.at(-1)?.open;
  for (const veil of veils) veil.open = open;
}

function writeNote() {
  const jot = main.querySelector("details.jot");
  if (!jot) return;
  jot.open = true;
  jot.querySelector("textarea").focus();
}

const KEYS = {
  1: () => press("ok", "ok"),
  s: () => press("no", "skip"),
  u: () => main.querySelector('[data-act="undo"]')?.click(),
  b: toggleVeils,
  n: writeNote,
};

function tick(number) {
  const box = main.querySelectorAll('[name="category"]')[number];
  if (!box) return;
  box.click();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches?.("textarea")) {
    document.getElementById("q").focus({ preventScroll: true });
    return;
  }
  if (keysOff() || event.repeat || typing(event) || document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  if (key === "enter" && !event.target.closest("a, button, summary, input")) press("no", "not_ok");
  else if ("2345".includes(key) && key.length === 1) tick(Number(key) - 2);
  else if (Object.hasOwn(KEYS, key)) {
    event.preventDefault();
    KEYS[key]();
  }
});

main.addEventListener("click", (event) => {
  if (event.target.closest('[data-act="again"]')) again();
});

// -- the lease ---------------------------------------------------------------------------------------------------

for (const name of ["keydown", "pointerdown", "pointermove", "scroll", "touchstart"]) {
  document.addEventListener(name, () => (usedAt = Date.now()), { capture: true, passive: true });
}

async function renew() {
  const judge = main.querySelector("[data-renew]");
  if (!judge || document.hidden) return;
  const every = Number(judge.dataset.every) * 1000;
  if (Date.now() - usedAt > 2 * every) return;
  const body = new URLSearchParams({ batch: judge.dataset.batch });
  const token = main.querySelector('[name="csrfmiddlewaretoken"]').value;
  try {
    await fetch(judge.dataset.renew, { method: "POST", body, headers: { "X-CSRFToken": token } });
  } catch {
    // No line: the next vote says so.
  }
}

const judge = main.querySelector("[data-renew]");
if (judge) setInterval(renew, Number(judge.dataset.every) * 1000);
arrive();
