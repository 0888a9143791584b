"use strict";
// The page of a report. The data are those of `Report` in tileas_xdsl/report/building.py.

const $ = (id) => document.getElementById(id);

/** An element with properties and children; text becomes text, never markup. */
function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("aria-") || key === "role") node.setAttribute(key, value);
    else node[key] = value;
  }
  node.append(...children);
  return node;
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const baseName = (file) => file.split("/").pop();
const placeName = ([file, line]) => `${baseName(file)}:${line}`;
const isPlace = (place) => place !== null;

// Levels: the source is one of them. Each has texts and the places of each line.

/** The source files as a level, whose lines belong to all places on them. */
function sourceLevel(report) {
  const level = { name: "source", group: "source", lines: [], places: [], numbers: [], files: [] };
  for (const file of report.files) {
    level.files.push([level.lines.length, file.name]);
    const places = new Map();
    report.places.forEach(([name, line], index) => {
      if (name === file.name) places.set(line, [...(places.get(line) ?? []), index]);
    });
    file.lines.forEach((text, index) => {
      level.lines.push(text);
      level.numbers.push(file.first + index);
      level.places.push(places.get(file.first + index) ?? []);
    });
  }
  return level;
}

/** For each source line, `file:line`, the lines of a level that come from it. */
function bySourceLine(level, report) {
  const found = new Map();
  level.places.forEach((places, index) => {
    for (const key of new Set(places.map((p) => sourceKey(report, p)))) {
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(index);
    }
  });
  return found;
}

const sourceKey = (report, place) => `${report.places[place][0]}:${report.places[place][1]}`;

// Text with pictures of layouts on what names them.

/** Splits a line at the types of tiles that have a picture. */
class LayoutMarker {
  constructor(layouts) {
    this.layouts = new Map(layouts.map((one) => [one.type, one]));
    const escaped = [...this.layouts.keys()]
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    this.pattern = escaped.length ? new RegExp(`(${escaped.join("|")})`) : null;
  }

  nodes(text) {
    if (!this.pattern || !text.includes("#nv_tileas")) return [text];
    return text.split(this.pattern).map((part) =>
      this.layouts.has(part) ? make("span", { className: "layout" }, part) : part);
  }
}

const popup = {
  show(layout) {
    const node = $("popup");
    node.replaceChildren(...(layout.svg ? [] : [make("strong", {}, layout.title)]), ...layoutBody(layout));
    node.hidden = false;
  },
  hide() { $("popup").hidden = true; },
};

let pictures = 0;

