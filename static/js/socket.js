/** The chat's socket: frames with ids out, answers and events in, and a new connection whenever one is lost. */

const ANSWER_MS = 10_000; // a socket that owes an answer for this long is dead, whatever the browser thinks
const CHECK_MS = 4_000;
const IDLE_MS = 25_000;
const SOONEST_MS = 1_000;
const LATEST_MS = 15_000;
const TOO_FAST = 4429;
const FINAL = new Set([4401, 4404]);

/** An id for one request. crypto.randomUUID is missing where the page did not come over HTTPS. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class ChatSocket {
  #url;
  #tell;
  #socket = null;
  #open = false;
  #waiting = new Map();
  #tries = 0;
  #since = 0;
  #heard = 0;
  #retryAt = 0;
  #ended = 0;

  /**
   * `tell` has three functions. `hello()` gives the body of the request that brings the page up to date.
   * `frame(frame, request)` takes what comes, with the body of the request that it answers, if any.
   * `status({open, seconds, ended})` is called each second and at each change.
   */
  constructor(url, tell) {
    this.#url = url;
    this.#tell = tell;
    addEventListener("online", () => this.retry());
    addEventListener("offline", () => this.check());
    addEventListener("pageshow", (event) => event.persisted && this.retry());
    document.addEventListener("visibilitychange", () => document.hidden || this.check());
    setInterval(() => this.#look(), 1000);
    this.#connect();
  }

  /** Sends a request now, and again with the same id after each reconnect until it is answered. */
  request(body, id = newId()) {
    if (!this.#waiting.has(id)) this.#waiting.set(id, { body, sentAt: 0, limit: ANSWER_MS });
    this.#send(id);
    return id;
  }

  /** Asks for what the page lacks. A connection that was lost asks by itself when it is back. */
  resume(limit = ANSWER_MS) {
    if (!this.#open) return;
    const id = newId();
    this.#waiting.set(id, { body: this.#tell.hello(), sentAt: 0, limit });
    this.#send(id);
  }

  /** Finds out soon whether the connection still carries anything. */
  check() {
    if (this.#open) this.resume(CHECK_MS);
    else this.retry();
  }

  retry() {
    if (!this.#socket && !this.#ended) this.#connect();
  }

  #connect() {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    this.#since = Date.now();
    socket.onopen = () => this.#opened();
    socket.onmessage = (event) => this.#take(JSON.parse(event.data));
    socket.onclose = (event) => this.#lost(event.code);
    this.#report();
  }

  #opened() {
    this.#open = true;
    this.#heard = Date.now();
    const owed = [...this.#waiting.keys()];
    this.resume();
    owed.forEach((id) => this.#send(id));
    this.#report();
  }

  #send(id) {
    if (!this.#open) return;
    const entry = this.#waiting.get(id);
    entry.sentAt = Date.now();
    // One that is closing tells so in a moment; what is owed goes out over the next.
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ id, ...entry.body }));
  }

  #take(frame) {
    this.#heard = Date.now();
    const entry = this.#waiting.get(frame.re);
    this.#waiting.delete(frame.re);
    if (entry) this.#tries = 0;
    this.#tell.frame(frame, entry?.body, frame.re);
  }

  #lost(code) {
    const socket = this.#socket;
    this.#socket = null;
    this.#open = false;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    for (const [id, entry] of this.#waiting) if (entry.body.do === "resume") this.#waiting.delete(id);
    if (FINAL.has(code)) this.#ended = code;
    const wait = SOONEST_MS * 2 ** this.#tries++ * (0.75 + Math.random() / 2);
    this.#retryAt = Date.now() + Math.min(LATEST_MS, Math.max(code === TOO_FAST ? 5_000 : SOONEST_MS, wait));
    this.#report();
  }

  #look() {
    const now = Date.now();
    if (this.#open) {
      const dead = [...this.#waiting.values()].some((entry) => now - entry.sentAt > entry.limit);
      if (dead) this.#lost(0);
      else if (now - this.#heard > IDLE_MS) this.resume();
    } else if (this.#socket) {
      if (now - this.#since > ANSWER_MS) this.#lost(0);
    } else if (now >= this.#retryAt) this.retry();
    this.#report();
  }

  #report() {
    const seconds = this.#socket ? 0 : Math.max(1, Math.ceil((this.#retryAt - Date.now()) / 1000));
    this.#tell.status({ open: this.#open, seconds, ended: this.#ended });
  }
}
