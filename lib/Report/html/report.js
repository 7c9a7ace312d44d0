// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows the report of the page's JSON block (lib/Report/HtmlReport.cpp).
//
// All text of the report becomes text nodes and properties, never HTML. Rows of
// the list are made when their group is open, and one finding is shown in full.
"use strict";
(() => {

const data = JSON.parse(document.getElementById("data").textContent);

for (const source of data.sources) source.lines = new Map(source.lines);
data.findings.forEach((finding, index) => { finding.index = index; });

const byId = (id) => document.getElementById(id);

/// An element with these properties or attributes, and children that are nodes
/// or text; undefined and null children are left out.
function make(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {}))
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  node.append(...children.filter((child) => child != null));
  return node;
}

/// "3 races", "1 race".
const counted = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

const distinct = (list) => [...new Set(list)];

//===-- Places in the source ----------------------------------------------===//

const fileOf = (frame) => data.sources[frame?.file]?.name;

function position(frame) {
  const file = fileOf(frame);
  if (file === undefined)
    return "an unknown line (compile with -gline-tables-only or -g; with nvcc: -lineinfo)";
  if (!frame.line) return `${file}, unknown line`;
  return `${file}:${frame.line}` + (frame.column ? `:${frame.column}` : "");
}

/// The frame of a stack to name where there is room for one.
const namedFrame = (stack) => stack.frames[stack.named];

/// The line with the accessing expression underlined; places are counted in
/// bytes of UTF-8.
function markedLine(text, mark) {
  if (!mark) return [text];
  const bytes = new TextEncoder().encode(text);
  const part = (begin, end) =>
    new TextDecoder().decode(bytes.subarray(begin, end));
  const end = mark[0] + mark[1];
  return [part(0, mark[0]), make("mark", {}, part(mark[0], end)), part(end)];
}

/// The lines around a frame.
function excerpt(frame, around = 4) {
  const lines = data.sources[frame.file]?.lines;
  if (!lines?.has(frame.line))
    return make("p", {className: "missing"},
      "The source could not be read when the report was made.");
  const rows = [];
  for (let n = frame.line - around; n <= frame.line + around; ++n) {
    if (!lines.has(n)) continue;
    const here = n === frame.line;
    rows.push(make("span", {className: here ? "line here" : "line"},
      make("span", {className: "number"}, String(n)),
      make("code", {}, ...markedLine(lines.get(n), here && frame.mark)), "\n"));
  }
  return make("pre", {tabIndex: 0, "aria-label": `Source at ${position(frame)}`},
    ...rows);
}

/// A chain of inlined calls, innermost first, each with its excerpt.
function stackOf(stack) {
  const frames = stack.frames.map((frame, depth) => {
    const name = frame.function || (depth ? "inlined code" : "an unknown function");
    const call = make("details", {open: depth === stack.named},
      make("summary", {},
        make("span", {className: "depth"}, `#${depth} ${depth ? "inlined in " : ""}`),
        make("code", {}, name), " at ",
        make("code", {className: "position"}, position(frame))));
    const fill = () => call.open && call.children.length === 1 && call.append(excerpt(frame));
    call.addEventListener("toggle", fill);
    fill();
    return make("li", {}, call);
  });
  return make("ol", {className: "stack"}, ...frames);
}

//===-- Heat strips -------------------------------------------------------===//

/// Cells that are darker the more they count, and the same in words.
function heatStrip(title, words, cells) {
  const most = Math.max(...cells.map((cell) => cell.count));
  const level = (n) => (n === 0 ? 0 : Math.ceil((4 * n) / most));
  return make("figure", {className: "heat"},
    make("figcaption", {}, `${title}: ${words}`),
    make("div", {className: "cells", "aria-hidden": "true"},
      ...cells.map((cell) => make("span", {className: `heat-${level(cell.count)}`,
        title: `${cell.name}: ${cell.count}`}))));
}

/// Of some cells the names and counts of those that count most.
function largest(cells, most = 6) {
  const seen = cells.filter((cell) => cell.count).sort((a, b) => b.count - a.count);
  const words = seen.slice(0, most).map((cell) => `${cell.name}: ${cell.count}`);
  return words.join(", ") + (seen.length > most ? ", ..." : "");
}

const mostCells = 64;

