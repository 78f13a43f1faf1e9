// The speaker's notes of the step that the teacher is at: a form for the teacher's code, then text that changes by itself.
const door = document.getElementById("door");
const says = document.getElementById("says");
const notes = document.getElementById("notes");

let tries = 0; // to come back since the connection was lost

// What the tab keeps, so that who loses the connection or reloads the page need not say the code again.
const kept = {
  get: () => { try { return sessionStorage.getItem("reader"); } catch { return null; } },
  set: (token) => { try { token ? sessionStorage.setItem("reader", token) : sessionStorage.removeItem("reader"); } catch { /* then a reload asks again */ } },
};

function ask(words) {
  notes.hidden = true;
  door.hidden = false;
  door.elements.code.focus();
  says.textContent = words || "";
}

// read connects, and says who reads: by the teacher's code, or by the token of before.
function read(who) {
  let isIn = false;
  let turnedAway = false;
  const ws = new WebSocket(location.origin.replace(/^http/, "ws") + "/speaker");
  ws.addEventListener("open", () => ws.send(JSON.stringify(who)));
  ws.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(data);
    switch (answer.is) {
      case "in":
        isIn = true;
        tries = 0;
        kept.set(answer.token);
        door.elements.code.value = "";
        door.hidden = true;
        notes.hidden = false;
        says.textContent = notes.textContent ? "" : "The notes are here once the teacher is in the room.";
        return;
      case "notes":
        notes.textContent = answer.words;
        notes.scrollTop = 0;
        says.textContent = "";
        return;
    }
    turnedAway = true;
    ws.close();
    kept.set("");
    ask(answer.words);
  });
  ws.addEventListener("close", () => {
    if (turnedAway) return;
    if (!isIn && !kept.get()) return ask("The room can’t be reached, or is closed. Try again.");
    tries++;
    says.textContent = "The connection is lost. Coming back …";
    setTimeout(() => read({ token: kept.get() }), Math.min(500 * 2 ** (tries - 1), 15000));
  });
}

door.addEventListener("submit", (event) => {
  event.preventDefault();
  says.textContent = "One moment …";
  read({ code: door.elements.code.value });
});

if (kept.get()) read({ token: kept.get() });
else ask();
