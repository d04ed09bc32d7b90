// Adds a button to each example that copies it.

for (const place of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    const text = place.querySelector("pre")?.textContent ?? "";
    navigator.clipboard.writeText(text).then(
      () => say("Copied"),
      () => say("Not allowed"),
    );
  });
  place.prepend(button);

  /** @param {string} word */
  function say(word) {
    button.textContent = word;
    setTimeout(() => (button.textContent = "Copy"), 2_000);
  }
}
