// The live view of a run: a line, a bar, a table. Every text arrives ready made; only what changed is touched.
function status(model, root) {
  const heading = make("strong");
  const facts = make("span", { class: "sq-quiet" });
  const bar = make("progress", { max: 1 });
  const table = make("table");
  root.classList.add("sq-status");
  const wide = make("div", { class: "sq-wide", role: "group", tabindex: 0 }, table);
  root.replaceChildren(make("p", {}, heading, " ", facts), bar, wide);

  const say = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const line = (row, tag, texts) => {
    while (row.cells.length > texts.length) row.deleteCell(-1);
    while (row.cells.length < texts.length) row.append(make(tag));
    texts.forEach((text, at) => say(row.cells[at], text));
  };

  return follow(model, (view) => {
    if (!view.heading) return;
    say(heading, view.heading);
    say(facts, view.facts.join(" · "));
    bar.hidden = view.share === null;
    bar.value = view.share ?? 1;
    bar.setAttribute("aria-label", view.heading);
    wide.setAttribute("aria-label", view.head[0] ?? "");
    wide.hidden = view.rows.length === 0;
    while (table.rows.length > view.rows.length + 1) table.deleteRow(-1);
    while (table.rows.length < view.rows.length + 1) table.insertRow();
    line(table.rows[0], "th", view.head);
    view.rows.forEach((texts, at) => line(table.rows[at + 1], "td", texts));
  });
}
