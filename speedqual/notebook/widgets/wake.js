// Wakes <speedqual-view data-view="KEY">: the element holds complete HTML; where its model is at hand, a script draws
// into it instead. Models and elements find each other in either order, in every copy of an output.
const TAG = "speedqual-view";
const shelf = (globalThis[Symbol.for(TAG)] ??= new Map()); // key → {model, draw}; one for all modules of a page

function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "text", "rect", "circle"].includes(tag);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children); // strings become text nodes: nothing is ever parsed as markup
  return made;
}

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (blank, name) => values[name] ?? blank);
}

function awaken(element) {
  const found = shelf.get(element.dataset.view);
  if (!found || element.asleep) return;
  element.asleep = found.draw(found.model, element);
}

if (!customElements.get(TAG)) {
  customElements.define(TAG, class extends HTMLElement {
    connectedCallback() { awaken(this); }
    disconnectedCallback() { this.asleep?.(); this.asleep = null; }
  });
}

// draw(model, root) → a function that stops it. Returned in the form that anywidget takes.
function views(draw) {
  return {
    initialize({ model }) {
      const key = model.get("key");
      shelf.set(key, { model, draw });
      for (const element of document.querySelectorAll(TAG)) if (element.dataset.view === key) awaken(element);
      model.send({ awake: true });
      return () => shelf.delete(key);
    },
    render({ model, el }) {
      return draw(model, el.appendChild(make("div", { class: TAG })));
    },
  };
}

// Calls draw now and whenever the model has a new view; returns what ends that.
function follow(model, draw) {
  const changed = () => draw(model.get("view"));
  changed();
  model.on("change:view", changed);
  return () => model.off("change:view", changed);
}
