// The page is complete without this script. It adds sorting, filters, search, links, comparison and replay.
// Whatever a model wrote enters the page through textContent alone; nothing is fetched.

const data = JSON.parse(document.getElementById("data").textContent);
const still = matchMedia("(prefers-reduced-motion: reduce)");

const byId = (id) => document.getElementById(id);
const slot = (node, name) => node.querySelector(`[data-slot="${name}"]`);

function say(key, values = {}) {
  return data.words[key].replace(/\{(\w+)\}/g, (blank, name) => (name in values ? values[name] : blank));
}

/** What a kind of failure is called; a custom grader's own kind is its name. */
function named(kind) {
  return data.names[`kind.${kind}`] ?? data.names[`outcome.${kind}`] ?? kind;
}

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function button(text, act, properties = {}) {
  const made = make("button", { type: "button", textContent: text, ...properties });
  made.addEventListener("click", act);
  return made;
}

function reveal(node) {
  for (let at = node; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  node.scrollIntoView({ block: "start", behavior: still.matches ? "auto" : "smooth" });
}

// ------------------------------------------------------------------------------------------------------- tables

/** A number where the cell has one, else its words; null for "not there", which stays last either way. */
function orderOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
  const words = cell.textContent.trim();
  return cell.tagName === "TH" || cell.classList.contains("text") ? words : null;
}

function compareValues(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
}

function sortBy(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const rows = [...table.tBodies[0].rows];
  const numeric = rows.some((row) => typeof orderOf(row, column) === "number");
  const before = head.getAttribute("aria-sort");
  const up = before ? before === "descending" : !numeric;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  rows.sort((a, b) => compareValues(orderOf(a, column), orderOf(b, column), up ? 1 : -1));
  table.tBodies[0].append(...rows);
  announce(say(up ? "sorted_up" : "sorted_down", { column: head.innerText.split("\n")[0] }));
}

function makeSortable(table) {
  if (table.tBodies[0].rows.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const sorter = button("", () => sortBy(table, column), { className: "sort" });
    const [name, ...small] = head.childNodes;
    sorter.title = say("sort", { column: name.textContent.trim() });
    sorter.append(make("span", {}, name), ...small);
    head.append(sorter);
  });
}

/** A field above a long table that hides the rows which do not hold its words. */
function makeFilterable(table) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 10) return;
  const field = make("input", { type: "search", autocomplete: "off" });
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  table.closest(".scroll").before(make("label", { className: "filter" }, `${say("filter")} `, field));
}

const status = make("p", { className: "unseen", role: "status" });
document.body.append(status);

function announce(text) {
  status.textContent = text;
}

// ------------------------------------------------------------------------------------------------------- replay

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

/** One text and the steps in which it came: differences of milliseconds, and of UTF-16 units. */
class Track {
  constructor(pre, [waits, lengths]) {
    this.pre = pre;
    this.text = pre.textContent;
    let time = 0;
    let length = 0;
    this.times = waits.map((wait) => (time += wait));
    this.lengths = lengths.map((more) => (length += more));
    this.end = time;
  }

  /** How much of the text had come by a moment; at the end all of it, with the note of what was cut. */
  come(ms) {
    if (ms >= this.end) return this.text.length;
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= ms) low = middle + 1;
      else high = middle;
    }
    return low ? this.lengths[low - 1] : 0;
  }

  show(ms) {
    const come = this.come(ms);
    if (come === this.shown) return;
    this.shown = come;
    this.pre.textContent = this.text.slice(0, come);
  }
}

/** Plays tracks together at their recorded times. */
class Replay {
  constructor(tracks) {
    this.tracks = tracks;
    this.end = Math.max(1, ...tracks.map((track) => track.end));
    this.now = this.end;
    this.speed = 1;
    this.build();
  }

