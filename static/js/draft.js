/** What was typed and what was sent but not yet acknowledged, kept in this browser through reloads and crashes. */

export class Draft {
  #key;

  constructor(user, chat) {
    this.#key = `badcollect:${user}:${chat}:`;
  }

  /** What stands in the box: this tab's own words first, else those last typed in any tab. */
  get text() {
    return this.#read("draft", sessionStorage) ?? this.#read("draft") ?? "";
  }

  set text(value) {
    const own = this.#read("draft", sessionStorage);
    this.#write("draft", value, sessionStorage);
    if (value || this.#read("draft") === own) this.#write("draft", value);
  }

  /** The message on its way: `{id, text}`, or null. Sent again with the same id it is stored once. */
  get pending() {
    try {
      return JSON.parse(this.#read("pending"));
    } catch {
      return null;
    }
  }

  set pending(value) {
    this.#write("pending", value && JSON.stringify(value));
  }

  // A browser that keeps nothing (private windows, a full disk) still chats.
  #read(name, store = localStorage) {
    try {
      return store.getItem(this.#key + name);
    } catch {
      return null;
    }
  }

  #write(name, value, store = localStorage) {
    try {
      if (value) store.setItem(this.#key + name, value);
      else store.removeItem(this.#key + name);
    } catch {
      return;
    }
  }
}
