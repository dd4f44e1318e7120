// A button on each block of code copies what can be run: of a session, the input without prompts and output.
function runnable(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines[0].startsWith("$ ")) return lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)).join("\n");
  if (!lines.some((line) => line.startsWith(">>> "))) return lines.join("\n");
  return lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line)).map((line) => line.slice(4)).join("\n");
}

// Where the page is no secure context (a plain file, say) the clipboard takes what a text area has selected.
async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const text = block.querySelector("pre");
    if (!text || block.closest(".cell_output")) continue;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      await copy(runnable(text.innerText));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
});