  build() {
    this.play = button(say("again"), () => (this.running ? this.pause() : this.start()));
    this.scrub = make("input", { type: "range", min: 0, max: this.end, step: 1, value: this.end });
    this.scrub.setAttribute("aria-label", say("position"));
    this.scrub.addEventListener("input", () => {
      const wanted = Number(this.scrub.value); // pausing puts the handle back to where the replay was
      this.pause();
      this.show(wanted);
    });
    this.pace = make("select", {}, ...SPEEDS.map((speed) => new Option(`${speed}×`, speed, false, speed === 1)));
    this.pace.addEventListener("change", () => (this.speed = Number(this.pace.value)));
    this.clock = make("output", { className: "clock" });
    const rail = make("div", { className: "rail" }, ...this.tracks.map((track) => this.ticks(track)), this.scrub);
    const speed = make("label", {}, `${say("speed")} `, this.pace);
    this.node = make("div", { className: "player", role: "group", ariaLabel: say("replay") }, this.play, rail, speed, this.clock);
    this.tell();
  }

  /** A mark for each step, so that stalls and bursts are seen. */
  ticks(track) {
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const marks = document.createElementNS("http://www.w3.org/2000/svg", "path");
    picture.setAttribute("viewBox", "0 0 1000 4");
    picture.setAttribute("preserveAspectRatio", "none");
    picture.setAttribute("aria-hidden", "true");
    marks.setAttribute("d", track.times.map((time) => `M${((1000 * time) / this.end).toFixed(1)} 0v4`).join(""));
    picture.append(marks);
    return picture;
  }

  start() {
    if (this.now >= this.end) this.show(0);
    this.running = true;
    this.then = performance.now();
    this.drawn = 0;
    this.tell();
    requestAnimationFrame((at) => this.step(at));
  }

  step(at) {
    if (!this.running) return;
    const passed = Math.max(0, at - this.then);
    // with reduced motion the text comes four times a second instead of with every frame
    if (!still.matches || at - this.drawn >= 250) {
      this.then = at;
      this.drawn = at;
      this.show(Math.min(this.end, this.now + passed * this.speed));
      if (this.now >= this.end) this.pause();
    }
    if (this.running) requestAnimationFrame((next) => this.step(next));
  }

  pause() {
    this.running = false;
    this.tell();
  }

  finish() {
    this.pause();
    this.show(this.end);
  }

  show(ms) {
    for (const { pre } of this.tracks) if (!pre.style.minHeight) pre.style.minHeight = `${pre.offsetHeight}px`;
    this.now = ms;
    for (const track of this.tracks) track.show(ms);
    this.tell();
  }

  tell() {
    const words = say("clock", { now: (this.now / 1000).toFixed(2), end: (this.end / 1000).toFixed(2) });
    this.scrub.value = this.now;
    this.scrub.setAttribute("aria-valuetext", words);
    this.clock.textContent = words;
    this.play.textContent = say(this.running ? "pause" : this.now >= this.end ? "again" : "play");
  }
}

function tracksOf(node, steps) {
  const texts = [...node.querySelectorAll(".track pre")];
  return texts.slice(0, steps.length).map((pre, i) => new Track(pre, steps[i]));
}

// -------------------------------------------------------------------------------------------------------- items

const PAGE = 50;
const list = byId("items-list");
const replays = new WeakMap();
const links = (values) => `#${new URLSearchParams(values)}`;

/** An item of the list: in the page from the start, or unfolded from the packed data when it is wanted. */
class Entry {
  constructor(source) {
    this.node = source instanceof Element ? source : null;
    this.view = this.node ? null : source;
    const facts = this.node ? this.node.dataset : null;
    this.key = facts ? facts.key : source.key;
    this.set = facts ? facts.set : source.evalset;
    this.reasons = facts ? facts.reasons.split(" ") : source.reasons;
    this.answers = this.node
      ? [...this.node.querySelectorAll(".answer")].map(({ dataset }) => ({ ...dataset }))
      : source.answers;
  }

