// The page of a room: a form for name and code, then a terminal over a WebSocket with buttons for keys.
import "./styles.mjs";
import { Terminal } from "./xterm.mjs";
import { FitAddon } from "./addon-fit.mjs";

const kiosk = document.documentElement.dataset.kiosk === "true";
const login = document.getElementById("login");
const status = document.getElementById("status");
const screen = document.getElementById("screen");
const keys = document.getElementById("keys");

// The buttons, row by row: answers to questions, keys to look around, and keys to move through a
// lesson. Each is a label, the input or function, and an accessible name.
const rows = [
  [..."1234567"].map((k) => [k, k, "answer " + k]),
  [..."abcdef"].map((k) => [k, k, "answer " + k]),
  [["why", "y", "explain the selected pod"], ["‹", ",", "one move back"], ["›", ".", "one move forward"], ["time", "t", "go to a time"], ["log", "5"], ["lanes", "vl"],
    ["all", ":", "all actions"], ["abc", showKeyboard, "on-screen keyboard"]],
  [["back", "-"], ["hint", "h"], ["↑", "\x1b[A", "up"], ["↓", "\x1b[B", "down"], ["▶", " ", "play or pause"], ["esc", "\x1b"], ["next", "\r", "next, or enter"]],
];

// The minimum terminal size of a lesson, in cells, and the font sizes that make it fit, in pixels.
const minimum = { columns: 60, rows: 20 };
const font = { smallest: 8, largest: 15, width: 0.602, height: 1.2 };

// Limits in bytes.
const maxMessage = 8 << 10;
const maxPaste = 256 << 10;

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
let retries = 0; // since the connection was lost
const encoder = new TextEncoder();

// The name and token of this tab, so that a reload or a lost connection returns to the same session.
// The code is not stored.
const stored = {
  get: () => { try { return JSON.parse(sessionStorage.getItem("seat")) || {}; } catch { return {}; } },
  set: (seat) => { try { sessionStorage.setItem("seat", JSON.stringify(seat)); } catch { /* no storage: a reload asks again */ } },
};

// showKeyboard opens the on-screen keyboard of a phone or tablet.
function showKeyboard() {
  term.blur();
  term.focus();
}

// setStatus shows a message, with a button if action is given.
function setStatus(text, action) {
  status.textContent = text;
  if (!action) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = action.label;
  button.addEventListener("click", action.run);
  status.append(button);
  button.focus();
}

function showLogin(text) {
  screen.hidden = keys.hidden = true;
  login.hidden = false;
  login.elements.name.value ||= stored.get().name || "";
  (login.elements.name.value ? login.elements.code : login.elements.name).focus();
  setStatus(text || "");
}

// connect logs in with a name and a code, with a token, or to a kiosk with neither.
function connect(credentials) {
  let accepted = false;
  let rejected = false;
  showTerminal();
  const ws = new WebSocket(location.origin.replace(/^http/, "ws") + "/room");
  ws.binaryType = "arraybuffer";
  ws.addEventListener("open", () => ws.send(JSON.stringify({ ...credentials, columns: term.cols, rows: term.rows })));
  ws.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return term.write(new Uint8Array(data));
    const reply = JSON.parse(data);
    if (reply.is === "in") {
      accepted = true;
      socket = ws;
      retries = 0;
      stored.set({ name: reply.name, token: reply.token });
      startSession(reply.name);
      return;
    }
    rejected = true;
    ws.close();
    stored.set({ name: stored.get().name });
    if (kiosk) connect({});
    else showLogin(reply.words);
  });
  ws.addEventListener("close", ({ code }) => {
    if (rejected) return;
    socket = null;
    if (accepted && code === 1000) sessionEnded();
    else if (accepted || !credentials.code) reconnect();
    else showLogin("The room is closed or can’t be reached. Try again.");
  });
}

// showTerminal replaces the form with the terminal.
function showTerminal() {
  login.hidden = true;
  screen.hidden = keys.hidden = false;
  if (!term.element) term.open(screen);
  resize();
}

// startSession prepares the terminal after the login.
function startSession(name) {
  login.elements.code.value = "";
  document.title = kiosk ? "schedq" : name + " · schedq";
  setStatus("");
  term.reset();
  resize();
  term.focus();
}

// sessionEnded handles a normal closure. The room's last message stays on the terminal.
function sessionEnded() {
  keys.hidden = true;
  stored.set({ name: stored.get().name });
  setStatus("The session has ended.", { label: "Join again", run: () => (kiosk ? connect({}) : showLogin()) });
}

// reconnect logs in again with the token, with exponential backoff.
function reconnect() {
  retries++;
  setStatus("Connection lost. Reconnecting …");
  const { token } = stored.get();
  setTimeout(() => connect(token ? { token } : {}), Math.min(500 * 2 ** (retries - 1), 15000));
}

// resize chooses the largest font that fits the minimum size, and reports the size to the room.
function resize() {
  if (screen.hidden) return;
  const byWidth = (screen.clientWidth - 8) / minimum.columns / font.width;
  const byHeight = (screen.clientHeight - 8) / minimum.rows / font.height;
  const fontSize = Math.max(font.smallest, Math.min(font.largest, Math.floor(Math.min(byWidth, byHeight) * 10) / 10));
  if (term.options.fontSize !== fontSize) term.options.fontSize = fontSize;
  fit.fit();
  if (socket) socket.send(JSON.stringify({ columns: term.cols, rows: term.rows }));
}

function type(text) {
  if (!socket) return;
  const bytes = encoder.encode(text);
  if (bytes.length > maxPaste) return setStatus("The pasted text is too long.");
  for (let at = 0; at < bytes.length; at += maxMessage) socket.send(bytes.subarray(at, at + maxMessage));
}

term.onData(type);
term.onBinary((text) => socket?.send(Uint8Array.from(text, (c) => c.charCodeAt(0))));
new ResizeObserver(resize).observe(screen);
document.fonts?.ready.then(resize);

// Report a new background colour to the program, as a reply to OSC 11.
dark.addEventListener("change", () => {
  term.options.theme = theme();
  const [r, g, b] = term.options.theme.background.match(/[0-9a-f]{2}/g);
  type(`\x1b]11;rgb:${r}${r}/${g}${g}/${b}${b}\x1b\\`);
});

for (const row of rows) {
  const group = document.createElement("div");
  for (const [label, action, name] of row) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.className = { next: "main", abc: "touch" }[label] || "";
    button.setAttribute("aria-label", name || label);
    // Keep the focus where it is, so that a phone neither opens nor closes its keyboard.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => (typeof action === "string" ? type(action) : action()));
    group.append(button);
  }
  keys.append(group);
}

login.addEventListener("submit", (event) => {
  event.preventDefault();
  setStatus("Joining …");
  connect({ name: login.elements.name.value, code: login.elements.code.value });
});

if (stored.get().token) {
  setStatus("Reconnecting …");
  connect({ token: stored.get().token });
} else if (kiosk) {
  connect({});
} else {
  showLogin();
}