/** A picture; what it calls by an id, such as a pattern, is its own, for others may be hidden. */
function picture(svg) {
  const node = make("div", { className: "paper" });
  const own = ++pictures;
  node.innerHTML = svg.replace(/(id="|url\(#)(\w+)/g, `$1$2-${own}`); // of this package: texts are escaped
  return node;
}

function layoutBody(layout) {
  const rows = layout.facts.map(([name, value]) =>
    make("tr", {}, make("th", {}, name), make("td", {}, value)));
  return [...(layout.svg ? [picture(layout.svg)] : []), make("table", {}, ...rows)];
}

// Panes.

class Pane {
  constructor(view, index) {
    this.view = view;
    this.select = make("select", { "aria-label": `level of pane ${index + 1}` });
    this.code = make("div", { className: "code", tabIndex: 0, role: "listbox" });
    this.node = make("section", { className: "pane" }, make("header", {}, this.select), this.code);
    this.fill();
    this.select.onchange = () => this.show(Number(this.select.value));
    this.code.onclick = (event) => this.on(event, (line) => view.keep(this, line));
    this.code.onmousemove = (event) => {
      if (event.movementX || event.movementY) this.on(event, (line) => view.point(this, line)); // not by scrolling
    };
    this.code.onmouseover = (event) => {
      const layout = event.target.closest(".layout");
      if (layout) popup.show(view.marker.layouts.get(layout.textContent));
    };
    this.code.onmouseout = (event) => { if (event.target.closest(".layout")) popup.hide(); };
    this.code.onfocus = () => { view.active = this; };
  }

  fill() {
    const groups = new Map();
    this.view.levels.forEach((level, index) => {
      if (!groups.has(level.group)) groups.set(level.group, make("optgroup", { label: level.group }));
      groups.get(level.group).append(make("option", { value: index }, level.name));
    });
    this.select.append(...groups.values());
  }

  on(event, act) {
    const row = event.target.closest("[data-line]");
    if (row) act(Number(row.dataset.line));
  }

  show(index) {
    this.index = index;
    this.level = this.view.levels[index];
    this.select.value = index;
    this.at = 0;
    this.marked = [];
    const headings = new Map(this.level.files ?? []);
    this.rows = [];
    const all = [];
    this.level.lines.forEach((text, line) => {
      if (headings.has(line)) all.push(make("div", { className: "file" }, headings.get(line)));
      const number = make("i", {}, String(this.level.numbers?.[line] ?? line + 1));
      const row = make("div", {}, number, ...this.view.marker.nodes(text));
      row.dataset.line = line;
      if (/^\s*\.loc /.test(text)) row.classList.add("dim");
      this.rows.push(row);
      all.push(row);
    });
    this.code.replaceChildren(...all);
    const found = this.related(this.view.places ?? []); // a line is followed through the passes
    if (found.length) {
      this.at = found[0];
      this.scrollTo(found[0]);
    }
    this.view.mark();
  }

  /** Highlights what comes from some places: strong where the column is the same too. */
  mark(places, kept) {
    for (const row of this.marked) row.classList.remove("strong", "weak", "kept", "here");
    this.marked = [];
    const exact = new Set(places), keys = new Set(places.map((p) => sourceKey(this.view.report, p)));
    for (const key of keys) {
      for (const line of this.level.bySource.get(key) ?? []) {
        const same = this.level.places[line].some((p) => exact.has(p));
        this.rows[line].classList.add(kept ? "kept" : same ? "strong" : "weak");
        if (kept && same) this.rows[line].classList.add("strong");
        this.marked.push(this.rows[line]);
      }
    }
    if (this.view.pane === this && this.rows[this.at]) {
      this.rows[this.at].classList.add("here");
      this.marked.push(this.rows[this.at]);
    }
  }

  related(places) {
    const keys = new Set(places.map((p) => sourceKey(this.view.report, p)));
    const lines = [...keys].flatMap((key) => this.level.bySource.get(key) ?? []);
    const exact = lines.filter((line) => this.level.places[line].some((p) => places.includes(p)));
    return [...new Set(exact.length ? exact : lines)].sort((a, b) => a - b);
  }

  scrollTo(line) {
    const row = this.rows[line];
    if (row) this.code.scrollTop = row.offsetTop - this.code.offsetTop - this.code.clientHeight / 3;
  }

  move(line) {
    this.at = Math.max(0, Math.min(line, this.rows.length - 1));
    this.rows[this.at]?.scrollIntoView({ block: "nearest" });
  }
}

/** The panes side by side, and the line that they all look at. */
class Levels {
  constructor(report) {
    this.report = report;
    this.levels = [sourceLevel(report), ...report.levels];
    for (const level of this.levels) level.bySource = bySourceLine(level, report);
    this.marker = new LayoutMarker(report.layouts);
    this.places = [];
    this.kept = false;
    this.panes = [0, 1, 2].map((index) => new Pane(this, index));
    $("levels").append(...this.panes.map((pane) => pane.node));
    const last = this.levels.length - 1;
    const tiles = this.levels.findLastIndex((level) => level.group === "tiles of nv_tileas");
    this.panes[0].show(0);
    this.panes[1].show(tiles > 0 ? tiles : Math.min(1, last));
    this.panes[2].show(this.levels.findIndex((l) => l.name === "PTX") > 0
      ? this.levels.findIndex((l) => l.name === "PTX") : last);
    this.active = this.panes[0];
  }

  /** Keeps the source line that most of the code comes from, so that something is to be seen. */
  begin() {
    const counts = this.panes[2].level.bySource;
    const [, line] = [...this.levels[0].bySource].map(([key, [first]]) => [counts.get(key)?.length ?? 0, first])
      .reduce((best, one) => (one[0] > best[0] ? one : best), [0, -1]);
    if (line < 0) return;
    this.keep(this.panes[0], line);
    this.panes[0].scrollTo(line);
  }

  point(pane, line) {
    if (this.kept || (this.pane === pane && pane.at === line)) return;
    this.look(pane, line);
  }

  look(pane, line) {
    this.pane = pane;
    pane.at = line;
    this.places = pane.level.places[line];
    this.mark();
  }

  keep(pane, line) {
    const isAgain = this.kept && this.pane === pane && pane.at === line;
    this.kept = !isAgain && pane.level.places[line].length > 0;
    this.look(pane, line);
    for (const other of this.panes) {
      const found = other === pane ? [] : other.related(this.places);
      if (found.length) other.scrollTo(found[0]);
    }
    changes.markTouched(this.kept ? this.places : []);
  }

  letGo() {
    this.kept = false;
    this.places = [];
    this.mark();
    changes.markTouched([]);
  }

  mark() {
    for (const pane of this.panes ?? []) if (pane.level) pane.mark(this.places, this.kept);
  }

  /** Shows a place of the source, or a line of PTX, from another part of the page. */
  goTo(levelName, line) {
    const index = this.levels.findIndex((level) => level.name === levelName);
    const pane = this.panes[levelName === "source" ? 0 : 2];
    if (pane.index !== index) pane.show(index);
    openTab("levels");
    this.kept = false;
    this.keep(pane, line);
    pane.scrollTo(line);
  }

  key(event) {
    const pane = this.active, step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const aside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      pane.move(pane.at + step);
      this.kept = false;
      this.look(pane, pane.at);
    } else if (aside) {
      const next = this.panes[(this.panes.indexOf(pane) + aside + 3) % 3];
      next.code.focus();
    } else if (event.key === "Enter") {
      this.keep(pane, pane.at);
    } else if (event.key === "n" || event.key === "p") {
      this.pane = pane;
      const lines = pane.related(this.places);
      const next = event.key === "n" ? lines.find((l) => l > pane.at) ?? lines[0]
        : lines.findLast((l) => l < pane.at) ?? lines.at(-1);
      if (next !== undefined) { pane.move(next); this.mark(); }
    } else if (event.key === "[" || event.key === "]") {
      const next = pane.index + (event.key === "]" ? 1 : -1);
      if (this.levels[next]) pane.show(next);
    } else if (event.key === "l") {
      const layout = pane.rows[pane.at]?.querySelector(".layout");
      if (layout) popup.show(this.marker.layouts.get(layout.textContent));
    } else return false;
    return true;
  }
}

// Changes: what each pass did.

const CONTEXT = 3;

class Changes {
  constructor(report, marker) {
    this.report = report;
    this.marker = marker;
    this.buttons = report.levels.map((level, index) => this.button(level, index));
    $("passes").append(...this.buttons.slice(1).filter(Boolean).map((b) => make("li", {}, b)));
    const most = (hunks) => hunks.reduce((sum, h) => sum + h.after[1] - h.after[0], 0);
    this.show(Math.max(1, report.changes.findIndex((hunks) => most(hunks) > 1)));
  }

  button(level, index) {
    const hunks = this.report.changes[index] ?? [];
    if (level.group === "machine code") return null;
    const added = hunks.reduce((sum, h) => sum + h.after[1] - h.after[0], 0);
    const removed = hunks.reduce((sum, h) => sum + h.before[1] - h.before[0], 0);
    const counts = hunks.length ? `+${added} \u2212${removed}` : "no change";
    const node = make("button", { type: "button", className: hunks.length ? "" : "none" },
      make("span", {}, level.name), make("span", {}, counts));
    node.onclick = () => this.show(index);
    return node;
  }

  /** Marks the passes that changed a line of these places. */
  markTouched(places) {
    const keys = new Set(places.map((p) => sourceKey(this.report, p)));
    this.report.changes.forEach((hunks, index) => {
      const touches = keys.size && hunks.some((hunk) => this.touches(index, hunk, keys));
      this.buttons[index]?.classList.toggle("touches", Boolean(touches));
    });
  }

  touches(index, hunk, keys) {
    const of = (level, [start, end]) => level.places.slice(start, end).flat();
    const all = [...of(this.report.levels[index - 1], hunk.before), ...of(this.report.levels[index], hunk.after)];
    return all.some((p) => keys.has(sourceKey(this.report, p)));
  }

  show(index) {
    this.index = index;
    this.buttons.forEach((b, k) => b?.setAttribute("aria-current", k === index ? "true" : "false"));
    const rows = this.report.levels[index] ? this.rows(index) : [];
    $("diff").replaceChildren(...rows);
    $("diff").scrollTop = 0;
  }

  rows(index) {
    const before = this.report.levels[index - 1]?.lines ?? [], after = this.report.levels[index].lines;
    const hunks = this.report.changes[index];
    if (!hunks.length) return [make("div", { className: "skip" }, "This pass changed nothing.")];
    const rows = [];
    let at = 0;
    for (const hunk of hunks) {
      this.context(rows, after, at, hunk.after[0], at === 0);
      rows.push(...this.hunk(before.slice(...hunk.before), after.slice(...hunk.after), hunk));
      at = hunk.after[1];
    }
    this.context(rows, after, at, after.length, false, true);
    return rows;
  }

  context(rows, lines, start, end, atBegin, atEnd = false) {
    const head = atBegin ? 0 : CONTEXT, tail = atEnd ? 0 : CONTEXT;
    const plain = (from, to) => lines.slice(from, to).forEach((text, k) =>
      rows.push(make("div", {}, make("i", {}, String(from + k + 1)), ...this.marker.nodes(text))));
    if (end - start <= head + tail) { plain(start, end); return; }
    plain(start, start + head);
    rows.push(make("div", { className: "skip" }, `\u22ef ${end - start - head - tail} lines`));
    plain(end - tail, end);
  }

  hunk(before, after, hunk) {
    const paired = before.length === after.length;
    const row = (className, number, parts) =>
      make("div", { className }, make("i", {}, String(number)), ...parts);
    const removed = before.map((text, k) =>
      row("removed", hunk.before[0] + k + 1, paired ? changedPart(text, after[k]) : [text]));
    const added = after.map((text, k) =>
      row("added", hunk.after[0] + k + 1, paired ? changedPart(text, before[k]) : this.marker.nodes(text)));
    return [...removed, ...added];
  }
}

/** A line with the part in bold between what it has in common with another one at both ends. */
function changedPart(text, other) {
  let start = 0, end = 0;
  const most = Math.min(text.length, other.length);
  while (start < most && text[start] === other[start]) start++;
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  const stop = text.length - end;
  return [text.slice(0, start), make("b", {}, text.slice(start, stop)), text.slice(stop)];
}

// The other parts.

/** A part that can be opened; its content is made when it is opened first. */
function folded(title, open, content) {
  const node = make("details", {}, make("summary", {}, title));
  const fill = () => { if (node.childElementCount === 1) node.append(...content()); };
  node.ontoggle = () => { if (node.open) fill(); };
  if (open) { node.open = true; fill(); }
  return node;
}

function showLayouts(report) {
  const parts = report.layouts.map((one, index) =>
    folded(one.title + (isPlace(one.place) ? `  (${placeName(report.places[one.place])})` : ""), index === 0, () => layoutBody(one)));
  $("layouts").append(...(parts.length ? parts : [make("p", { className: "faint" }, "No tile has a layout here.")]));
}

const PICTURES = { graph: "Dependence graph", reservations: "A round of the units", timeline: "Predicted timeline" };

function showLoops(report) {
  const parts = report.loops.map((loop, index) => {
    const where = isPlace(loop.place) ? ` at ${placeName(report.places[loop.place])}` : "";
    return folded(`Loop ${index}${where}`, true, () => [
      make("pre", {}, loop.text),
      ...Object.entries(loop.pictures).flatMap(([name, svg]) => [make("h2", {}, PICTURES[name] ?? name), picture(svg)]),
    ]);
  });
  $("loops").append(...(parts.length ? parts : [make("p", { className: "faint" }, "There is no loop over tiles to schedule.")]));
}

function showTimeline(report) {
  const notes = report.runs.notes.map((text) => make("p", {}, text));
  $("timeline").append(...notes, ...(report.runs.timeline ? [picture(report.runs.timeline)] : []));
}

const COLOURS = ["#77aadd", "#ee8866", "#99cc66", "#ffaabb", "#eedd88", "#44bb99", "#bb99dd", "#99ddff"];

/** The buffers to scale in a bar, and as a table. */
function showMemory(report, levels) {
  const parts = report.explained?.shared ?? [];
  if (!parts.length) {
    $("memory").append(faint("The kernel allocates no shared memory."));
    return;
  }
  const total = Math.max(...parts.map((part) => part.offset + part.bytes));
  let at = 0;
  const bar = make("div", { className: "bar", role: "img", "aria-label": "shared memory to scale" });
  const cell = (size, properties, text) => {
    const node = make("div", properties, text);
    node.style.flex = `${size} 0 0`;
    bar.append(node);
    return node;
  };
  parts.forEach((part, index) => {
    const end = part.offset + part.bytes;
    if (part.offset > at) cell(part.offset - at, { title: `bytes ${at} to ${part.offset} are not used` }, "");
    const title = `${part.name}, bytes ${part.offset} to ${end}: ${part.what}`;
    cell(part.bytes, { title }, part.name).style.background = COLOURS[index % COLOURS.length];
    at = end;
  });
  const rows = parts.map((part) => [part.offset, part.offset + part.bytes, part.bytes, part.name, part.what,
    placeLink(levels, part.location)]);
  $("memory").append(make("p", {}, `${total} bytes of shared memory for a block`), bar,
    table(["begin", "end", "bytes", "name", "what", "filled at"], rows));
}

// Bounds: the explanation of the kernel.

const faint = (text) => make("p", { className: "faint" }, text);
const percent = (share) => `${Math.round(100 * share)} %`;

/** A table; numbers are aligned to the right. */
function table(names, rows) {
  const cell = (value) => make("td", { className: typeof value === "number" ? "number" : "" },
    value instanceof Node ? value : String(value ?? ""));
  const head = make("tr", {}, ...names.map((name) => make("th", {}, name)));
  return make("table", {}, make("thead", {}, head),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))));
}

