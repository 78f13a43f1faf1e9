// The speaker notes of the teacher's current step: a form for the teacher's code, then text that
// updates itself.
const login = document.getElementById("login");
const status = document.getElementById("status");
const notes = document.getElementById("notes");

let retries = 0; // since the connection was lost

// The token of this tab, so that a reload or a lost connection does not ask for the code again.
const stored = {
  get: () => { try { return sessionStorage.getItem("reader"); } catch { return null; } },
  set: (token) => { try { token ? sessionStorage.setItem("reader", token) : sessionStorage.removeItem("reader"); } catch { /* no storage: a reload asks again */ } },
};

function showLogin(text) {
  notes.hidden = true;
  login.hidden = false;
  login.elements.code.focus();
  status.textContent = text || "";
}

// connect logs in with the teacher's code or a token.
function connect(credentials) {
  let accepted = false;
  let rejected = false;
  const ws = new WebSocket(location.origin.replace(/^http/, "ws") + "/speaker");
  ws.addEventListener("open", () => ws.send(JSON.stringify(credentials)));
  ws.addEventListener("message", ({ data }) => {
    const reply = JSON.parse(data);
    switch (reply.is) {
      case "in":
        accepted = true;
        retries = 0;
        stored.set(reply.token);
        login.elements.code.value = "";
        login.hidden = true;
        notes.hidden = false;
        status.textContent = notes.textContent ? "" : "The notes appear when the teacher joins the room.";
        return;
      case "notes":
        notes.textContent = reply.words;
        notes.scrollTop = 0;
        status.textContent = "";
        return;
    }
    rejected = true;
    ws.close();
    stored.set("");
    showLogin(reply.words);
  });
  ws.addEventListener("close", () => {
    if (rejected) return;
    if (!accepted && !stored.get()) return showLogin("The room is closed or can’t be reached. Try again.");
    retries++;
    status.textContent = "Connection lost. Reconnecting …";
    setTimeout(() => connect({ token: stored.get() }), Math.min(500 * 2 ** (retries - 1), 15000));
  });
}

login.addEventListener("submit", (event) => {
  event.preventDefault();
  status.textContent = "Connecting …";
  connect({ code: login.elements.code.value });
});

if (stored.get()) connect({ token: stored.get() });
else showLogin();
