// The streaming race: each lane shows what had come at the time of the clock. The clock plays, is paused and scrubbed;
// while a race is held it follows what arrives. Whatever a model wrote only ever becomes the text of a text node.
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

function lane(words, index) {
  const name = make("strong"), status = make("p", { class: "sq-quiet" });
  const done = make("div", { class: "sq-done" }), mark = make("div", { class: "sq-mark" });
  const thought = make("span", { class: "sq-thought" }), answer = make("span"), cut = make("span", { class: "sq-quiet" });
  const text = make("pre", { tabindex: 0, role: "group" }, thought, answer, cut), verdict = make("p", { class: "sq-verdict" });
  const node = make("div", { class: "sq-lane", role: "group" }, make("p", {}, name), make("div", { class: "sq-track" }, done, mark), status, text, verdict);
  node.style.setProperty("--sq-own", `var(--sq-${index % 8})`);
  let own = null, steps = [], shown = -1;

  function take(next) {
    own = next;
    let before = ["", ""];
    steps = own.pieces.map(([ms, thinking, piece]) => {
      before = thinking ? [before[0] + piece, before[1]] : [before[0], before[1] + piece];
      return [ms, ...before];
    });
    shown = -1;
    name.textContent = own.name;
    text.setAttribute("aria-label", own.reply);
    node.setAttribute("aria-label", own.name);
    thought.title = words.thinking;
  }

  // What had come at ms: the last step that is not later, found by halving.
  function at(ms, total, over) {
    let low = 0, high = steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle][0] <= ms) low = middle + 1; else high = middle;
    }
    if (low !== shown) {
      const [, thinking, said] = steps[low - 1] ?? [0, "", ""];
      const below = text.scrollHeight - text.scrollTop - text.clientHeight < 24;
      thought.textContent = thinking && said ? `${thinking}\n\n` : thinking;
      answer.textContent = said;
      if (below) text.scrollTop = text.scrollHeight;
      shown = low;
    }
    const ended = over || (own.end_ms !== null && ms >= own.end_ms);
    cut.textContent = ended ? own.cut : "";
    const state = ended ? own.end : own.ttft_ms !== null && ms >= own.ttft_ms ? own.begun : words.waiting;
    if (status.textContent !== state) status.textContent = state;
    const share = (value) => `${total ? 100 * Math.min(1, value / total) : 0}%`;
    done.style.width = share(Math.min(ms, own.end_ms ?? ms));
    mark.hidden = own.ttft_ms === null || ms < own.ttft_ms;
    mark.style.left = share(own.ttft_ms ?? 0);
    verdict.textContent = over ? own.verdict : "";
    verdict.dataset.mark = over ? own.mark : "";
  }

  return { node, take, at };
}

function race(model, root) {
  const title = make("strong"), note = make("span", { class: "sq-quiet" }), hint = make("p", { class: "sq-quiet", role: "status" });
  const prompt = make("pre", { tabindex: 0 }), fold = make("details", {}, make("summary"), prompt);
  const play = make("button", { type: "button" }), clock = make("output");
  const scrub = make("input", { type: "range", min: 0, step: 1 });
  const speed = make("select", {}, ...SPEEDS.map((value) => make("option", { value }, `${value}×`)));
  const lanes = make("div", { class: "sq-lanes" });
  speed.value = "1";
  root.classList.add("sq-race");
  root.replaceChildren(make("p", {}, title, " ", note), fold, make("div", { class: "sq-bar" }, play, scrub, clock, speed), lanes, hint);

  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let view = { lanes: [], live: false, total_ms: 0 }, tracks = [], now = 0, before = null, frame = 0;

  function draw() {
    const over = !view.live && now >= view.total_ms;
    tracks.forEach((track) => track.at(now, view.total_ms, over));
    const values = { t: (now / 1000).toFixed(2), total: (view.total_ms / 1000).toFixed(2) };
    clock.textContent = fill(view.words.clock, values);
    scrub.value = now;
    scrub.setAttribute("aria-valuetext", clock.textContent);
    const said = over ? "" : view.words.hidden;
    if (hint.textContent !== said) hint.textContent = said;
    play.textContent = frame ? view.words.pause : view.words.play;
  }

  function step(time) {
    now = Math.min(view.total_ms, now + (before === null ? 0 : (time - before) * Number(speed.value)));
    before = time;
    frame = now < view.total_ms ? requestAnimationFrame(step) : 0;
    draw();
  }

  function pause() {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  function start() {
    if (now >= view.total_ms) now = 0;
    before = null;
    frame = requestAnimationFrame(step);
  }

  play.addEventListener("click", () => { if (frame) pause(); else start(); draw(); });
  scrub.addEventListener("input", () => { pause(); now = Number(scrub.value); draw(); });

  const stop = follow(model, (next) => {
    if (!next.lanes) return;
    const first = !view.words;
    view = next;
    title.textContent = view.title;
    note.textContent = view.note;
    fold.firstChild.textContent = view.words.prompt;
    prompt.textContent = view.prompt;
    scrub.setAttribute("aria-label", view.words.scrub);
    speed.setAttribute("aria-label", view.words.speed);
    scrub.max = Math.ceil(view.total_ms);
    for (const control of [play, scrub, speed]) control.disabled = view.live;
    while (tracks.length < view.lanes.length) tracks.push(lane(view.words, tracks.length));
    tracks.length = view.lanes.length;
    tracks.forEach((track, index) => track.take(view.lanes[index]));
    lanes.replaceChildren(...tracks.map((track) => track.node));
    if (view.live || view.seen || (first && calm)) now = view.total_ms; // nothing is held back that has been seen
    draw();
  });

  return () => { stop(); pause(); };
}
