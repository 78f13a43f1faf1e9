"use strict";
// Plays recorded sessions in place of their screenshots. Sessions are recorded cell by cell by make
// captures (tui/tape_test.go). Playback starts on a click, and can be paused and stepped by key.
(() => {
	const callbacks = new Map(); // by script address

	window.schedqSession = (session) => callbacks.get(document.currentScript.dataset.session)(session);

	const make = (tag, attributes = {}, ...inside) => {
		const node = document.createElement(tag);
		for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
		node.append(...inside);
		return node;
	};

	const open = (figure) => {
		if (callbacks.has(figure.dataset.session)) return; // already loading
		const script = make("script", { src: figure.dataset.session, "data-session": figure.dataset.session });
		callbacks.set(figure.dataset.session, (session) => play(figure, session));
		document.head.append(script);
	};

	// row renders a row of cells: [style, text, style, text ...].
	const row = (session, number) => {
		const line = make("span"), runs = session.rows[number];
		for (let i = 0; i < runs.length; i += 2) {
			const [ink, paper, signs] = session.styles[runs[i]], run = make("b", {}, runs[i + 1]);
			if (ink) run.style.color = ink;
			if (paper) run.style.background = paper;
			if (signs.includes("b")) run.style.fontWeight = "bold";
			if (signs.includes("u")) run.style.textDecoration = "underline";
			line.append(run);
		}
		return line;
	};

	const play = (figure, session) => {
		const alt = figure.querySelector("img").alt, last = session.frames.length - 1;
		const screen = make("pre", { class: "screen", tabindex: "0", role: "group", "aria-label": "The screen" });
		const caption = make("p", { class: "caption" }), clock = make("output");
		const slider = make("input", { type: "range", min: "0", max: String(last), value: "0", "aria-label": "Moment" });
		const button = (label, run) => { const b = make("button", { type: "button" }, label); b.addEventListener("click", run); return b; };
		const lines = Array.from({ length: session.height }, () => screen.appendChild(make("span")));
		const drawn = [];
		let at = -1, timer = 0;

		// shown returns the rows of a frame. Each frame lists only the rows that changed.
		const shown = (frame) => {
			const rows = [];
			for (let i = 0; i <= frame; i++) for (const [y, number] of session.frames[i].rows) rows[y] = number;
			return rows;
		};
		const show = (frame) => {
			at = Math.max(0, Math.min(frame, last));
			shown(at).forEach((number, y) => {
				if (drawn[y] === number) return;
				drawn[y] = number;
				lines[y].replaceChildren(...row(session, number).childNodes);
			});
			const { key, caption: text } = session.frames[at];
			caption.replaceChildren(...(key ? [make("kbd", {}, key), " "] : []), text);
			slider.value = at;
			slider.setAttribute("aria-valuetext", `${at + 1} of ${last + 1}: ${key ? key + ", " : ""}${text}`);
			clock.textContent = `${at + 1}/${last + 1}`;
		};
		const stop = () => { clearTimeout(timer); timer = 0; toggle.textContent = at === last ? "Again" : "Play"; };
		const next = () => {
			timer = setTimeout(() => { show(at + 1); at === last ? stop() : next(); }, session.frames[at].seconds * 1000);
		};
		const go = () => { if (at === last) show(0); toggle.textContent = "Stop"; next(); };
		const step = (by) => {
			stop();
			let to = at + by;
			while (to > 0 && to < last && !session.frames[to].key) to += by;
			show(to);
			stop();
		};
		const toggle = button("Stop", () => timer ? stop() : go());
		slider.addEventListener("input", () => { stop(); show(Number(slider.value)); stop(); });
		figure.addEventListener("keydown", (event) => {
			if (event.target !== screen || event.ctrlKey || event.metaKey || event.altKey) return;
			if (event.key === " ") toggle.click();
			else if (event.key === ".") step(1);
			else if (event.key === ",") step(-1);
			else return;
			event.preventDefault();
		});

		figure.replaceChildren(screen, caption,
			make("div", { class: "controls", role: "group", "aria-label": alt }, toggle, button("‹ Key", () => step(-1)), button("Key ›", () => step(1)), slider, clock));
		const fit = () => { // fit all columns, within readable font sizes
			const width = figure.clientWidth - 20;
			screen.style.fontSize = Math.max(9, Math.min(15, width / (session.width * 0.603))) + "px";
		};
		new ResizeObserver(fit).observe(figure);
		fit();
		show(0);
		toggle.focus();
		if (matchMedia("(prefers-reduced-motion: reduce)").matches) stop();
		else go();
	};

	for (const figure of document.querySelectorAll("figure.session")) {
		for (const part of figure.children) part.addEventListener("click", () => open(figure), { once: true });
	}
})();