/// Blocks as cells: all of a grid that is known, several to a cell if it is a
/// large one; else those that records name.
function blockCells({grid, blocks}) {
  if (!blocks.length) return [];
  const words = (block) => `block (${block.join(",")})`;
  const size = grid[0] * grid[1] * grid[2];
  const inGrid = blocks.every(([block]) => block.every((x, i) => x < grid[i]));
  if (!size || !inGrid)
    return blocks.slice(0, mostCells).map(([block, count]) => ({name: words(block), count}));
  const perCell = Math.ceil(size / mostCells);
  const block = (n) => words([n % grid[0], Math.floor(n / grid[0]) % grid[1],
    Math.floor(n / grid[0] / grid[1])]);
  const cells = Array.from({length: Math.ceil(size / perCell)}, (_, i) => {
    const last = Math.min(size, (i + 1) * perCell) - 1;
    const first = i * perCell;
    return {name: first === last ? block(first) : `${block(first)} to ${block(last)}`, count: 0};
  });
  for (const [[x, y, z], count] of blocks)
    cells[Math.floor(((z * grid[1] + y) * grid[0] + x) / perCell)].count += count;
  return cells;
}

const seedWords = (runs) => `seed${runs.indices.length === 1 ? "" : "s"} ${runs.seeds}`;

function heatOf(finding) {
  const {places, runs} = finding;
  const strips = [];
  const add = (title, cells, words) => strips.push(heatStrip(title, words, cells));
  const blocks = blockCells(places);
  if (blocks.length) add("Records by block", blocks, largest(blocks));
  const counts = new Map(places.lanes);
  const lanes = Array.from({length: 32}, (_, lane) =>
    ({name: `lane ${lane}`, count: counts.get(lane) ?? 0}));
  if (counts.size) add("Records by lane of the warp", lanes, largest(lanes));
  if (runs && data.runs.length > 1 && data.runs.length <= 512) {
    const found = new Set(runs.indices);
    add("Runs that show it", data.runs.map((run, i) =>
      ({name: `seed ${run.seed}`, count: Number(found.has(i))})), seedWords(runs));
  }
  return strips.length
    ? make("section", {}, make("h3", {}, "Where it was seen"), ...strips) : null;
}

//===-- One finding -------------------------------------------------------===//

function sideOf(finding, side, index) {
  const title = finding.isFault ? "Where the kernel failed"
    : finding.twoSided ? ["Later access", "Earlier access"][index]
    : ["Access", "Conflicting access"][index];
  const section = make("section", {className: "side"}, make("h3", {}, title),
    make("p", {}, make("strong", {}, side.access),
      side.thread ? ` by ${side.thread}` : null));
  if (side.frames.length) section.append(stackOf(side));
  else if (!side.isOperation)
    section.append(make("p", {className: "missing"}, finding.isFault
      ? "The GPU does not tell where in the source this was."
      : "No module describes where this access is in the source."));
  for (const also of side.also)
    section.append(make("p", {className: "also"}, `also ${also.access} by the same thread:`),
      stackOf({...also, named: -1}));
  return section;
}