/** The name of a place, which leads to its line; nothing without one. */
function placeLink(levels, number) {
  if (!isPlace(number)) return "";
  const place = levels.report.places[number];
  return link(placeName(place), () => goToPlace(levels, place));
}

function showBounds(report, levels) {
  const explained = report.explained;
  if (!explained) { $("bounds").append(faint("The kernel was refused: nothing bounds it.")); return; }
  const parts = report.roofline ? [heading("Roofline"), picture(report.roofline)] : [];
  explained.loops.forEach((loop, index) => parts.push(heading(`Loop ${index} `, placeLink(levels, loop.location)), ...boundsOfLoop(loop)));
  if (explained.reasons.length) {
    parts.push(heading("What was not done, and why"), table(["what", "why", "pass", "at"],
      explained.reasons.map((one) => [one.what, one.why, one.decided_by, placeLink(levels, one.location)])));
  }
  parts.push(...occupancyOf(explained), ...usesOf(explained, levels));
  $("bounds").append(...parts);
}

const heading = (...children) => make("h2", {}, ...children);

function boundsOfLoop(loop) {
  if (loop.cycles === null) return [faint(loop.not_predicted)];
  const stages = loop.stages ? `, ${loop.stages} stages` : "";
  const units = loop.units.map((one) => {
    const bar = make("div", { className: "use" }, make("span", { className: "used" }));
    bar.firstChild.style.width = `${100 * Math.min(one.share, 1)}%`;
    return [one.unit, bar, percent(one.share), Math.round(one.cycles), Math.round(one.slack)];
  });
  return [make("p", {}, `${Math.round(loop.cycles)} cycles an iteration, bound by ${loop.bound}${stages}`),
    table(["unit", "", "busy", "cycles", "idle"], units)];
}

