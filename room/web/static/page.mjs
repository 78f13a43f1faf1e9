// The page of a room: a form for name and code, then a terminal over a WebSocket, with keys as buttons beneath it.
import "./styles.mjs";
import { Terminal } from "./xterm.mjs";
import { FitAddon } from "./addon-fit.mjs";

const kiosk = document.documentElement.dataset.kiosk === "true";
const door = document.getElementById("door");
const says = document.getElementById("says");
const screen = document.getElementById("screen");
const keys = document.getElementById("keys");

// What the buttons type, row by row: the answers to questions, what one looks around with, then the way through a lesson.
const rows = [
  [..."1234567"].map((k) => [k, k, "answer " + k]),
  [..."abcdef"].map((k) => [k, k, "answer " + k]),
  [["why", "y", "why, about the selected pod"], ["‹", ",", "a move back"], ["›", ".", "a move on"], ["time", "t", "go to a time"], ["log", "5"], ["lanes", "l"],
    ["all", ":", "all that can be done"], ["abc", keyboard, "the device’s own keyboard"]],
  [["back", "-"], ["hint", "h"], ["↑", "\x1b[A", "up"], ["↓", "\x1b[B", "down"], ["▶", " ", "play or pause"], ["esc", "\x1b"], ["next", "\r", "next, or enter"]],
];

// The least that a lesson is laid out for, in cells, and the sizes of letters that make room for it, in pixels.
const least = { columns: 60, rows: 20 };
const letters = { smallest: 8, largest: 15, width: 0.602, height: 1.2 };

// A message of typed bytes holds so many at the most, and what is pasted may have so many in all.
const mostTyped = 8 << 10;
const mostPasted = 256 << 10;

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => dark.matches
  ? { background: "#101418", foreground: "#e6e9ed", cursor: "#e6e9ed", selectionBackground: "#3b5070" }
  : { background: "#ffffff", foreground: "#1b1f24", cursor: "#1b1f24", selectionBackground: "#b6d6ff",
      black: "#1b1f24", red: "#b3261e", green: "#116329", yellow: "#7d5700", blue: "#0550ae", magenta: "#7b2d9b", cyan: "#0b6470", white: "#59636e",
      brightBlack: "#59636e", brightRed: "#a40e26", brightGreen: "#1a7f37", brightYellow: "#633c01", brightBlue: "#0969da", brightMagenta: "#6639ba",
      brightCyan: "#1b7c83", brightWhite: "#1b1f24" };

const term = new Terminal({
  theme: theme(), scrollback: 0, cursorBlink: false, allowProposedApi: false, macOptionIsMeta: true,
  fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace", lineHeight: 1,
});
const fit = new FitAddon();
term.loadAddon(fit);

let socket = null;
let tries = 0; // to come back since the connection was lost
const bytes = new TextEncoder();

// What the tab keeps, so that who loses the connection or reloads the page is where they were: a name and a token, and no code.
const kept = {
  get: () => { try { return JSON.parse(sessionStorage.getItem("seat")) || {}; } catch { return {}; } },
  set: (seat) => { try { sessionStorage.setItem("seat", JSON.stringify(seat)); } catch { /* then a reload asks again */ } },
};

// keyboard has a phone or tablet show its own keyboard, for what has to be written.
function keyboard() {
  term.blur();
  term.focus();
}

function say(words, again) {
  says.textContent = words;
  if (!again) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = again.label;
  button.addEventListener("click", again.does);
  says.append(button);
  button.focus();
}

function ask(words) {
  screen.hidden = keys.hidden = true;
  door.hidden = false;
  door.elements.name.value ||= kept.get().name || "";
  (door.elements.name.value ? door.elements.code : door.elements.name).focus();
  say(words || "");
}

