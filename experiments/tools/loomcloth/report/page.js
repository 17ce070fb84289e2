/* The page's own part: tabs, choices, and what they draw.  Libraries are unpacked when a tab first needs them. */
"use strict";
const $ = (id) => document.getElementById(id);
const report = JSON.parse($("data").textContent);

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out;
}

function unpack(id) {
  return fflate.strFromU8(fflate.unzlibSync(bytes($(id).textContent)));
}

/* A library as a script of its own, which the page's policy admits by its hash. */
function addScript(id) {
  const script = document.createElement("script");
  script.textContent = unpack(id);
  document.head.appendChild(script);
}

/* One that becomes a global, as it sees no module loader. */
const loaded = {};
function library(id) {
  if (loaded[id]) return;
  const define = window.define;
  window.define = undefined;
  addScript(id);
  window.define = define;
  loaded[id] = true;
}

/* ---- choices ---- */
function fill(select, items, chosen) {
  const before = chosen ?? select.value;
  select.replaceChildren(...items.map(([value, text]) => new Option(text, value)));
  if (items.some(([value]) => value === before)) select.value = before;
}
const named = (names, among) => among.filter((n) => names[n]).map((n) => [n, names[n]]);

function draw(id, traces, x, y, more) {
  library("plotly");
  const layout = Object.assign({
    margin: { l: 80, r: 20, t: 20, b: 60 }, hovermode: "closest", legend: { font: { size: 12 } },
    xaxis: Object.assign({ title: { text: x }, exponentformat: "power" }, more.x),
    yaxis: Object.assign({ title: { text: y }, exponentformat: "power" }, more.y),
  }, more.layout);
  return Plotly.react($(id), traces, layout, { responsive: true, displaylogo: false });
}

/* Plotly reads some HTML in names; those of runs are text. */
const plain = (name) => name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function look(run) {
  const s = report.style[run];
  return { name: plain(run), mode: "lines+markers", line: { color: s.colour, dash: s.dash, width: 1.8 },
    marker: { symbol: s.symbol, size: 6, color: s.colour } };
}

/* ---- facets ---- */
const here = () => report.facets[$("facet").value] ?? Object.values(report.facets)[0];
function fillFacet() {
  const part = here();
  fill($("step"), Object.keys(part.curves).map((s) => [s, s]), part.step);
  fill($("accuracy-measure"), named(report.measures, Object.keys(part.accuracy)));
  const drawn = Object.keys(part.profiles).filter((m) => Object.keys(part.profiles[m]).length > 0);
  fill($("profile-measure"), named(report.measures, drawn));
}

/* ---- convergence ---- */
function drawCurves() {
  const runs = here().curves[$("step").value] ?? {}, x = $("across").value, y = $("measure").value;
  const traces = Object.entries(runs).filter(([, c]) => c[x] && c[y])
    .map(([run, c]) => Object.assign(look(run), { x: c[x], y: c[y].map((v) => (v > 0 ? v : null)) }));
  draw("curves", traces, report.costs_of[x], report.measures[y],
    { x: { type: x === "iterations" ? "linear" : "log" }, y: { type: "log" } });
}

/* ---- equal accuracy ---- */
function drawCosts() {
  const m = $("accuracy-measure").value, c = $("accuracy-cost").value, all = here().accuracy[m] ?? { bounds: [], runs: {} };
  const traces = Object.entries(all.runs).filter(([, costs]) => costs[c])
    .map(([run, costs]) => Object.assign(look(run), { x: all.bounds, y: costs[c], connectgaps: false }));
  draw("costs", traces, (report.measures[m] ?? "") + ", at most", report.costs_of[c],
    { x: { type: "log", autorange: "reversed" }, y: { type: "log" } });
}

/* ---- performance profile ---- */
// The strictest accuracy that half of the methods reach in some step: what a reader sees first.
function usualBound(of) {
  const bounds = Object.keys(of).sort((a, b) => a - b);
  const half = (b) => {
    const shares = Object.values(Object.values(of[b])[0].methods);
    return 2 * shares.filter((s) => s.some((v) => v > 0)).length >= shares.length;
  };
  return bounds.find(half) ?? bounds.at(-1);
}
function drawProfile() {
  const of = here().profiles[$("profile-measure").value] ?? {};
  const kept = $("profile-bound").value in of ? undefined : usualBound(of);
  fill($("profile-bound"), Object.keys(of).map((b) => [b, b]), kept);
  const at = of[$("profile-bound").value] ?? {};
  fill($("profile-cost"), named(report.costs_of, Object.keys(at)));
  const p = at[$("profile-cost").value];
  $("no-profile").hidden = Boolean(p);
  const traces = !p ? [] : Object.entries(p.methods).map(([name, share]) => {
    const s = report.method_style[name] ?? { colour: "#555" };
    return { name: plain(name), x: p.tau, y: share, mode: "lines", line: { shape: "hv", color: s.colour, dash: s.dash, width: 2 } };
  });
  draw("profiles", traces, "factor of the best method's cost", "share of steps",
    { x: { type: "log" }, y: { range: [0, 1.03] } });
}