function occupancyOf({ occupancy, waves }) {
  if (!occupancy) return [];
  const registers = occupancy.registers === null ? "" : `, ${occupancy.registers} registers a thread, ${occupancy.spills} bytes of spills`;
  const parts = [heading("Occupancy"),
    make("p", {}, `${occupancy.blocks} blocks share a multiprocessor (${percent(occupancy.share)} of its warps), ` +
      `limited by ${occupancy.limited_by}; ${occupancy.threads} threads a block${registers}`),
    table(["resource", "of a block", "of a multiprocessor", "blocks that fit"],
      occupancy.limits.map((one) => [one.what, one.used, one.available, one.blocks]))];
  if (occupancy.roles.length) {
    parts.push(table(["role", "warps", "registers of a thread"],
      occupancy.roles.map((one) => [one.name, one.warps, one.registers || "as at entry"])));
  }
  if (waves) {
    parts.push(make("p", {}, `${waves.blocks} blocks are ${waves.waves} waves of ${waves.blocks_together * waves.multiprocessors}; ` +
      `${percent(waves.tail)} of the last wave is idle`));
  }
  return parts;
}

/** What holds registers, which layouts are converted, and what the accesses to memory cost. */
function usesOf(explained, levels) {
  const parts = [];
  if (explained.registers.length) {
    parts.push(heading("Registers where most are alive"), table(["registers", "value", "type", "role", "at"],
      explained.registers.map((one) => [one.registers, one.value, one.type, one.role, placeLink(levels, one.location)])));
  }
  if (explained.conversions.length) {
    parts.push(heading("Conversions of layouts"), table(["shape", "how", "price", "cycles", "at"],
      explained.conversions.map((one) => [one.shape.join("x"), one.how, one.price, one.cycles, placeLink(levels, one.location)])));
  }
  parts.push(heading("Accesses to memory"));
  if (!explained.accesses.length) parts.push(faint(explained.accesses_unknown || "There are none."));
  else {
    parts.push(table(["memory", "instruction", "accesses", "bytes", "transactions", "at least", "too many", "at"],
      explained.accesses.map((one) => [one.memory, one.instruction, one.accesses, one.bytes, one.transactions, one.ideal,
        one.transactions - one.ideal, placeLink(levels, one.location)])));
  }
  return parts;
}

