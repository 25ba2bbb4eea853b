// The speed-quality plane: one point a candidate with its intervals, moved in place as the view changes. Points are
// chosen by dragging, or with arrow keys and the space bar; what is chosen goes back as {names: […]}.
const WIDTH = 720, HEIGHT = 420, LEFT = 58, RIGHT = 20, TOP = 14, BOTTOM = 52;
const MARKERS = [
  "M6 0A6 6 0 1 1-6 0A6 6 0 1 1 6 0Z", "M-5.5-5.5H5.5V5.5H-5.5Z", "M0-7L6.5 5H-6.5Z", "M0-7.5L6 0L0 7.5L-6 0Z",
  "M0 7L6.5-5H-6.5Z", "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z", "M-6-3L-3-6L0-3L3-6L6-3L3 0L6 3L3 6L0 3L-3 6L-6 3L-3 0Z",
  "M-7 0L5-6.5V6.5Z", "M7 0L-5-6.5V6.5Z", "M0-7L2-2H7L3 1L4.5 6L0 3L-4.5 6L-3 1L-7-2H-2Z",
];

function amount(value, unit) {
  const inSeconds = unit === "ms" && value >= 1000;
  const number = inSeconds ? value / 1000 : value;
  const text = number >= 1000 ? Math.round(number).toLocaleString("en") : String(Number(number.toPrecision(3)));
  return unit === "USD" ? `$${text}` : `${text} ${inSeconds ? "s" : unit}`.trim();
}

function logTicks(lo, hi) {
  for (const steps of [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8]]) {
    const ticks = [];
    for (let d = Math.floor(Math.log10(lo)); d <= Math.ceil(Math.log10(hi)); d++)
      for (const s of steps) if (s * 10 ** d >= lo && s * 10 ** d <= hi) ticks.push(s * 10 ** d);
    if (ticks.length >= 3 || steps.length === 8) return apart(ticks, Math.log(hi / lo) / 9);
  }
}

function apart(ticks, least) {
  const kept = [];
  for (const tick of ticks) if (!kept.length || Math.log(tick / kept.at(-1)) > least) kept.push(tick);
  return kept;
}

// Where things stand: functions from values to pixels, and the ticks of both axes.
function scales(view) {
  const known = view.points.filter((p) => p.x > 0);
  const xs = known.flatMap((p) => [p.x, p.x_lo, p.x_hi]).filter((x) => x > 0);
  const [lo, hi] = xs.length ? [Math.min(...xs) / 1.15, Math.max(...xs) * 1.15] : [100, 1000];
  const ys = known.flatMap((p) => [p.y, p.y_lo, p.y_hi]).concat(view.floor).filter((y) => typeof y === "number");
  const bottom = ys.length ? Math.max(0, Math.floor(Math.min(...ys) * 10 - 0.3) / 10) : 0;
  const top = ys.length ? Math.min(1, Math.max(bottom + 0.2, Math.ceil(Math.max(...ys) * 10 + 0.2) / 10)) : 1;
  const across = (x) => {
    const share = Math.log(x / lo) / Math.log(hi / lo);
    return LEFT + (view.x.higher ? share : 1 - share) * (WIDTH - LEFT - RIGHT);
  };
  const up = (y) => HEIGHT - BOTTOM - ((y - bottom) / (top - bottom)) * (HEIGHT - TOP - BOTTOM);
  const step = top - bottom > 0.5 ? 0.2 : top - bottom > 0.2 ? 0.1 : 0.05;
  const rows = [];
  for (let y = Math.ceil(bottom / step - 1e-9) * step; y <= top + 1e-9; y += step) rows.push(y);
  return { known, across, up, columns: logTicks(lo, hi), rows };
}

function axes(view, at) {
  const base = HEIGHT - BOTTOM, parts = [];
  for (const x of at.columns) {
    const px = at.across(x);
    parts.push(make("line", { class: "sq-grid", x1: px, x2: px, y1: TOP, y2: base }));
    parts.push(make("text", { x: px, y: base + 18, "text-anchor": "middle" }, amount(x, view.x.unit)));
  }
  for (const y of at.rows) {
    const py = at.up(y);
    parts.push(make("line", { class: "sq-grid", x1: LEFT, x2: WIDTH - RIGHT, y1: py, y2: py }));
    parts.push(make("text", { x: LEFT - 8, y: py + 4, "text-anchor": "end" }, `${Math.round(100 * y)} %`));
  }
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  parts.push(make("text", { class: "sq-axis", x: middle, y: HEIGHT - 10, "text-anchor": "middle" }, view.x.label));
  const turned = { class: "sq-axis", transform: `translate(14 ${(TOP + base) / 2}) rotate(-90)`, "text-anchor": "middle" };
  parts.push(make("text", turned, view.words.quality));
  if (typeof view.floor === "number") {
    const py = at.up(view.floor);
    parts.push(make("line", { class: "sq-floor", x1: LEFT, x2: WIDTH - RIGHT, y1: py, y2: py }));
    parts.push(make("text", { class: "sq-floor", x: LEFT + 6, y: py - 5 }, view.floor_label));
  }
  return parts;
}