/* ---- replay ---- */
let k3d, playing = 0, frame = 0;
function setFrame(at) {
  const last = report.times.length - 1;
  frame = Math.min(Math.max(at, 0), last);
  $("time").value = frame;
  const before = Math.floor(frame), after = Math.min(before + 1, last), share = frame - before;
  const t = report.times[before] * (1 - share) + report.times[after] * share;
  $("clock").textContent = t.toFixed(3) + " s";
  if (k3d) k3d.setTime(frame);
}

function tick(now) {
  if (!playing) return;
  const span = report.times[report.times.length - 1] - report.times[0] || 1;
  const rate = ((report.times.length - 1) / span) * Number($("speed").value);
  /* a slow machine shows every frame, later; it does not skip over a short motion */
  let next = frame + Math.min(Math.max(0, ((now - playing) / 1000) * rate), 1);
  playing = now;
  if (next > report.times.length - 1) next = 0;
  setFrame(next);
  requestAnimationFrame(tick);
}

/* Names of the runs, below each, wherever the camera is. */
function placeNames() {
  if (document.body.dataset.tab !== "replay") return;
  const camera = k3d.getWorld().camera, stage = $("stage");
  const times = (m, v) => [0, 1, 2, 3].map((r) => v.reduce((sum, x, c) => sum + m[4 * c + r] * x, 0));
  for (const [i, [, x, y, z]] of report.labels.entries()) {
    const at = times(camera.projectionMatrix.elements, times(camera.matrixWorldInverse.elements, [x, y, z, 1]));
    const label = stage.querySelectorAll(".name")[i];
    label.style.left = (50 + (50 * at[0]) / at[3]) + "%";
    label.style.top = (50 - (50 * at[1]) / at[3]) + "%";
    label.style.display = at[3] > 0 ? "" : "none";
  }
  requestAnimationFrame(placeNames);
}

function openReplay() {
  if (k3d) placeNames();
  if (!report.times || k3d !== undefined) return;
  k3d = null;
  $("time").max = report.times.length - 1;
  $("time").step = "any";
  $("legend").textContent = "Colour: " + report.field + ". Drag to turn, wheel to come nearer.";
  /* k3d asks for the module loader, which stands behind this script */
  addScript("k3d");
  require(["k3d"], (lib) => {
    lib.CreateK3DAndLoadBinarySnapshot(bytes($("scene").textContent), $("stage")).then((made) => {
      k3d = made;
      setFrame(0);
      for (const [name] of report.labels) {
        const label = document.createElement("div");
        label.className = "name";
        label.textContent = name;
        $("stage").append(label);
      }
      placeNames();
      document.body.dataset.replay = "ready";
    });
  });
}

/* ---- tabs ---- */
const open = { convergence: drawCurves, accuracy: drawCosts, profile: drawProfile, replay: openReplay };
function show(id) {
  for (const s of document.querySelectorAll("section")) s.classList.toggle("on", s.id === id);
  for (const b of $("tabs").children) b.classList.toggle("on", b.dataset.tab === id);
  if (open[id]) open[id]();
  document.body.dataset.tab = id;
  history.replaceState(null, "", "#" + id);
}

function begin() {
  const measures = named(report.measures, Object.keys(report.measures));
  const costs = named(report.costs_of, Object.keys(report.costs_of));
  for (const s of document.querySelectorAll("section")) {
    if (s.id === "replay" && !report.times) continue;
    const button = document.createElement("button");
    button.textContent = s.dataset.title;
    button.dataset.tab = s.id;
    button.onclick = () => show(s.id);
    $("tabs").append(button);
  }
  const facets = Object.keys(report.facets);
  fill($("facet"), facets.map((f) => [f, f]), facets[Math.min(1, facets.length - 1)]);
  $("facets").hidden = facets.length < 2;
  $("facet").onchange = () => { fillFacet(); show(document.body.dataset.tab); };
  fillFacet();
  for (const id of ["across", "accuracy-cost"]) fill($(id), costs);
  fill($("measure"), measures);
  for (const id of ["step", "across", "measure"]) $(id).onchange = drawCurves;
  for (const id of ["accuracy-measure", "accuracy-cost"]) $(id).onchange = drawCosts;
  for (const id of ["profile-measure", "profile-bound", "profile-cost"]) $(id).onchange = drawProfile;
  $("time").oninput = () => { playing = 0; $("play").textContent = "play"; setFrame(Number($("time").value)); };
  $("play").onclick = () => {
    playing = playing ? 0 : performance.now();
    $("play").textContent = playing ? "stop" : "play";
    if (playing) requestAnimationFrame(tick);
  };
  const asked = location.hash.slice(1);
  show(document.querySelector("section#" + (/^[a-z]+$/.test(asked) ? asked : "none")) ? asked : "summary");
  document.body.dataset.ready = String(Math.round(performance.now()));
}
begin();
