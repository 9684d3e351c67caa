/** What the page knows of the chat, and what follows from it. No element is touched here. */

const LONGEST = 2000;
const COUNT_FROM = 1800;

/** The whole state; `utterances` is a Map by number. */
export function newState(start, utterances) {
  return {
    chat: start.chat,
    utterances: new Map(utterances.map((item) => [item.number, item])),
    pending: null, // {id, text, failed}
    labelling: null, // {id, number, bin}
    relabel: false,
    changeUntil: Date.now() + start.change_s * 1000,
    problem: "",
    labelProblem: "",
    waitingSince: Date.now() - start.waited * 1000,
    askedAgain: 0,
    sent: 0,
    link: { open: false, seconds: 0, ended: 0, downSince: Date.now() },
  };
}

/** Takes a frame's utterances and its chat in. Whatever comes twice or late changes nothing. */
export function take(state, frame) {
  for (const item of frame.utterances ?? [frame.utterance]) {
    const old = item && state.utterances.get(item.number);
    if (item && !(old?.label && !item.label)) state.utterances.set(item.number, item);
  }
  if (frame.chat && !isStale(state.chat, frame.chat)) {
    if (frame.chat.turn === "bot" && state.chat.turn !== "bot") state.waitingSince = Date.now();
    state.chat = frame.chat;
  }
}

// Frames of two processes may arrive in the wrong order; these three never go back.
function isStale(old, now) {
  if (now.said !== old.said) return now.said < old.said;
  if (old.turn === "over") return now.turn !== "over";
  return old.turn === "write" && now.turn === "label";
}

/** The number up to which nothing is missing. */
export function complete(state) {
  let number = 0;
  while (state.utterances.has(number + 1)) number += 1;
  return number;
}

export function lacks(state) {
  return complete(state) < Math.max(state.chat.said, ...state.utterances.keys());
}

/** Whose move it is: `write`, `sending`, `failed`, `bot`, `label`, `stalled` or `over`. */
export function turnOf(state) {
  const turn = state.chat.turn;
  if (turn !== "over" && lacks(state)) return "bot";
  if (turn !== "write" || !state.pending) return turn;
  return state.pending.failed ? "failed" : "sending";
}

export function newestReply(state) {
  const newest = state.utterances.get(complete(state));
  return newest?.speaker === "bot" ? newest : null;
}

/** Whether the newest reply's label can be set or changed now. */
export function mayLabel(state) {
  const turn = turnOf(state);
  if (!newestReply(state)) return false;
  return turn === "label" || turn === "write" || (turn === "over" && state.chat.state === "complete" && Date.now() < state.changeUntil);
}

export function isTooLong(text) {
  return [...text.trim()].length > LONGEST;
}

/** The counter under the box, or nothing while there is room. */
export function countWords(text) {
  const length = [...text.trim()].length;
  if (length < COUNT_FROM) return "";
  const over = length - LONGEST;
  if (over > 0) return `${over.toLocaleString("en")} characters too many. Shorten the message to ${LONGEST.toLocaleString("en")}.`;
  return `${length.toLocaleString("en")} of ${LONGEST.toLocaleString("en")} characters`;
}

const NUMBERS = ["", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

/** "Three chats are ahead of yours." */
export function aheadWords(count) {
  return `${NUMBERS[count] ?? count} ${count === 1 ? "chat is" : "chats are"} ahead of yours.`;
}

/** What stands under the typing dots. */
export function waitingWords(state) {
  const seconds = Math.floor((Date.now() - state.waitingSince) / 1000);
  if (seconds < 8) return { words: "The bot is typing", ask: false };
  const again = state.askedAgain > state.waitingSince;
  const quiet = Date.now() - Math.max(state.askedAgain, state.waitingSince) < 20_000;
  return { words: `Still working, ${seconds} seconds so far.${again ? " Asked again." : ""}`, ask: !quiet };
}
