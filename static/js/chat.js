/** The chat page: what the person does, what the socket brings, and the state between them. */

import { Draft } from "./draft.js";
import { keysOff, typing } from "./page.js";
import { ChatSocket, newId } from "./socket.js";
import { complete, countWords, isTooLong, lacks, mayLabel, newestReply, newState, take, turnOf } from "./state.js";
import { announce, bins, form, scrollToEnd, show, shownUtterances, slot, stayAtEnd } from "./view.js";

const HEAL_MS = 700; // an event right behind its answer is not missing yet
const STILL_MS = 8_000;
const LOOK_MS = 5_000;
const TYPING_MS = 700; // a digit this soon after typing belongs to a sentence, not to the label bar
const GRACE_MS = 300_000;
const RETRY = new Set(["server_error", "too_fast"]);

const start = JSON.parse(document.getElementById("main").dataset.start);
const state = newState(start, shownUtterances());
const draft = new Draft(start.user, start.chat.id);
const say = form("say");
const box = say?.elements.text;
let socket;
let looked = Date.now();
let typedAt = 0;

function refresh() {
  show(state, start.now);
}

// -- what the socket brings -------------------------------------------------------------------------------------

function onFrame(frame, request, id) {
  const before = turnOf(state);
  take(state, frame);
  if (frame.error) onRefusal(frame, request, id);
  else if (request?.do === "say") onSaid(frame, id);
  else if (request?.do === "label") onLabelled(id);
  else if (request?.do === "ask") state.askedAgain = Date.now();
  onTurn(before, turnOf(state));
  refresh();
  if (before !== "label" && turnOf(state) === "label" && document.activeElement === document.body) {
    document.getElementById("q").focus({ preventScroll: true }); // the box closed under the reader: next come the labels
  }
  if (lacks(state)) setTimeout(() => lacks(state) && socket.resume(), HEAL_MS);
}

function onSaid(frame, id) {
  if (state.pending?.id === id) state.pending = null;
  if (draft.pending?.id === id) draft.pending = null;
  state.sent = frame.utterance.number;
}

function onLabelled(id) {
  if (state.labelling?.id !== id) return;
  state.labelling = null;
  state.relabel = false;
  state.labelProblem = "";
  const focus = document.activeElement;
  if (box && turnOf(state) === "write" && (focus === document.body || form("label").contains(focus))) {
    refresh();
    box.focus();
  }
}

function onRefusal(frame, request, id) {
  if (request?.do === "say" && state.pending?.id === id) onNotSaid(frame);
  else if (request?.do === "label" && state.labelling?.id === id) {
    state.labelling = null;
    state.labelProblem = frame.detail;
    socket.resume();
  } else if (request?.do === "ask") socket.resume();
}

function onNotSaid(frame) {
  if (RETRY.has(frame.error)) {
    state.pending.failed = true;
    announce("Not sent.");
    return;
  }
  backIntoBox();
  state.problem = frame.detail;
  socket.resume();
}

function backIntoBox() {
  if (box) box.value = [state.pending.text, box.value].filter(Boolean).join(" ");
  draft.text = box?.value ?? state.pending.text;
  draft.pending = state.pending = null;
}

function onTurn(before, now) {
  if (before === now) return;
  if (now === "label") announce(`${document.getElementById("q").textContent} ${keysOff() ? "" : "Keys 1 to 4 label it."}`);
  if (now === "over") {
    if (state.chat.state === "complete") {
      state.changeUntil = Date.now() + GRACE_MS;
      setTimeout(refresh, GRACE_MS + 1000);
    }
    document.getElementById("end").dispatchEvent(new Event("over"));
  }
}

function onStatus(link) {
  const downSince = link.open ? 0 : state.link.downSince || Date.now();
  state.link = { ...link, downSince };
  const waiting = turnOf(state) === "bot" && Date.now() - state.waitingSince > STILL_MS;
  if (waiting && Date.now() - looked > LOOK_MS) {
    looked = Date.now();
    socket?.resume();
  }
  refresh();
}

