// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the flame graph interactive: redraws all frames from the data,
// so that a zoom shows frames that were too narrow.
"use strict";
(() => {
    const svg = document.currentScript.closest("svg");
    const alone = svg === document.documentElement;
    const part = id => svg.querySelector("#" + id);
    const data = JSON.parse(part("data").textContent);
    const { fontSize, rowHeight, pad, top, bottom, inverted, difference } = data;
    const frames = part("frames"), head = part("head"), foot = part("foot");
    const details = part("details"), numbers = part("numbers"), legend = part("legend");

    // ---- the tree: nodes in preorder, by index ----

    const stride = difference ? 4 : 3, n = data.nodes.length / stride;
    const func = new Int32Array(n), depth = new Int32Array(n), parent = new Int32Array(n), end = new Int32Array(n);
    const total = new Float64Array(n), start = new Float64Array(n), inner = new Float64Array(n);
    const before = new Float64Array(n);
    const readTree = () => {
        const path = [];
        for (let i = 0; i < n; i++) {
            func[i] = data.nodes[i * stride];
            depth[i] = data.nodes[i * stride + 1];
            total[i] = data.nodes[i * stride + 2];
            before[i] = difference ? data.nodes[i * stride + 3] * difference.scale : 0;
            while (path.length > depth[i])
                end[path.pop()] = i;
            const above = path.length ? path[path.length - 1] : -1;
            parent[i] = above;
            start[i] = above < 0 ? 0 : start[above] + inner[above];
            if (above >= 0)
                inner[above] += total[i];
            path.push(i);
        }
        path.forEach(i => { end[i] = n; });
    };
    readTree();
    const name = i => data.names[func[i]];
    const module = i => data.modules[data.module[func[i]]];

    // ---- state and drawing ----

    let zoom = 0, selected = -1, hovered = -1, back = [];
    let width = data.width || 1200, height = Number(svg.getAttribute("height"));
    let drawn = new Map(), rows = [];
    let hits = null; // by function
    let mouse = "", resting = ""; // position of the mouse now, and when a key was pressed
    let largest = 0; // largest difference

    const make = (tag, attributes, text) => {
        const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const key in attributes)
            e.setAttribute(key, attributes[key]);
        if (text !== undefined)
            e.textContent = text;
        return e;
    };
    const charWidth = (() => {
        const probe = make("text", { visibility: "hidden" }, "M".repeat(20));
        svg.append(probe);
        const measured = data.monospace && probe.getComputedTextLength ? probe.getComputedTextLength() / 20 : 0;
        probe.remove();
        return measured || data.charWidth;
    })();
    const wide = c => /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(c) ||
        c > "\u{1f2ff}" ? 2 : 1;
    // Shortens template arguments of a label that does not fit: "Map<int, Set<int> >::get" becomes "Map<…>::get".
    const squeezed = text => {
        let out = "";
        for (let i = 0; i < text.length; i++) {
            out += text[i];
            if (text[i] !== "<" || !i || !/\w/.test(text[i - 1]) || text.slice(0, i).endsWith("operator"))
                continue;
            let at = i + 1;
            for (let open = 1; at < text.length; at++) {
                open += text[at] === "<" ? 1 : text[at] === ">" && text[at - 1] !== "-" ? -1 : 0;
                if (!open)
                    break;
            }
            if (at < text.length) {
                out += "\u2026>";
                i = at;
            }
        }
        return out;
    };
    const columnsOf = text => Array.from(text).reduce((sum, c) => sum + wide(c), 0);
    const shortened = (text, room) => {
        const columns = Math.floor(room / charWidth);
        if (columns < 3)
            return "";
        if (text.length <= columns && columnsOf(text) <= columns)
            return text;
        const brief = squeezed(text);
        if (columnsOf(brief) <= columns)
            return brief;
        let used = 0, kept = "";
        for (const c of brief) {
            used += wide(c);
            if (used >= columns)
                break;
            kept += c;
        }
        return kept + "\u2026";
    };
    const count = v => Math.round(v).toLocaleString("en-US");
    const percent = (v, of) => (of ? 100 * v / of : 0).toFixed(2) + "%";
    const signed = v => (v > 0 ? "+" : v < 0 ? "\u2212" : "\u00b1") + Math.abs(v).toFixed(2) + "%";
    const hex = v => "#" + v.toString(16).padStart(6, "0");

    const change = i => total[i] - before[i];
    const colour = i => {
        if (!difference)
            return hex(data.colours[func[i]]);
        const full = (change(i) > 0) !== difference.negate ? difference.more : difference.less;
        const share = largest ? Math.pow(Math.abs(change(i)) / largest, 0.6) : 0;
        const mix = shift => {
            const from = difference.same >> shift & 255, to = full >> shift & 255;
            return Math.floor(from + (to - from) * share) << shift;
        };
        return hex(mix(16) | mix(8) | mix(0));
    };
    const top_of = d => inverted ? top + d * rowHeight : height - bottom - (d + 1) * rowHeight;

    const addBox = (into, i, x, w, above) => {
        const g = make("g", { class: above ? "func_g above" : "func_g" });
        const y = top_of(depth[i]), label = shortened(name(i), w - 6);
        g.append(make("rect", { x: x.toFixed(1), y, width: (w > 2 ? w - 0.5 : w).toFixed(1), height: rowHeight - 1,
            fill: colour(i), rx: 1 }));
        if (label)
            g.append(make("text", { x: (x + 3).toFixed(1), y: y + (rowHeight + fontSize * 0.7) / 2 - 0.5 }, label));
        g.node = i;
        drawn.set(i, g);
        (rows[depth[i]] = rows[depth[i]] || []).push(i);
        into.append(g);
    };

    const eachShown = (visit, least) => {
        const scale = (width - 2 * pad) / (total[zoom] || 1);
        for (let i = zoom; i < end[zoom];) {
            const w = total[i] * scale;
            if (w >= least)
                visit(i, pad + (start[i] - start[zoom]) * scale, w);
            i = w >= least ? i + 1 : end[i];
        }
    };

    const resize = () => {
        let deepest = depth[zoom];
        if (alone && !data.width) {
            svg.setAttribute("width", "100%");
            width = Math.max(320, svg.getBoundingClientRect().width || window.innerWidth);
        }
        data.minWidth = data.minPercent ? data.minPercent / 100 * (width - 2 * pad) : data.minWidth;
        eachShown(i => { deepest = Math.max(deepest, depth[i]); }, data.minWidth);
        height = Math.max(height, top + bottom + (deepest + 1) * rowHeight);
        svg.setAttribute("height", height);
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.querySelectorAll(".back").forEach(e => e.setAttribute("width", width));
        part("back").setAttribute("height", height);
        svg.querySelectorAll(".middle").forEach(e => e.setAttribute("x", width / 2));
        svg.querySelectorAll("[data-right]").forEach(e => e.setAttribute("x", width - pad - e.dataset.right));
    };

    const draw = () => {
        const boxes = document.createDocumentFragment();
        resize();
        drawn = new Map();
        rows = [];
        largest = 0;
        if (difference)
            for (let i = 1; i < n; i++)
                largest = Math.max(largest, Math.abs(change(i)));
        for (let i = parent[zoom]; i >= 0; i = parent[i])
            addBox(boxes, i, pad, width - 2 * pad, true);
        eachShown((i, x, w) => addBox(boxes, i, x, w, false), data.minWidth);
        frames.replaceChildren(boxes);
        part("unzoom").classList.toggle("hidden", !zoom);
        markHits();
        markSelected();
        stick();
    };

    for (const [band, y, h] of [[head, 0, top], [foot, 0, bottom]])
        band.prepend(make("rect", { class: "back hidden", x: 0, y, height: h, fill: data.background }));

    // Keeps head and foot in the window while a tall flame graph is scrolled.
    const stick = () => {
        const seen = alone ? window.innerHeight : height, at = alone ? window.scrollY : 0;
        head.setAttribute("transform", `translate(0,${height > seen ? at : 0})`);
        foot.setAttribute("transform", `translate(0,${height > seen ? at + seen - bottom : height - bottom})`);
        head.firstElementChild.classList.toggle("hidden", height <= seen);
        foot.firstElementChild.classList.toggle("hidden", height <= seen);
    };

    // ---- details of a frame ----

    const tell = () => {
        const i = hovered >= 0 ? hovered : selected;
        legend.classList.toggle("hidden", i >= 0);
        if (i < 0) {
            details.textContent = numbers.textContent = "";
            return;
        }
        const own = total[i] - inner[i];
        let text = module(i) ? `in ${module(i)}: ` : "";
        text += `${count(total[i])} ${data.countName}, ${percent(total[i], total[0])} of all`;
        text += zoom && depth[i] >= depth[zoom] ? `, ${percent(total[i], total[zoom])} of the zoom` : "";
        text += `, self ${percent(own, total[0])}`;
        if (difference)
            text += `; ${signed(100 * (difference.negate ? -1 : 1) * change(i) / total[0])} ` +
                `(${difference.name}: ${percent(before[i], total[0])})`;
        details.textContent = shortened(data.nameType + " " + name(i), width - 2 * pad);
        numbers.textContent = text;
    };
    const title = i => {
        let text = `${name(i)} (${count(total[i])} ${data.countName}, ${i ? percent(total[i], total[0]) : "100%"}`;
        if (difference && i)
            text += `; ${signed(100 * (difference.negate ? -1 : 1) * change(i) / total[0])}`;
        return text + ")" + (module(i) ? "\n" + module(i) : "");
    };

    // ---- zoom and selection ----

    const markSelected = () => {
        frames.querySelectorAll(".selected").forEach(g => g.classList.remove("selected"));
        const g = drawn.get(selected);
        if (g) {
            g.classList.add("selected");
            frames.append(g); // draws its outline above adjacent frames
        }
        tell();
    };
    const reveal = i => {
        const y = top_of(depth[i]), seen = window.innerHeight;
        if (!alone || height <= seen)
            return;
        if (y < window.scrollY + top)
            window.scrollTo(window.scrollX, y - top);
        else if (y + rowHeight > window.scrollY + seen - bottom)
            window.scrollTo(window.scrollX, y + rowHeight - seen + bottom);
    };
    const select = i => {
        selected = i;
        hovered = -1;
        resting = mouse;
        markSelected();
        reveal(i);
    };
    const remember = () => {
        const state = (zoom ? "zoom=" + zoom : "") + (zoom && term ? "&" : "") +
            (term ? "search=" + encodeURIComponent(term) : "");
        if (alone)
            try {
                history.replaceState(null, "", "#" + state);
            } catch (e) { /* not allowed for some file locations; nothing depends on it */ }
    };
    const go = i => {
        zoom = i;
        selected = i || -1;
        hovered = -1;
        draw();
        remember();
    };
    const zoomTo = i => {
        if (i === zoom)
            return;
        back.push(zoom);
        go(i);
        reveal(i);
    };
    const reset = () => {
        back = [];
        go(0);
    };
    const goBack = () => {
        const was = zoom;
        if (!zoom)
            return;
        go(back.length ? back.pop() : 0);
        if (drawn.has(was))
            select(was);
    };
    const sideways = step => {
        const row = rows[depth[selected]] || [], next = row[row.indexOf(selected) + step];
        if (next !== undefined)
            select(next);
    };
    const deeper = () => {
        let best = -1;
        for (let i = selected + 1; i < end[selected]; i = end[i])
            if (drawn.has(i) && (best < 0 || total[i] > total[best]))
                best = i;
        if (best >= 0)
            select(best);
    };
    const walk = key => {
        if (selected < 0)
            return select(zoom);
        if (key === "ArrowLeft" || key === "ArrowRight")
            return sideways(key === "ArrowLeft" ? -1 : 1);
        if ((key === "ArrowUp") === !inverted)
            return deeper();
        if (parent[selected] >= 0)
            select(parent[selected]);
    };

    // ---- search ----

    let term = "", input = null;
    const matched = make("text", { id: "matched", class: "ink", "text-anchor": "end", "font-weight": "bold",
        y: bottom - fontSize, "data-right": 0 });

    const markHits = () => {
        frames.classList.toggle("searching", !!hits);
        for (const [i, g] of drawn)
            g.classList.toggle("hit", !!hits && i > 0 && hits[func[i]] === 1);
        matched.textContent = "";
        if (!hits)
            return;
        let weight = 0, boxes = 0, covered = 0;
        for (let i = zoom || 1; i < end[zoom]; i++) {
            if (!hits[func[i]])
                continue;
            boxes++;
            if (i >= covered) { // the subtree of a match counts once
                weight += total[i];
                covered = end[i];
            }
        }
        matched.textContent = `Matched: ${(total[zoom] ? 100 * weight / total[zoom] : 0).toFixed(1)}%` +
            `${zoom ? " of the zoom" : ""} (${count(boxes)} box${boxes === 1 ? "" : "es"})`;
    };
    // Searches for a regular expression. Without capitals it ignores case.
    const search = text => {
        let pattern = null;
        try {
            pattern = text ? new RegExp(text, text === text.toLowerCase() ? "i" : "") : null;
            input.classList.remove("wrong");
        } catch (e) {
            input.classList.add("wrong");
            return;
        }
        term = text;
        hits = pattern && data.names.map(s => pattern.test(s) ? 1 : 0);
        markHits();
        remember();
    };
    const nextHit = step => {
        const found = Array.from(drawn.keys()).filter(i => i && hits && hits[func[i]] === 1).sort((a, b) => a - b);
        if (!found.length)
            return;
        const at = step > 0 ? found.findIndex(i => i > selected) : found.findLastIndex(i => i < selected);
        select(found[at >= 0 ? at : step > 0 ? 0 : found.length - 1]);
    };
    const openSearch = () => {
        part("searchbox").classList.remove("hidden");
        part("search").classList.add("hidden");
        input.focus();
        input.select();
    };
    const closeSearch = () => {
        input.value = "";
        search("");
        input.blur();
        part("searchbox").classList.add("hidden");
        part("search").classList.remove("hidden");
    };
    const makeSearch = () => {
        const box = make("foreignObject", { id: "searchbox", class: "hidden", y: fontSize * 0.8, width: 250,
            height: fontSize * 1.9, "data-right": 310 });
        input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
        input.setAttribute("type", "text");
        input.setAttribute("spellcheck", "false");
        input.setAttribute("placeholder", "search: a regular expression");
        input.addEventListener("input", () => search(input.value));
        input.addEventListener("keydown", e => {
            e.stopPropagation();
            if (e.key === "Enter")
                input.blur();
            else if (e.key === "Escape")
                closeSearch();
        });
        box.append(input);
        head.append(box);
        foot.append(matched);
    };

    // ---- buttons, colours, help ----

    const button = (id, text, right, does) => {
        const b = make("text", { id, class: "button", y: fontSize * 2 }, text);
        if (right === null)
            b.setAttribute("x", pad);
        else {
            b.setAttribute("text-anchor", "end");
            b.dataset.right = right;
        }
        b.addEventListener("click", does);
        head.append(b);
    };
    const setTheme = dark => {
        svg.classList.toggle("dark", dark);
        svg.classList.toggle("light", !dark);
    };
    const help = () => {
        const open = part("sheet");
        if (open)
            return open.remove();
        const lines = ["click, Enter    zoom into a frame", "Esc, Backspace  one step back", "r, Home         reset zoom",
            "arrows          move the selection", "/, Ctrl-F       search (lower case ignores case)",
            "n, N            next, previous match", "t               dark, light", "?               this help"];
        const w = (Math.max(...lines.map(line => line.length)) + 4) * charWidth;
        const sheet = make("g", { id: "sheet", transform: `translate(${Math.max(0, width - pad - w)},${top})` });
        sheet.append(make("rect", { class: "sheet", width: w, height: (lines.length + 1) * fontSize * 1.6, rx: 4 }));
        lines.forEach((line, i) => sheet.append(make("text", { class: "ink", x: charWidth * 2, "xml:space": "preserve",
            style: "white-space: pre", y: (i + 1.4) * fontSize * 1.6 }, line)));
        head.append(sheet);
    };

    // ---- mouse and keys ----

    const boxAt = e => {
        const g = e.target.closest && e.target.closest(".func_g");
        return g && g.node !== undefined ? g : null;
    };
    frames.addEventListener("click", e => {
        const g = boxAt(e);
        if (g)
            zoomTo(g.node);
    });
    // A frame that moves under a resting mouse is not hovered.
    document.addEventListener("mousemove", e => { mouse = [e.screenX, e.screenY].join(); });
    frames.addEventListener("mouseover", e => {
        const g = boxAt(e);
        if (!g || [e.screenX, e.screenY].join() === resting)
            return;
        resting = "";
        hovered = g.node;
        if (!g.querySelector("title"))
            g.prepend(make("title", {}, title(g.node)));
        tell();
    });
    frames.addEventListener("mouseleave", () => {
        hovered = -1;
        tell();
    });
    const keys = {
        Enter: () => selected >= 0 && zoomTo(selected),
        Escape: () => part("sheet") ? help() : hits ? closeSearch() : zoom ? goBack() : (selected = -1, markSelected()),
        Backspace: goBack, Home: reset, r: reset, "/": openSearch, F3: openSearch, n: () => nextHit(1), N: () => nextHit(-1),
        t: () => setTheme(!svg.classList.contains("dark")), "?": help,
        ArrowLeft: walk, ArrowRight: walk, ArrowUp: walk, ArrowDown: walk,
    };
    document.addEventListener("keydown", e => {
        const find = (e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "f";
        const does = find ? openSearch : e.ctrlKey || e.metaKey || e.altKey ? null : keys[e.key];
        if (!does || !(alone || svg.contains(e.target) || find))
            return;
        e.preventDefault();
        does(e.key);
    });
    window.addEventListener("resize", () => {
        if (alone && !data.width)
            draw();
        else
            stick();
    });
    window.addEventListener("scroll", stick);

    button("unzoom", "Reset zoom", null, reset);
    button("help", "?", 0, help);
    button("theme", "\u25d0", 22, () => keys.t());
    button("search", "Search", 48, openSearch);
    makeSearch();
    if (!svg.classList.contains("light"))
        setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
    const asked = new URLSearchParams(alone ? location.hash.slice(1) : "");
    if (asked.get("zoom") > 0 && asked.get("zoom") < n)
        zoom = Math.floor(asked.get("zoom"));
    draw();
    if (asked.get("search")) {
        openSearch();
        input.value = asked.get("search");
        search(input.value);
        input.blur();
    }
    if (alone && !inverted)
        window.scrollTo(0, height);
})();