/// Names and values; those without a value are left out.
function facts(pairs) {
  return make("dl", {}, ...pairs.filter(([, value]) => value).map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function factsOf(finding) {
  const {runs, devices, kernels} = finding;
  return facts([
    [kernels.length > 1 ? "Kernels" : "Kernel", kernels.join(", ") || kernelOf(finding)],
    ["Memory", finding.memory],
    ["Allocated at", finding.allocatedAt],
    ["The host wrote here, without waiting", finding.hostWroteAt],
    ["Launched at", finding.launchedAt],
    ["First seen", finding.firstSeen],
    ["Values", finding.values],
    ["Occurrences", (finding.atLeast ? "at least " : "") + finding.count.toLocaleString("en")],
    ["Also seen as", finding.otherKinds.join(", ")],
    ["Devices", devices.some((device) => device) ? devices.join(", ") : ""],
    ["Found in", runs && data.runs.length > 1
      ? `${runs.indices.length} of ${counted(data.runs.length, "run")} (${seedWords(runs)})` : ""],
    ["Replay", runs?.replay ? make("code", {}, runs.replay) : ""]]);
}

function showFinding(finding) {
  byId("detail").replaceChildren(
    make("h2", {}, finding.heading, " ",
      finding.code ? make("span", {className: "code", title: "iGUARD's code"}, finding.code) : null),
    make("p", {className: "callout"}, finding.explanation),
    make("div", {className: "sides"},
      ...finding.sides.map((side, index) => sideOf(finding, side, index))),
    make("section", {}, make("h3", {}, "What is known"), factsOf(finding)),
    heatOf(finding) ?? "");
  byId("detail").scrollTop = 0;
}

//===-- The list of findings ----------------------------------------------===//

/// The side by which a finding is listed: an operation of a stream has no place.
const listedSide = (finding) =>
  finding.sides.find((side) => side.frames.length) ?? finding.sides[0];
const kernelOf = (finding) =>
  listedSide(finding).kernel || finding.kernels[0] || "kernel not known";
const fileOfFinding = (finding) => fileOf(namedFrame(listedSide(finding))) ?? "file not known";

/// All text of a finding that the search looks through.
function textOf(finding) {
  const stacks = finding.sides.flatMap((side) => [side, ...side.also]);
  return [finding.heading, finding.code, finding.memory, finding.explanation,
    finding.firstSeen, ...finding.otherKinds, ...finding.kernels,
    ...stacks.flatMap((stack) => [stack.access, stack.thread ?? "",
      ...stack.frames.flatMap((frame) => [frame.function, position(frame)])])]
    .join("\n").toLowerCase();
}

/// The findings of a kernel and a file that pass the filters. Rows are made
/// when the group is open, and a chunk at a time.
class Group {
  static chunk = 200;

  constructor(file) {
    this.findings = [];
    this.rows = make("ul", {});
    this.more = make("button", {type: "button", onclick: () => this.addRows()});
    this.size = make("span", {className: "count"});
    this.node = make("details", {ontoggle: () => this.node.open && this.showFirst()},
      make("summary", {}, make("h4", {}, file), this.size), this.rows, this.more);
  }

  /// Begins anew with other findings.
  show(isOpen) {
    this.rows.replaceChildren();
    this.size.textContent = this.findings.length.toLocaleString("en");
    this.node.hidden = !this.findings.length;
    this.node.open = isOpen;
    if (isOpen) this.addRows();
  }

  showFirst() {
    if (!this.rows.children.length) this.addRows();
  }

  addRows() {
    const begin = this.rows.children.length;
    this.rows.append(...this.findings.slice(begin, begin + Group.chunk).map(makeRow));
    const left = this.findings.length - this.rows.children.length;
    this.more.hidden = !left;
    this.more.textContent = `${left.toLocaleString("en")} more`;
  }

  /// The link of a finding, if it is one of these; its row is made if need be.
  linkOf(finding) {
    const index = this.findings.indexOf(finding);
    if (index < 0) return undefined;
    this.node.open = true;
    while (index >= this.rows.children.length) this.addRows();
    return this.rows.children[index].firstChild;
  }
}

const groups = [];         // In the list's order.
const groupOf = new Map(); // The group of each finding.
let shown = [];            // Findings that pass the filters, in the list's order.
let chosen;                // The finding that is shown in full, if any.

function makeRow(finding) {
  const frame = namedFrame(listedSide(finding));
  const link = make("a", {href: addressOf(finding), onclick: () => choose(finding)},
    make("span", {className: "where"}, frame?.line ? `line ${frame.line}` : "unknown line"),
    make("span", {className: "kind"}, finding.kind),
    make("span", {className: "count"},
      `${finding.atLeast ? "≥ " : ""}${finding.count.toLocaleString("en")}×`));
  if (finding === chosen) link.setAttribute("aria-current", "true");
  return make("li", {}, link);
}

/// Kernels with files, each in the order of its first finding.
function fillList() {
  const kernels = new Map();
  for (const finding of data.findings) {
    const kernel = kernelOf(finding), file = fileOfFinding(finding);
    if (!kernels.has(kernel)) kernels.set(kernel, new Map());
    const files = kernels.get(kernel);
    if (!files.has(file)) files.set(file, new Group(file));
    groupOf.set(finding, files.get(file));
  }
  for (const [kernel, files] of kernels) {
    groups.push(...files.values());
    byId("list").append(make("section", {}, make("h3", {}, kernel),
      ...[...files.values()].map((group) => group.node)));
  }
}

const addressOf = (finding) => `#finding-${finding.index + 1}`;

/// Shows a finding in full, and returns its link in the list.
function choose(finding) {
  chosen = finding;
  showFinding(finding);
  byId("list").querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = groupOf.get(finding).linkOf(finding);
  link?.setAttribute("aria-current", "true");
  link?.scrollIntoView({block: "nearest"});
  return link;
}

function chooseNothing() {
  chosen = undefined;
  byId("detail").replaceChildren(make("p", {className: "missing"}, data.findings.length
    ? "No finding passes the filters."
    : "There are no findings. The page Coverage says what was checked."));
}

/// Goes to the next finding of the list, or to the previous one.
function step(direction) {
  const finding = shown[shown.indexOf(chosen) + direction];
  if (!finding) return;
  choose(finding).focus({preventScroll: true});
  location.replace(addressOf(finding));
}

//===-- Filters -----------------------------------------------------------===//

const filters = [
  {name: "Kind", valuesOf: (finding) => [finding.kind, ...finding.otherKinds]},
  {name: "Kernel", valuesOf: (finding) => distinct([kernelOf(finding), ...finding.kernels])},
  {name: "File", valuesOf: (finding) => distinct(finding.sides.map((side) =>
    fileOf(namedFrame(side)) ?? "file not known"))},
  {name: "Space", valuesOf: (finding) => [finding.space]}];

function fillFilters() {
  for (const filter of filters) {
    const values = distinct(data.findings.flatMap(filter.valuesOf)).sort();
    filter.select = make("select", {id: `filter-${filter.name.toLowerCase()}`},
      make("option", {value: "all"}, "all"),
      // By index, so that no name is taken for "all".
      ...values.map((value, i) => make("option", {value: String(i)}, value)));
    filter.chosenValue = () => values[filter.select.value];
    byId("filters").append(make("label", {}, filter.name, " ", filter.select));
  }
  byId("filters").append(
    make("label", {}, "Search ", make("input",
      {type: "search", id: "search", autocomplete: "off", "aria-keyshortcuts": "/"})),
    make("output", {id: "shown"}));
  byId("filters").addEventListener("input", applyFilters);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

const texts = new Map(); // textOf each finding, from the first search on.

function applyFilters() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter((word) => word);
  const wanted = filters.filter((filter) => filter.chosenValue() !== undefined);
  const passes = (finding) => {
    if (words.length && !texts.has(finding)) texts.set(finding, textOf(finding));
    return wanted.every((filter) => filter.valuesOf(finding).includes(filter.chosenValue()))
      && words.every((word) => texts.get(finding).includes(word));
  };
  for (const group of groups) group.findings = [];
  for (const finding of data.findings)
    if (passes(finding)) groupOf.get(finding).findings.push(finding);
  let room = Group.chunk; // Groups are open as long as they have few rows together.
  for (const group of groups) {
    group.show(room > 0);
    room -= group.findings.length;
  }
  for (const section of byId("list").children)
    section.hidden = !section.querySelector("details:not([hidden])");
  shown = groups.flatMap((group) => group.findings);
  byId("shown").value = `${shown.length.toLocaleString("en")} of ${counted(data.findings.length, "finding")}`;
  if (!shown.length) chooseNothing();
  else if (!shown.includes(chosen)) choose(shown[0]);
}

//===-- Coverage ----------------------------------------------------------===//

function table(caption, heads, rows) {
  return make("div", {className: "scroll"}, make("table", {}, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {scope: "col"}, head)))),
    make("tbody", {}, ...rows.map(([first, ...rest]) => make("tr", {},
      make("th", {scope: "row"}, first),
      ...rest.map((cell) => make("td", {className: typeof cell === "number" ? "number" : ""},
        typeof cell === "number" ? cell.toLocaleString("en") : String(cell))))))));
}

