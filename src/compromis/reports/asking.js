// The interview in a notebook: two results as buttons, and a bar of what is known. Text is set as text, never as markup.

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  const { style, onclick, ...others } = attributes;
  Object.assign(element.style, style);
  for (const [key, value] of Object.entries(others)) if (value !== false) element.setAttribute(key, value === true ? "" : value);
  if (onclick) element.addEventListener("click", onclick);
  element.append(...children);
  return element;
}

function bar({ name, range, shares: [low, middle, high] }) {
  const at = (share) => `${(100 * share).toFixed(1)}%`;
  const track = make("span", { "aria-hidden": "true", style: { position: "relative", display: "inline-block", width: "14em", height: ".6em", background: "rgb(128 128 128 / .25)", borderRadius: "4px", margin: "0 .8em", verticalAlign: "middle" } },
    make("span", { style: { position: "absolute", inset: `0 auto 0 ${at(low)}`, width: at(high - low), minWidth: "3px", background: "#5b8fd0", borderRadius: "4px" } }),
    make("span", { style: { position: "absolute", inset: `-.2em auto -.2em ${at(middle)}`, width: "3px", background: "currentColor" } }));
  return make("div", {}, name, track, range);
}

function render({ model, el }) {
  const root = make("div", { role: "group", "aria-label": "Preferences by choices", style: { maxWidth: "52em", fontFamily: "system-ui, sans-serif" } });
  el.append(root);
  const answer = (answers) => {
    model.set("answers", answers);
    model.save_changes();
  };
  const button = (text, onclick, disabled = false) => make("button", { type: "button", onclick, disabled, style: { font: "inherit", padding: ".4em .9em", margin: ".5em .5em 0 0", cursor: "pointer" } }, text);
  const show = () => {
    const { number, most, sides, known } = model.get("page");
    const given = model.get("answers");
    const back = button("Back", () => answer(given.slice(0, -1)), !given.length);
    const results = sides.map((lines, i) => make("button", { type: "button", onclick: () => answer([...given, ["first", "second"][i]]), style: { font: "inherit", textAlign: "start", padding: ".7em 1em", flex: "1 1 16em", cursor: "pointer" } },
      make("small", {}, `Result ${i + 1}`), ...lines.map((line) => make("div", {}, line))));
    root.replaceChildren(...(number === null
      ? [make("p", { role: "status" }, "Thank you: .preferences of this widget hold what you said."), back]
      : [make("p", {}, make("b", {}, "Which of these two results would you rather have?"), ` Question ${number} of at most ${most}`),
        make("div", { style: { display: "flex", flexWrap: "wrap", gap: ".7em" } }, ...results), button("They are alike to me", () => answer([...given, "alike"])), back]),
      make("div", { role: "status", style: { marginTop: ".8em" } }, ...known.map(bar)));
  };
  model.on("change:page", show);
  show();
  return () => {
    model.off("change:page", show);
    root.remove();
  };
}

export default { render };
