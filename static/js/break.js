/** A break that has to be taken: how long it still lasts, and the way on when it is over. */

const left = document.querySelector('[data-slot="left"]');
const over = Date.now() + Number(left.dataset.seconds) * 1000;

function show() {
  const minutes = Math.ceil((over - Date.now()) / 60_000);
  if (minutes <= 0) location.reload();
  else left.textContent = minutes === 1 ? "That is in less than a minute." : `That is in ${minutes} minutes.`;
}

show();
setInterval(show, 10_000);