// The step line through the front: from the fastest point leftwards, up at each slower one.
function steps(at) {
  const front = at.known.filter((p) => p.front && p.y !== null).map((p) => [at.across(p.x), at.up(p.y)]);
  front.sort((a, b) => b[0] - a[0]);
  if (!front.length) return "";
  return `M${front[0]}` + front.slice(1).map(([x, y]) => `H${x}V${y}`).join("") + `H${LEFT}`;
}

// Each name beside its point, where it covers the fewest others; above it while all stand on the lower edge.
const AROUND = [
  [11, 4, "start"], [-11, 4, "end"], [0, -12, "middle"], [0, 20, "middle"], [9, -9, "start"], [9, 17, "start"],
  [-9, -9, "end"], [-9, 17, "end"], [9, -24, "start"], [9, 31, "start"], [-9, -24, "end"], [-9, 31, "end"],
];
const ABOVE = Array.from({ length: 12 }, (_, row) => [0, -14 - 17 * row, "middle"]);

function placeNames(points) {
  const taken = points.map((p) => [p.px - 8, p.py - 8, p.px + 8, p.py + 8]);
  for (const p of points) {
    const text = p.shown.length > 26 ? `${p.shown.slice(0, 25)}…` : p.shown;
    const wide = [...text].reduce((sum, sign) => sum + (sign > "\u2e80" ? 12.5 : 6.8), 0);
    const spots = p.y === null ? ABOVE : AROUND;
    const boxes = spots.map(([dx, dy, anchor]) => {
      const x = p.px + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
      return [x, p.py + dy - 10, x + wide, p.py + dy + 3];
    });
    const cost = (box) => taken.reduce((sum, other) => sum + overlap(box, other), 0)
      + (box[0] < LEFT || box[2] > WIDTH || box[1] < 0 || box[3] > HEIGHT - BOTTOM ? 4000 : 0);
    const best = boxes.reduce((least, box, at) => (cost(box) < cost(boxes[least]) - 1 ? at : least), 0);
    taken.push(boxes[best]);
    Object.assign(p, { text, spot: spots[best] });
  }
}

function overlap(a, b) {
  return Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
}

