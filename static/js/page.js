/** What every page can do: copy a text, show a password, list its keys, lead to the first wrong field. */

/** Whether the person has switched single keys off. */
export function keysOff() {
  return document.body.dataset.singleKeys === "off";
}

/** Whether a key belongs to a text box, or to the browser. */
export function typing(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return true;
  return Boolean(event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]"));
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const text = source.value ?? source.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // No clipboard without HTTPS: the text is marked, so that Ctrl+C copies it.
    if (source.select) source.select();
    else getSelection().selectAllChildren(source);
    button.textContent = "Marked: copy it now";
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});

document.addEventListener("keydown", (event) => {
  const keys = document.getElementById("keys");
  if (event.key === "?" && keys && !keysOff() && !typing(event) && !keys.open) keys.showModal();
});

for (const box of document.querySelectorAll("input[data-show]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn";
  button.textContent = "Show";
  button.setAttribute("aria-label", "Show the password");
  button.addEventListener("click", () => {
    const hidden = box.type === "password";
    box.type = hidden ? "text" : "password";
    button.textContent = hidden ? "Hide" : "Show";
    button.setAttribute("aria-label", `${hidden ? "Hide" : "Show"} the password`);
  });
  const row = document.createElement("div");
  row.className = "composer";
  box.replaceWith(row);
  row.append(box, button);
}

document.querySelector('[aria-invalid="true"]')?.focus();
