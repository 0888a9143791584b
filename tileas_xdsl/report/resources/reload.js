"use strict";
// A page that `tileas serve` serves loads itself anew when there is a newer one.

(function keepFresh() {
  let known = null;
  setInterval(async () => {
    try {
      const now = await (await fetch(address)).text();
      if (known !== null && now !== known) location.reload();
      known = now;
    } catch { /* the server has ended: the page stays as it is */ }
  }, 1000);
})();