function showFindings(report, levels) {
  const { notes, findings } = report.runs;
  const parts = findings.map((one) => {
    const node = make("article", { className: `finding ${one.severity}` },
      make("p", {}, make("strong", {}, `${one.severity} in the ${one.level}: `), one.message));
    const links = make("p");
    if (isPlace(one.place)) {
      const place = report.places[one.place];
      links.append(link(placeName(place), () => goToPlace(levels, place)), " ");
    }
    if (one.ptx_line) links.append(link(`line ${one.ptx_line} of the PTX`, () => levels.goTo("PTX", one.ptx_line - 1)));
    node.append(links);
    if (one.trace.length) node.append(make("pre", {}, one.trace.join("\n")));
    return node;
  });
  if (!parts.length) parts.push(make("p", {}, "Nothing was found."));
  $("findings").append(...notes.map((text) => make("p", { className: "faint" }, text)), ...parts);
}

function link(text, act) {
  const node = make("button", { type: "button", className: "link" }, text);
  node.onclick = act;
  return node;
}

function goToPlace(levels, [file, line]) {
  const source = levels.levels[0];
  const index = source.bySource.get(`${file}:${line}`)?.[0];
  if (index !== undefined) levels.goTo("source", index);
}

// Tabs, keys, and the start.

const TABS = [["levels", "Levels"], ["changes", "Passes"], ["bounds", "Bounds"], ["layouts", "Layouts"], ["loops", "Loops"],
  ["timeline", "Timeline"], ["memory", "Shared memory"], ["findings", "Findings"]];

