/** The console's pages work without this; it saves a page load or a reach for the mouse. */
import { keysOff, typing } from "./page.js";

/** A question that has a page of its own is asked on top of this one instead. */
async function ask(link) {
  let form = null;
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    form = answer.ok ? page.querySelector("form#confirm") : null;
  } catch {
    form = null;
  }
  if (!form) {
    location.assign(link.href);
    return;
  }
  const dialog = document.createElement("dialog");
  const title = document.createElement("h2");
  title.id = "confirm-title";
  title.textContent = form.querySelector("h1").textContent;
  form.querySelector("h1").replaceWith(title);
  dialog.setAttribute("aria-labelledby", title.id);
  dialog.append(document.importNode(form, true));
  dialog.addEventListener("click", (event) => {
    if (!event.target.closest("[data-shut]")) return;
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-ask]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  ask(link);
});

document.addEventListener("keydown", (event) => {
  if (keysOff() || typing(event) || document.querySelector("dialog[open]")) return;
  const wanted = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("a")) wanted.click();
  else wanted.focus();
});