/// By kernel and line: how many findings have one of their sides there.
function racyLines() {
  const lines = new Map();
  for (const finding of data.findings)
    for (const place of distinct(finding.sides.map((side) => {
      const frame = namedFrame(side);
      return frame?.line ? `${fileOf(frame)}:${frame.line}` : "unknown line";
    }))) {
      const key = JSON.stringify([kernelOf(finding), place]);
      const line = lines.get(key) ?? {findings: 0, races: 0};
      lines.set(key, {findings: line.findings + 1, races: line.races + finding.count});
    }
  return [...lines].map(([key, {findings, races}]) => [...JSON.parse(key), findings, races]);
}

/// How often an access was checked, or why it was not.
function checkWords({checks, followed, notChecked}) {
  if (notChecked) return `not checked: ${notChecked}`;
  const words = [];
  if (followed) words.push("each execution");
  if (checks) words.push(counted(checks, "execution") + " by warps");
  return words.join("; ") || "not executed";
}

/// The accesses of the source by kernel, each with how often it was checked.
function accessTables(accesses) {
  if (!accesses.length) return [];
  const groups = Map.groupBy(accesses, (access) => access.kernel || "Several kernels, or none");
  const wasChecked = ({checks, followed}) => checks > 0 || followed;
  const only = make("input", {type: "checkbox", id: "only-unchecked"});
  const tables = [...groups].sort(([a], [b]) => a.localeCompare(b)).map(([kernel, members]) => {
    const checked = members.filter(wasChecked).length;
    const node = table(`${kernel}: ${checked} of ${members.length} accesses checked`,
      ["Line", "Source", "Access", "Checked"],
      members.map((access) => [position(access.frame),
        data.sources[access.frame.file]?.lines.get(access.frame.line)?.trim() ?? "",
        access.access ?? "", checkWords(access)]));
    node.querySelectorAll("tbody tr").forEach((row, i) => {
      row.classList.toggle("unchecked", !wasChecked(members[i]));
      row.children[1].classList.add("source");
    });
    return node;
  });
  only.addEventListener("change", () => {
    for (const node of tables) node.classList.toggle("only-unchecked", only.checked);
  });
  return [make("p", {}, make("label", {}, only, " only accesses that were not checked")), ...tables];
}