function openTab(name) {
  for (const [id] of TABS) {
    $(id).hidden = id !== name;
    $(`tab-${id}`).setAttribute("aria-selected", id === name ? "true" : "false");
    $(`tab-${id}`).tabIndex = id === name ? 0 : -1;
  }
  popup.hide();
  history.replaceState(null, "", `#/${name}`); // no id is called so: nothing scrolls
}

function makeTabs(counts) {
  for (const [id, title] of TABS) {
    const node = make("button", { id: `tab-${id}`, type: "button", role: "tab", "aria-controls": id }, title);
    $(id).setAttribute("aria-labelledby", `tab-${id}`);
    if (counts[id] !== undefined) {
      node.append(make("span", { className: `count${counts[id].bad ? " bad" : ""}` }, ` ${counts[id].number}`));
    }
    node.onclick = () => openTab(id);
    node.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const ids = TABS.map(([one]) => one);
      const next = ids[(ids.indexOf(id) + step + ids.length) % ids.length];
      openTab(next);
      $(`tab-${next}`).focus();
      event.stopPropagation();
    };
    $("tabs").append(node);
  }
}

let levels, changes;

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  if ($("help").open) return;
  const number = Number(event.key);
  if (number >= 1 && number <= TABS.length) {
    openTab(TABS[number - 1][0]);
    if (number === 1) levels.active.code.focus();
  } else if (event.key === "?") $("help").showModal();
  else if (event.key === "w") document.body.classList.toggle("wrap");
  else if (event.key === "Escape") { if ($("popup").hidden) levels.letGo(); else popup.hide(); }
  else if (!$("changes").hidden && (event.key === "[" || event.key === "]")) {
    const next = changes.index + (event.key === "]" ? 1 : -1);
    if (changes.buttons[next]) changes.show(next);
  } else if ($("levels").hidden || !levels.key(event)) return;
  event.preventDefault();
}

async function start() {
  const report = await unpacked($("data").textContent);
  $("title").textContent = `${report.kernel} for ${report.target}`;
  $("title").title = report.title;
  $("facts").append(...report.facts.map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  const bad = report.runs.findings.some((one) => one.severity === "error");
  makeTabs({ layouts: { number: report.layouts.length }, loops: { number: report.loops.length },
    findings: { number: report.runs.findings.length, bad } });
  levels = new Levels(report);
  changes = new Changes(report, levels.marker);
  showLayouts(report);
  showLoops(report);
  showTimeline(report);
  showMemory(report, levels);
  showBounds(report, levels);
  showFindings(report, levels);
  const wanted = location.hash.slice(2);
  openTab(TABS.some(([id]) => id === wanted) ? wanted : "levels");
  levels.begin();
  document.addEventListener("keydown", onKey);
  $("help-button").onclick = () => $("help").showModal();
  document.body.dataset.ready = String(Math.round(performance.now()));
}

start();
