/** Shows the state. Elements are keyed by the message's number, so showing twice changes nothing. */

import { aheadWords, complete, countWords, lacks, mayLabel, newestReply, turnOf, waitingWords } from "./state.js";

const NEAR_END = 80; // pixels: closer than this, the reader is at the end and stays there
const PLACEHOLDERS = {
  failed: "Try the message above again, or edit it",
  label: "Label the reply, then write",
  write: "Write your message",
};

export const slot = (name) => document.querySelector(`[data-slot="${name}"]`);
export const form = (name) => document.querySelector(`[data-form="${name}"]`);
export const bins = () => [...form("label").querySelectorAll(".bin")];

/** The messages that the server has put on the page. */
export function shownUtterances() {
  return [...document.querySelectorAll("[data-number]")].map((item) => ({
    number: Number(item.dataset.number),
    speaker: item.classList.contains("me") ? "human" : "bot",
    text: item.querySelector(".text").textContent,
    label: item.dataset.bin ?? null,
  }));
}

export function show(state, words) {
  showSide(state, words);
  showLog(state);
  showDock(state);
  if (atEnd) scrollToEnd();
}

export function scrollToEnd() {
  slot("scroll").scrollTop = slot("scroll").scrollHeight;
}

let atEnd = true;

/** Keeps who reads at the end there when messages come, the dock grows or a phone's keyboard opens. */
export function stayAtEnd() {
  const scroll = slot("scroll");
  let height = 0;
  scroll.addEventListener("scroll", () => {
    // A change of the height moves the text too, and that is not the reader's doing.
    if (scroll.clientHeight === height) atEnd = scroll.scrollHeight - scroll.scrollTop - height < NEAR_END;
  });
  new ResizeObserver(() => {
    height = scroll.clientHeight;
    if (atEnd) scrollToEnd();
  }).observe(scroll);
}

export function announce(text) {
  setText(slot("status"), text);
}

function setText(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

function setHidden(node, hidden) {
  if (node && node.hidden !== hidden) node.hidden = hidden;
}

function showSide(state, words) {
  document.querySelectorAll('[data-slot="said"]').forEach((node) => setText(node, String(state.chat.said)));
  setText(slot("unsafe"), String(state.chat.unsafe));
  setText(slot("now"), words[turnOf(state)]);
  slot("progress").value = state.chat.said;
}

// -- the conversation ------------------------------------------------------------------------------------------

function showLog(state) {
  const log = slot("log");
  const settled = state.sent && log.querySelector("[data-pending]");
  if (settled && !state.pending) takeOver(settled, state.sent);
  for (const number of [...state.utterances.keys()].sort((a, b) => a - b)) {
    showTurn(log, state, state.utterances.get(number));
  }
  showPending(log, state);
  showTyping(log, state);
  setHidden(slot("first"), state.utterances.size > 0 || Boolean(state.pending));
}

// The bubble that was "sending" becomes the stored message, in its place.
function takeOver(item, number) {
  if (document.querySelector(`[data-number="${number}"]`)) item.remove();
  else item.dataset.number = number;
  delete item.dataset.pending;
  item.classList.remove("sending", "failed");
}

function fromTemplate(name) {
  return document.getElementById(`turn-${name}`).content.firstElementChild.cloneNode(true);
}

function showTurn(log, state, utterance) {
  let item = log.querySelector(`[data-number="${utterance.number}"]`);
  if (!item) {
    item = fromTemplate(utterance.speaker === "human" ? "me" : "bot");
    item.dataset.number = utterance.number;
    const earlier = [...log.querySelectorAll("[data-number]")].filter((other) => other.dataset.number < utterance.number);
    item.querySelector(".text").textContent = utterance.text;
    if (earlier.length) earlier.at(-1).after(item);
    else log.prepend(item);
  }
  setText(item.querySelector(".text"), utterance.text);
  const newest = utterance === newestReply(state);
  item.classList.toggle("now", newest && turnOf(state) === "label");
  showMeta(item.querySelector(".meta"), metaOf(state, utterance, newest));
}

function metaOf(state, utterance, newest) {
  if (utterance.speaker === "human") {
    return { words: utterance.number === state.sent && complete(state) === state.sent ? "Sent" : "" };
  }
  const bin = bins().find((button) => button.value === utterance.label);
  if (!bin) return { words: newest && turnOf(state) === "label" ? "Waiting for your label" : "" };
  const acts = newest && mayLabel(state) && !state.relabel ? [["change", "Change"]] : [];
  return { level: bin.dataset.level, words: `You said: ${bin.dataset.words}`, acts };
}

function showMeta(meta, { words, level, acts = [] }) {
  const key = JSON.stringify([words, level, acts]);
  if (meta.dataset.key === key) return;
  meta.dataset.key = key;
  const parts = [];
  if (level) {
    const dots = document.createElement("span");
    dots.className = `tens b${level}`;
    dots.setAttribute("aria-hidden", "true");
    parts.push(dots);
  }
  if (words) parts.push(` ${words} `);
  for (const [act, name] of acts) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.dataset.act = act;
    button.textContent = name;
    parts.push(button);
  }
  meta.replaceChildren(...parts);
}