  get text() {
    this.words ??= (this.node ? this.node.textContent : textsOf(this.view)).toLowerCase();
    return this.words;
  }

  get element() {
    this.node ??= buildItem(this.view);
    return this.node;
  }
}

function textsOf(view) {
  const answers = view.answers.map((one) => [one.candidate, one.head, one.why, ...one.tracks.map((track) => track[2])]);
  return [view.key, view.head, view.prompt, view.expected, ...view.tags, ...answers.flat()].join("\n");
}

function put(node, name, text) {
  const place = slot(node, name);
  if (place) place.textContent = text;
}

function buildItem(view) {
  const node = byId("item-template").content.firstElementChild.cloneNode(true);
  node.id = view.id;
  Object.assign(node.dataset, { key: view.key, set: view.evalset, reasons: view.reasons.join(" ") });
  for (const name of ["key", "head", "prompt", "expected"]) put(node, name, view[name]);
  slot(node, "tags").append(...view.tags.flatMap((tag) => [make("span", { className: "tag", textContent: tag }), " "]));
  const wanted = slot(node, "wanted");
  if (wanted) wanted.hidden = !view.expected;
  slot(node, "answers").append(...view.answers.map(buildAnswer));
  return node;
}

function buildAnswer(view) {
  const node = byId("answer-template").content.firstElementChild.cloneNode(true);
  node.id = view.id;
  node.className = `answer how-${view.how}`;
  Object.assign(node.dataset, { candidate: view.candidate, kind: view.kind });
  for (const name of ["candidate", "head", "times", "why"]) put(node, name, view[name]);
  slot(node, "why").hidden = !view.why;
  slot(node, "tracks").append(...view.tracks.map(buildTrack));
  slot(node, "given").hidden = !view.rows.length;
  for (const [what, ...cells] of view.rows) {
    const row = node.querySelector(".given tbody").insertRow();
    row.append(make("th", { scope: "row", textContent: what }), ...cells.map((cell) => make("td", { textContent: cell })));
  }
  const overlay = slot(node, "overlay");
  overlay.hidden = !view.segments.length;
  const tags = { gone: "del", new: "ins", same: "span" };
  overlay.querySelector("pre").append(...view.segments.map(([kind, text]) => make(tags[kind], { textContent: text })));
  data.streams[view.id] = view.stream;
  return node;
}

function buildTrack([channel, heading, text]) {
  const node = byId("track-template").content.firstElementChild.cloneNode(true);
  node.dataset.track = channel;
  node.querySelector("h4").textContent = heading;
  const pre = node.querySelector("pre");
  pre.setAttribute("aria-label", heading);
  pre.textContent = text;
  return node;
}

/** What an answer gets when it is opened: its player, a link to it, and the way into a comparison. */
function equip(answer) {
  const place = slot(answer, "player");
  if (place.childElementCount) return;
  const steps = data.streams[answer.id];
  if (steps?.length) {
    const replay = new Replay(tracksOf(answer, steps));
    replays.set(answer, replay);
    place.append(replay.node);
  }
  const { key } = answer.closest(".item").dataset;
  const link = make("a", { href: links({ item: key, candidate: answer.dataset.candidate }), textContent: say("link") });
  const pick = button(say("compare"), () => comparison.pick(answer), { className: "compare" });
  pick.setAttribute("aria-pressed", "false");
  place.append(make("p", { className: "actions" }, pick, " ", link));
}