// -- what the person does ---------------------------------------------------------------------------------------

function onSend(event) {
  event.preventDefault();
  const text = box.value.trim();
  if (!text) return;
  state.problem = refusal(text);
  if (state.problem) {
    refresh();
    return;
  }
  typedAt = 0;
  state.pending = { id: newId(), text };
  state.relabel = false;
  draft.pending = state.pending;
  draft.text = box.value = "";
  transmit();
  refresh();
  scrollToEnd();
  box.focus();
}

// The server refuses these too; told here, the words need not travel and come back.
function refusal(text) {
  const turn = turnOf(state);
  if (turn === "failed") return "Your last message is not sent. Try it again, or edit it.";
  if (turn !== "write") return "The bot has not answered your last message yet.";
  return isTooLong(text) ? countWords(text) : "";
}

function transmit() {
  delete state.pending.failed;
  socket.request({ do: "say", text: state.pending.text }, state.pending.id);
}

function onInput() {
  box.value = box.value.replaceAll("\n", " ");
  draft.text = box.value;
  state.problem = "";
  refresh();
}

function onBoxKey(event) {
  if (event.key !== "Enter") typedAt = Date.now();
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  if (event.shiftKey) {
    box.setRangeText(" ", box.selectionStart, box.selectionEnd, "end");
    onInput();
  } else say.requestSubmit(say.querySelector("button:not([disabled])") ?? undefined);
}

function chooseBin(value) {
  const reply = newestReply(state);
  if (!mayLabel(state)) return;
  state.labelProblem = "";
  const id = newId();
  state.labelling = { id, number: reply.number, bin: value };
  socket.request({ do: "label", utterance: reply.number, bin: value }, id);
  refresh();
}

function onPageKey(event) {
  if (keysOff() || typing(event) || document.querySelector("dialog[open]")) return;
  const soon = Date.now() - typedAt < TYPING_MS;
  if (soon && event.key.length === 1) typedAt = Date.now();
  if (soon) return;
  const number = "1234".indexOf(event.key);
  if (event.key.length === 1 && number >= 0) chooseBin(bins()[number].value);
  else if (event.key.toLowerCase() === "b") {
    const veils = document.querySelectorAll("details.veil");
    if (veils.length) veils[veils.length - 1].toggleAttribute("open");
  }
}

const ACTS = {
  change() {
    state.relabel = true;
    refresh();
    (bins().find((button) => button.ariaPressed === "true") ?? bins()[0]).focus();
  },
  again() {
    transmit();
    refresh();
  },
  edit() {
    backIntoBox();
    refresh();
    box.focus();
  },
  ask: () => socket.request({ do: "ask" }),
  retry: () => socket.retry(),
};

// -- wiring -----------------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const act = event.target.closest("[data-act]")?.dataset.act;
  if (act) ACTS[act]();
});
document.addEventListener("keydown", onPageKey);
form("label").addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter) chooseBin(event.submitter.value);
});
form("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ACTS.ask();
});
document.getElementById("end").addEventListener("htmx:afterSwap", () => document.getElementById("the-end").focus());

if (say) {
  say.addEventListener("submit", onSend);
  box.addEventListener("input", onInput);
  box.addEventListener("keydown", onBoxKey);
  state.problem = slot("problem").textContent;
  if (!box.value) box.value = draft.text;
  state.pending = draft.pending;
}
if (say || start.change_s) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const hello = () => ({ do: "resume", after: complete(state) });
  const tell = { hello, frame: onFrame, status: onStatus };
  socket = new ChatSocket(`${scheme}://${location.host}/ws/chats/${start.chat.id}`, tell);
}
if (state.pending) transmit();
refresh();
if (box && turnOf(state) === "write" && matchMedia("(hover: hover)").matches) box.focus({ preventScroll: true });
stayAtEnd();