function showPending(log, state) {
  let item = log.querySelector("[data-pending]");
  if (!state.pending) {
    item?.remove();
    return;
  }
  if (!item) {
    item = fromTemplate("me");
    item.dataset.pending = state.pending.id;
    log.append(item);
  }
  setText(item.querySelector(".text"), state.pending.text);
  item.classList.toggle("failed", Boolean(state.pending.failed));
  item.classList.toggle("sending", !state.pending.failed);
  const acts = [["again", "Try again"], ["edit", "Edit"]];
  showMeta(item.querySelector(".meta"), state.pending.failed ? { words: "Not sent.", acts } : { words: "Sending…" });
}

function showTyping(log, state) {
  let item = slot("typing");
  if (turnOf(state) !== "bot") {
    item?.remove();
    return;
  }
  if (!item) {
    item = fromTemplate("typing");
    item.dataset.slot = "typing";
  }
  if (log.lastElementChild !== item) log.append(item);
  const { words, ask } = waitingWords(state);
  showMeta(item.querySelector(".meta"), { words, acts: ask ? [["ask", "Ask again"]] : [] });
}

// -- the dock --------------------------------------------------------------------------------------------------

function showDock(state) {
  const turn = turnOf(state);
  showNotices(state, turn);
  showLabels(state, turn);
  const say = form("say");
  if (!say) return;
  setHidden(say, turn === "over");
  const box = say.elements.text;
  const closed = turn === "label" || turn === "over";
  if (closed && document.activeElement === box) box.blur();
  box.disabled = closed;
  box.placeholder = PLACEHOLDERS[turn] ?? "You can write as soon as the bot has answered";
  say.querySelector("button").disabled = turn !== "write";
  setText(slot("problem"), state.problem);
  box.setAttribute("aria-invalid", state.problem ? "true" : "false");
  const count = countWords(box.value);
  setText(slot("count"), count);
  setHidden(slot("count"), !count);
}

function showLabels(state, turn) {
  const labels = form("label");
  const reply = newestReply(state);
  const pressed = state.labelling?.bin ?? reply?.label;
  const shown = mayLabel(state) && (turn === "label" || state.relabel || Boolean(state.labelling));
  setHidden(labels, !shown);
  labels.elements.utterance.value = reply?.number ?? 0;
  for (const button of bins()) button.setAttribute("aria-pressed", String(button.value === pressed));
  setText(slot("label-problem"), state.labelProblem);
}

function showNotices(state, turn) {
  const { open, seconds, ended, downSince } = state.link;
  const offline = !open && !ended && turn !== "over" && Date.now() - downSince > 1500;
  setHidden(slot("offline"), !offline);
  setText(slot("retry"), seconds ? ` in ${seconds} second${seconds === 1 ? "" : "s"}` : "");
  setHidden(slot("signed-out"), ended !== 4401);
  setHidden(slot("gone"), ended !== 4404);
  setHidden(slot("stalled"), turn !== "stalled");
  const ahead = turn === "bot" && !lacks(state) ? state.chat.ahead : 0;
  setText(slot("ahead-words"), ahead ? aheadWords(ahead) : "");
  setHidden(slot("ahead"), !ahead);
}