// comeIn connects, and says who comes: by a name and a code, by the token of the seat that was lost, or as nobody to a kiosk.
function comeIn(who) {
  let isIn = false;
  let turnedAway = false;
  show();
  const ws = new WebSocket(location.origin.replace(/^http/, "ws") + "/room");
  ws.binaryType = "arraybuffer";
  ws.addEventListener("open", () => ws.send(JSON.stringify({ ...who, columns: term.cols, rows: term.rows })));
  ws.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return term.write(new Uint8Array(data));
    const answer = JSON.parse(data);
    if (answer.is === "in") {
      isIn = true;
      socket = ws;
      tries = 0;
      kept.set({ name: answer.name, token: answer.token });
      enter(answer.name);
      return;
    }
    turnedAway = true;
    ws.close();
    kept.set({ name: kept.get().name });
    if (kiosk) comeIn({});
    else ask(answer.words);
  });
  ws.addEventListener("close", ({ code }) => {
    if (turnedAway) return;
    socket = null;
    if (isIn && code === 1000) over();
    else if (isIn || !who.code) lost();
    else ask("The room can’t be reached, or is closed. Try again.");
  });
}

// show shows the screen in place of the form, as large as the page has room for.
function show() {
  door.hidden = true;
  screen.hidden = keys.hidden = false;
  if (!term.element) term.open(screen);
  resize();
}

// enter begins with the screen of who was let in.
function enter(name) {
  door.elements.code.value = "";
  document.title = kiosk ? "schedq" : name + " · schedq";
  say("");
  term.reset();
  resize();
  term.focus();
}

// over says that the session has ended: what the room said is on the screen.
function over() {
  keys.hidden = true;
  kept.set({ name: kept.get().name });
  say("The session is over.", { label: "Come in again", does: () => (kiosk ? comeIn({}) : ask()) });
}

// lost comes back to where one was, ever more slowly.
function lost() {
  tries++;
  say("The connection is lost. Coming back …");
  const { token } = kept.get();
  setTimeout(() => comeIn(token ? { token } : {}), Math.min(500 * 2 ** (tries - 1), 15000));
}

// resize makes letters as large as the least layout has room for, and tells the room how many cells there are.
function resize() {
  if (screen.hidden) return;
  const wide = (screen.clientWidth - 8) / least.columns / letters.width;
  const high = (screen.clientHeight - 8) / least.rows / letters.height;
  const fontSize = Math.max(letters.smallest, Math.min(letters.largest, Math.floor(Math.min(wide, high) * 10) / 10));
  if (term.options.fontSize !== fontSize) term.options.fontSize = fontSize;
  fit.fit();
  if (socket) socket.send(JSON.stringify({ columns: term.cols, rows: term.rows }));
}

function type(text) {
  if (!socket) return;
  const all = bytes.encode(text);
  if (all.length > mostPasted) return say("That is more than a room takes at once.");
  for (let at = 0; at < all.length; at += mostTyped) socket.send(all.subarray(at, at + mostTyped));
}

term.onData(type);
term.onBinary((text) => socket?.send(Uint8Array.from(text, (c) => c.charCodeAt(0))));
new ResizeObserver(resize).observe(screen);
document.fonts?.ready.then(resize);

// A terminal says of which colour its background is when it is asked. Here it can change, so the program is told.
dark.addEventListener("change", () => {
  term.options.theme = theme();
  const [r, g, b] = term.options.theme.background.match(/[0-9a-f]{2}/g);
  type(`\x1b]11;rgb:${r}${r}/${g}${g}/${b}${b}\x1b\\`);
});

for (const row of rows) {
  const group = document.createElement("div");
  for (const [label, text, means] of row) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.className = { next: "main", abc: "touch" }[label] || "";
    button.setAttribute("aria-label", means || label);
    // The screen keeps the focus if it has it: on a phone no keyboard comes up, and none goes away.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => (typeof text === "string" ? type(text) : text()));
    group.append(button);
  }
  keys.append(group);
}

door.addEventListener("submit", (event) => {
  event.preventDefault();
  say("Coming in …");
  comeIn({ name: door.elements.name.value, code: door.elements.code.value });
});

if (kept.get().token) {
  say("Coming back …");
  comeIn({ token: kept.get().token });
} else if (kiosk) {
  comeIn({});
} else {
  ask();
}