function fillCoverage() {
  const page = byId("coverage-page");
  const {sentences, counts, accesses} = data.coverage;
  page.append(make("ul", {}, ...sentences.map((sentence) => make("li", {}, sentence))));
  page.append(...accessTables(accesses));
  const word = (value) => value === true ? "yes" : value === false ? "no" : value;
  for (const [name, members] of Object.entries(counts ?? {}))
    page.append(table(`Counts of the ${name}`, ["Count", "Value"],
      Object.entries(members).map(([key, value]) => [key.replaceAll("_", " "), word(value)])));
  if (data.findings.length)
    page.append(table("Lines with findings", ["Kernel", "Line", "Findings", "Races"], racyLines()));
  if (data.runs.length > 1 || data.runs[0]?.program)
    page.append(table("Runs", ["Seed", "Program", "Ended by", "Findings", "Replay"],
      data.runs.map((run, i) => [String(run.seed), run.program, run.failure || "its end",
        data.findings.filter((finding) => finding.runs?.indices.includes(i)).length, run.replay])));
}

//===-- Navigation --------------------------------------------------------===//

/// Shows what the address names: #coverage, #finding-3, or the findings.
function showAddress() {
  const coverage = location.hash === "#coverage";
  if (coverage && byId("coverage-page").children.length === 1) fillCoverage();
  byId("coverage-page").hidden = !coverage;
  byId("findings-page").hidden = coverage;
  for (const link of document.querySelectorAll("header nav a"))
    if (link.hash === (coverage ? "#coverage" : "#findings")) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  const [, number] = /^#finding-(\d+)$/.exec(location.hash) ?? [];
  const finding = data.findings[number - 1];
  if (finding && finding !== chosen) choose(finding);
}

function onKey(event) {
  const typing = event.target.matches?.("input, select, textarea");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => byId("search").focus(),
    "?": () => byId("help").showModal()};
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  if (event.key !== "?" && !byId("coverage-page").hidden) location.hash = "findings";
  actions[event.key]();
}

const verdicts = {racy: "Data races", clean: "No data races", "nothing-checked": "Nothing was checked",
  "not-known": "What was checked is not known"};
byId("verdict").className = data.verdict;
byId("verdict").append(make("strong", {}, verdicts[data.verdict]), " ", data.coverage.sentences.at(-1));
document.title = `${verdicts[data.verdict]} - CRSan report`;
fillList();
fillFilters();
applyFilters();
showAddress();
addEventListener("hashchange", showAddress);
addEventListener("keydown", onKey);
byId("open-help").addEventListener("click", () => byId("help").showModal());

})();