async function unpack() {
  const bytes = Uint8Array.from(atob(byId("packed").textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** The list of items with its tools. */
const items = {
  entries: [],
  limit: PAGE,

  async begin() {
    this.entries = [...list.children].map((node) => new Entry(node));
    list.addEventListener("toggle", ({ target }) => target.open && target.matches(".answer") && equip(target), true);
    this.buildTools();
    this.refresh();
    if (byId("packed")) await this.readPacked();
  },

  async readPacked() {
    this.found.textContent = say("unpacking");
    try {
      this.entries.push(...(await unpack()).map((view) => new Entry(view)));
    } catch {
      this.found.textContent = say("unpack_failed");
      return;
    }
    this.buildChoices();
    this.refresh();
  },

  buildTools() {
    this.search = make("input", { type: "search", autocomplete: "off" });
    this.found = make("p", { className: "soft", role: "status" });
    this.choices = make("div", { className: "choices" });
    this.more = button("", () => this.refresh(this.limit + PAGE), { hidden: true });
    byId("items-tools").append(make("label", {}, `${say("search")} `, this.search), this.choices, this.found);
    list.after(this.more);
    this.buildChoices();
    byId("items-tools").addEventListener("input", () => this.refresh(PAGE));
  },

  buildChoices() {
    const all = (values) => [...new Set(values)].filter(Boolean);
    const answers = this.entries.flatMap((entry) => entry.answers);
    const offered = {
      reason: all(this.entries.flatMap((entry) => entry.reasons)).map((name) => [name, data.names[`items.reason_${name}`]]),
      set: all(this.entries.map((entry) => entry.set)).map((name) => [name, name]),
      kind: all(answers.map((one) => one.kind)).map((kind) => [kind, named(kind)]),
      who: all(answers.map((one) => one.candidate)).map((name) => [name, name]),
    };
    this.choices.replaceChildren();
    for (const [name, values] of Object.entries(offered)) {
      this[name] = make("select", {}, new Option(say("all"), ""), ...values.map(([value, text]) => new Option(text, value)));
      if (values.length > 1) this.choices.append(make("label", {}, `${say(name)} `, this[name]));
    }
  },

  matches(entry) {
    const mine = entry.answers.filter((one) => !this.who.value || one.candidate === this.who.value);
    return (
      (!this.reason.value || entry.reasons.includes(this.reason.value)) &&
      (!this.set.value || entry.set === this.set.value) &&
      (!this.kind.value || mine.some((one) => one.kind === this.kind.value)) &&
      (!this.search.value || entry.text.includes(this.search.value.toLowerCase()))
    );
  },

  refresh(limit = PAGE) {
    this.limit = limit;
    const found = this.entries.filter((entry) => this.matches(entry));
    list.replaceChildren(...found.slice(0, limit).map((entry) => entry.element));
    for (const answer of list.querySelectorAll(".answer")) {
      answer.hidden = Boolean(this.who.value) && answer.dataset.candidate !== this.who.value;
    }
    const left = found.length - Math.min(limit, found.length);
    this.more.hidden = !left;
    this.more.textContent = say("more", { n: Math.min(PAGE, left) });
    this.found.textContent = found.length
      ? say("found", { n: found.length, total: this.entries.length })
      : say("none");
  },

  /** Put an item into the list, whatever is searched for at the moment. */
  include(entry) {
    if (list.contains(entry.node)) return;
    for (const field of [this.search, this.reason, this.set, this.kind, this.who]) field.value = "";
    this.refresh(Math.max(PAGE, this.entries.indexOf(entry) + 1));
  },

  /** The element of an anchor that a filter has taken out of the page; null for none. */
  bring(anchor) {
    const inside = (node) => node?.id === anchor || node?.querySelector(`#${CSS.escape(anchor)}`);
    const entry = this.entries.find((one) => inside(one.node));
    if (entry) this.include(entry);
    return byId(anchor);
  },

  /** Show an item by its key. */
  open(key, candidate) {
    const entry = this.entries.find((one) => one.key === key);
    if (!entry) return;
    this.include(entry);
    entry.element.querySelector("details").open = true;
    const answers = [...entry.element.querySelectorAll(".answer")];
    const answer = answers.find((one) => one.dataset.candidate === candidate);
    reveal(answer ?? entry.element);
    (answer ?? entry.element).querySelector("summary").focus({ preventScroll: true });
  },
};

// --------------------------------------------------------------------------------------------------- comparison

const comparison = {
  first: null,

  pick(answer) {
    if (this.first === answer) return this.drop();
    if (!this.first) {
      this.first = answer;
      this.mark(answer, true);
      announce(say("picked"));
      return undefined;
    }
    const other = this.first;
    this.drop();
    return this.show(other, answer);
  },

  drop() {
    if (this.first) this.mark(this.first, false);
    this.first = null;
  },

  mark(answer, picked) {
    const pick = answer.querySelector("button.compare");
    pick.setAttribute("aria-pressed", String(picked));
    pick.textContent = say(picked ? "picked" : "compare");
  },

  show(...answers) {
    const sides = answers.map((answer) => this.side(answer));
    const tracks = sides.flatMap(({ node, steps }) => tracksOf(node, steps));
    const title = make("h2", { id: "comparison-title", textContent: say("side") });
    const dialog = make("dialog", { className: "comparison" });
    dialog.setAttribute("aria-labelledby", title.id);
    const replay = tracks.length ? new Replay(tracks) : null;
    const close = button(say("close"), () => dialog.close());
    dialog.append(make("div", { className: "top" }, title, close), ...(replay ? [replay.node] : []));
    dialog.append(make("div", { className: "sides" }, ...sides.map(({ node }) => node)));
    dialog.addEventListener("close", () => {
      replay?.pause();
      dialog.remove();
      answers.at(-1).querySelector("button.compare")?.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
  },

  /** One side: a copy of the answer, whole even where the original is being replayed. */
  side(answer) {
    replays.get(answer)?.finish();
    const body = answer.querySelector(".body").cloneNode(true);
    slot(body, "player").remove();
    const item = answer.closest(".item");
    const { key } = item.dataset;
    const head = make("h3", { textContent: `${key} · ${answer.dataset.candidate}` });
    const facts = make("p", { className: "soft" }, `${slot(answer, "head").textContent} · ${slot(answer, "times").textContent}`);
    const asked = make("details", {}, make("summary", { textContent: say("asked") }), make("div"));
    const texts = ["prompt", "expected"].map((name) => slot(item, name)).filter((text) => text?.textContent);
    asked.lastChild.append(...texts.map((text) => text.cloneNode(true)));
    const parts = texts.length ? [head, facts, asked, body] : [head, facts, body];
    return { node: make("section", {}, ...parts), steps: data.streams[answer.id] ?? [] };
  },
};

// -------------------------------------------------------------------------------------------------------- links

/** Follow ``#item=…``, ``#candidate=…`` or both; any other anchor is opened where it lies folded. */
function follow() {
  const raw = location.hash.slice(1);
  const wanted = new URLSearchParams(raw);
  for (const row of document.querySelectorAll("tr.target")) row.classList.remove("target");
  if (wanted.has("item")) return items.open(wanted.get("item"), wanted.get("candidate"));
  if (wanted.has("candidate")) return showCandidate(wanted.get("candidate"));
  const anchor = raw && (byId(raw) ?? items.bring(raw));
  return anchor ? reveal(anchor) : undefined;
}

function showCandidate(name) {
  const row = [...document.querySelectorAll("tr[data-candidate]")].find((one) => one.dataset.candidate === name);
  if (!row) return;
  row.classList.add("target");
  reveal(row);
}

function linkCandidates() {
  for (const row of document.querySelectorAll("tr[data-candidate]")) {
    const head = row.cells[0];
    const link = make("a", { href: links({ candidate: row.dataset.candidate }) });
    link.append(...head.childNodes);
    head.append(link);
  }
}

linkCandidates();
for (const table of document.querySelectorAll("table.sortable")) {
  makeSortable(table);
  makeFilterable(table);
}
if (list) await items.begin();
addEventListener("hashchange", follow);
follow();
