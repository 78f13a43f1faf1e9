"use strict";
// Full-text search. A result contains every word, and matches in titles rank higher. The index,
// static/index.js, is loaded when the search field gets the focus.
(() => {
	const form = document.getElementById("site-search"), words = document.getElementById("site-words");
	const found = document.getElementById("site-found"), count = document.getElementById("site-count");
	const top = form.dataset.top, most = 20;
	let sections = null;
	form.hidden = false;

	window.schedqIndex = (all) => {
		sections = all.map(([link, page, title, text]) => ({ link, page, title, text, low: text.toLowerCase(), head: (page + " " + title).toLowerCase() }));
		look();
	};

	const load = () => {
		if (document.getElementById("site-index")) return;
		const script = document.createElement("script");
		script.id = "site-index";
		script.src = top + "static/index.js";
		document.head.append(script);
	};

	// score rates a section; 0 means that a word is missing.
	const score = (section, terms) => {
		let sum = 0;
		for (const word of terms) {
			const own = section.title.toLowerCase().includes(word), head = section.head.includes(word), times = section.low.split(word).length - 1;
			if (!head && !times) return 0;
			sum += (own ? 30 : head ? 10 : 0) + Math.min(times, 5);
		}
		return sum;
	};

	// appendMarked appends text to a node and highlights the search terms.
	const appendMarked = (node, text, terms) => {
		const low = text.toLowerCase();
		for (let at = 0; at < text.length;) {
			let next = -1, length = 0;
			for (const word of terms) {
				const i = low.indexOf(word, at);
				if (i >= 0 && (next < 0 || i < next)) [next, length] = [i, word.length];
			}
			if (next < 0) return node.append(text.slice(at));
			const mark = document.createElement("mark");
			mark.append(text.slice(next, next + length));
			node.append(text.slice(at, next), mark);
			at = next + length;
		}
	};

	const entry = (section, terms) => {
		const item = document.createElement("li"), link = document.createElement("a"), title = document.createElement("strong"), around = document.createElement("span");
		link.href = top + section.link;
		title.append(section.title === section.page ? section.page : section.page + " › " + section.title);
		const first = Math.max(0, Math.min(...terms.map((word) => section.low.indexOf(word)).filter((i) => i >= 0).concat(section.low.length)) - 60);
		const begin = first ? section.text.indexOf(" ", first) + 1 : 0;
		appendMarked(around, (begin ? "… " : "") + section.text.slice(begin, begin + 170), terms);
		link.append(title, around);
		item.append(link);
		return item;
	};

	const look = () => {
		const terms = words.value.toLowerCase().split(/\s+/).filter(Boolean);
		found.hidden = !terms.length || !sections;
		if (found.hidden) return found.replaceChildren();
		const all = sections.map((section) => [score(section, terms), section]).filter(([sum]) => sum).sort((a, b) => b[0] - a[0]);
		count.textContent = all.length === 1 ? "1 section" : all.length + " sections";
		found.replaceChildren(...all.slice(0, most).map(([, section]) => entry(section, terms)));
		found.scrollTop = 0;
		if (!all.length) {
			const nothing = document.createElement("li");
			nothing.className = "nothing";
			nothing.append("No section contains all of these words.");
			found.append(nothing);
		}
	};

	words.addEventListener("focus", load);
	words.addEventListener("input", () => { load(); look(); });
	form.addEventListener("submit", (event) => { event.preventDefault(); found.querySelector("a")?.click(); });
	form.addEventListener("keydown", (event) => {
		const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
		if (event.key === "Escape") { words.value = ""; look(); words.focus(); }
		else if (event.key === "ArrowDown" && links.length) links[Math.min(at + 1, links.length - 1)].focus();
		else if (event.key === "ArrowUp" && links.length) (at > 0 ? links[at - 1] : words).focus();
		else return;
		event.preventDefault();
	});
	form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) found.hidden = true; });
	words.addEventListener("focus", look);
	document.addEventListener("pointerdown", (event) => { if (!form.contains(event.target)) found.hidden = true; });
	document.addEventListener("keydown", (event) => {
		if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
		event.preventDefault();
		words.focus();
	});
})();