function plane(model, root) {
  const id = `sq-${Math.random().toString(36).slice(2)}`;
  const heading = make("strong"), note = make("span", { class: "sq-quiet" });
  const frame = make("g"), line = make("path", { class: "sq-front" }), marks = make("g"), brush = make("rect", { class: "sq-brush", visibility: "hidden" });
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "presentation" }, frame, line, marks, brush);
  const box = make("div", { class: "sq-field", role: "listbox", tabindex: 0, "aria-multiselectable": "true", "aria-describedby": `${id}-help` }, svg);
  const said = make("p", { role: "status" }), help = make("p", { class: "sq-quiet", id: `${id}-help` });
  const table = make("table"), wide = make("div", { class: "sq-wide", role: "group", tabindex: 0 }, table);
  const fold = make("details", {}, make("summary"), wide);
  root.classList.add("sq-plane");
  root.replaceChildren(make("p", {}, heading, " ", note), box, said, help, fold);

  const nodes = new Map(); // name → its group
  let view = { points: [] }, at = null, chosen = new Set(model.get("choice").names ?? []), active = null;

  function tell(names) {
    chosen = new Set(names);
    model.set("choice", { names: [...chosen] });
    model.save_changes();
    mark();
  }

  function toggle(name) {
    const names = new Set(chosen);
    if (!names.delete(name)) names.add(name);
    tell(names);
  }

  function mark() {
    for (const [name, node] of nodes) {
      node.setAttribute("aria-selected", String(chosen.has(name)));
      node.classList.toggle("sq-dim", chosen.size > 0 && !chosen.has(name));
      node.classList.toggle("sq-active", name === active);
    }
    const names = view.points.filter((p) => chosen.has(p.name)).map((p) => p.shown);
    const values = { n: names.length, total: view.points.length, names: names.join(", ") };
    const about = view.points.find((p) => p.name === active)?.label;
    const sum = names.length ? fill(view.words.some, values) : fill(view.words.all, { n: view.points.length });
    const text = about ? `${about}. ${sum}` : sum;
    if (said.textContent !== text) said.textContent = text;
  }

  function point(p, index) {
    let node = nodes.get(p.name);
    if (!node) {
      const parts = ["x", "y"].map((way) => make("line", { class: `sq-whisker sq-${way}` }));
      node = make("g", { role: "option", id: `${id}-${index}` }, ...parts, make("path", { d: MARKERS[index % MARKERS.length] }), make("text"));
      node.style.setProperty("--sq-own", `var(--sq-${index % 8})`);
      nodes.set(p.name, node);
      marks.append(node);
    }
    const [wide, tall, , name] = node.children;
    node.setAttribute("aria-label", p.label);
    node.setAttribute("class", `sq-point${p.front ? " sq-on" : ""}${p.y === null ? " sq-ungraded" : ""}`);
    node.style.transform = `translate(${p.px}px, ${p.py}px)`;
    whisker(wide, "x", p.x_lo === null || p.x_hi === null ? null : [at.across(p.x_lo) - p.px, at.across(p.x_hi) - p.px]);
    const [dx, dy, anchor] = p.spot;
    const leader = p.y === null ? [-8, dy + 3] : null; // from a point on the lower edge to its name
    whisker(tall, "y", p.y_lo === null || p.y === null ? leader : [at.up(p.y_lo) - p.py, at.up(p.y_hi) - p.py]);
    name.textContent = p.text;
    for (const [key, value] of Object.entries({ x: dx, y: dy, "text-anchor": anchor })) name.setAttribute(key, value);
  }

  function whisker(node, way, ends) {
    node.toggleAttribute("hidden", ends === null);
    const [from, to] = ends ?? [0, 0];
    node.setAttribute(`${way}1`, from);
    node.setAttribute(`${way}2`, to);
  }

  function drawTable() {
    const row = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
    table.replaceChildren(row("th", view.head), ...view.rows.map((texts) => row("td", texts)));
  }

  const stop = follow(model, (next) => {
    if (!next.points) return;
    view = next;
    at = scales(view);
    for (const p of at.known) Object.assign(p, { px: at.across(p.x), py: p.y === null ? HEIGHT - BOTTOM : at.up(p.y) });
    placeNames(at.known);
    heading.textContent = view.words.title;
    note.textContent = view.note;
    help.textContent = view.words.help;
    fold.firstChild.textContent = view.words.table;
    wide.setAttribute("aria-label", view.words.table);
    box.setAttribute("aria-label", view.words.figure);
    frame.replaceChildren(...axes(view, at));
    line.setAttribute("d", steps(at));
    view.points.forEach((p, index) => { if (p.x > 0) point(p, index); });
    drawTable();
    mark();
  });

  box.addEventListener("keydown", (event) => {
    const inOrder = at.known.toSorted((a, b) => a.px - b.px);
    const now = inOrder.findIndex((p) => p.name === active);
    const to = { ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, Home: 0, End: inOrder.length - 1 }[event.key];
    if (to !== undefined && inOrder.length) {
      active = inOrder[Math.max(0, Math.min(inOrder.length - 1, to))].name;
      box.setAttribute("aria-activedescendant", nodes.get(active).id);
      if (event.shiftKey) tell(new Set([...chosen, active]));
      mark();
    } else if ((event.key === " " || event.key === "Enter") && active !== null) toggle(active);
    else if (event.key === "Escape") tell([]);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
  });
  box.addEventListener("blur", () => { active = null; box.removeAttribute("aria-activedescendant"); mark(); });

  const place = (event) => {
    const area = svg.getBoundingClientRect();
    return [((event.clientX - area.left) / area.width) * WIDTH, ((event.clientY - area.top) / area.height) * HEIGHT];
  };
  let from = null;
  svg.addEventListener("pointerdown", (event) => { from = place(event); svg.setPointerCapture(event.pointerId); });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = place(event);
    const shape = { x: Math.min(x, from[0]), y: Math.min(y, from[1]), width: Math.abs(x - from[0]), height: Math.abs(y - from[1]), visibility: "visible" };
    for (const [name, value] of Object.entries(shape)) brush.setAttribute(name, value);
  });
  svg.addEventListener("pointerup", (event) => {
    if (!from || !at) return;
    const [x, y] = place(event), [x0, y0] = from;
    from = null;
    brush.setAttribute("visibility", "hidden");
    const near = at.known.find((p) => Math.hypot(p.px - x, p.py - y) < 12);
    if (Math.hypot(x - x0, y - y0) < 4) near ? toggle(near.name) : tell([]);
    else {
      const inside = at.known.filter((p) => (p.px - x) * (p.px - x0) <= 0 && (p.py - y) * (p.py - y0) <= 0);
      tell([...(event.shiftKey ? chosen : []), ...inside.map((p) => p.name)]);
    }
  });
  svg.addEventListener("pointercancel", () => { from = null; brush.setAttribute("visibility", "hidden"); });

  const heard = () => { chosen = new Set(model.get("choice").names ?? []); mark(); };
  model.on("change:choice", heard);
  return () => { stop(); model.off("change:choice", heard); };
}
