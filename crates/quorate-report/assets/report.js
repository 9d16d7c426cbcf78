"use strict";
// Shows the tables of tasks and workers in pages. Text gets into the page as text only, never as HTML.
(async () => {
  const ROWS = 25;
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = await new Response(stream).json();

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };
  const name = (text) => make("bdi", {}, text);
  const percent = (share) => (share === null ? "" : (100 * share).toFixed(1) + " %");
  const className = (code) => (code === null || code === undefined ? "" : data.classes[code] ?? "another class");

  const votes = (text) =>
    text === "" ? "" : text.split(" ").map((vote) => {
      const [code, number] = vote.split(":");
      return className(Number(code)) + " ×" + number;
    }).join(", ");

  const matrix = (cells) => {
    const size = data.classes.length;
    const head = make("tr", {}, make("td"), ...data.classes.map((c) => make("th", { scope: "col" }, name(c))));
    const body = make("tbody");
    for (let truth = 0; truth < size; truth += 1) {
      const row = make("tr", {}, make("th", { scope: "row" }, name(data.classes[truth])));
      for (let answer = 0; answer < size; answer += 1) {
        const share = cells[answer * size + truth] / 1000;
        row.append(make("td", { class: "number h" + Math.round(10 * share) }, (100 * share).toFixed(0)));
      }
      body.append(row);
    }
    return make("table", { class: "heat" }, make("caption", {}, "How often each answer (columns) is given where a class is true (rows), %"),
      make("thead", {}, head), body);
  };

  const meter = (low, value, high) => {
    if (low === null || low === undefined || value === null) return "";
    const box = make("span", { class: "meter", "aria-hidden": "true" });
    const bar = make("i");
    bar.style.left = 100 * low + "%";
    bar.style.width = 100 * (high - low) + "%";
    const mark = make("b");
    mark.style.left = "calc(" + 100 * value + "% - 1px)";
    box.append(bar, mark);
    return box;
  };

  const { tasks, workers } = data;
  const kindWords = {
    "no-labels": "no labels", "single-label": "only one label", "split-votes": "split votes",
    "changed-from-majority": "differs from majority vote", "misleading-task": "misleading task",
    "low-confidence": "low confidence", "tipped-by": "decided by one worker",
  };

  const tables = !tasks ? {} : {
    tasks: {
      size: tasks.id.length,
      file: "tasks-to-review.csv",
      search: (i) => tasks.id[i] + " " + className(tasks.label[i]) + " " + tasks.why[i] + " " + (tasks.text?.[i] ?? ""),
      kinds: Object.entries(kindWords),
      kind: (i) => tasks.kinds[i].split(" "),
      kindLabel: "Reason",
      hint: "id, label or reason",
      columns: [
        { title: "Task", value: (i) => tasks.id[i], head: true, cell: (i) => {
          const shown = tasks.url ? make("a", { href: tasks.url[i], rel: "noreferrer" }, name(tasks.id[i])) : name(tasks.id[i]);
          const text = tasks.text?.[i];
          return text ? [shown, make("div", { class: "text" }, text)] : [shown];
        } },
        { title: "Label", value: (i) => className(tasks.label[i]), cell: (i) => [name(className(tasks.label[i]))] },
        { title: "Confidence", number: true, value: (i) => tasks.confidence[i] / 1e4, cell: (i) => [percent(tasks.confidence[i] / 1e4)] },
        { title: "Next", value: (i) => className(tasks.second[i]), cell: (i) => [name(className(tasks.second[i]))] },
        ...(tasks.truth ? [{ title: "Truth", value: (i) => className(tasks.truth[i]), cell: (i) => [name(className(tasks.truth[i]))] }] : []),
        { title: "Votes", value: (i) => votes(tasks.votes[i]), cell: (i) => [votes(tasks.votes[i])] },
        { title: "Why", value: (i) => tasks.why[i], cell: (i) => [tasks.why[i]] },
      ],
    },
    workers: {
      size: workers.id.length,
      file: "workers.csv",
      search: (i) => workers.id[i] + " " + workers.verdict[i],
      kinds: [...new Set(workers.verdict)].sort().map((verdict) => [verdict, verdict]),
      kind: (i) => [workers.verdict[i]],
      kindLabel: "Verdict",
      hint: "id or verdict",
      detail: workers.confusion ? (i) => matrix(workers.confusion[i]) : null,
      columns: [
        { title: "Worker", value: (i) => workers.id[i], head: true, cell: (i) => [name(workers.id[i])] },
        { title: "Labels", number: true, value: (i) => workers.labels[i], cell: (i) => [workers.labels[i].toLocaleString("en")] },
        { title: "Accuracy", number: true, value: (i) => workers.accuracy[i], cell: (i) => [percent(workers.accuracy[i])] },
        { title: "Interval", whole: true, value: (i) => workers.low[i], csv: (i) => (workers.low[i] === null ? "" : workers.low[i] + " to " + workers.high[i]),
          cell: (i) => (workers.low[i] === null ? [""] : [meter(workers.low[i], workers.accuracy[i], workers.high[i]),
            " " + (100 * workers.low[i]).toFixed(0) + " to " + percent(workers.high[i])]) },
        { title: "Verdict", value: (i) => workers.verdict[i], cell: (i) => [workers.verdict[i]] },
        { title: "What to do", value: (i) => workers.advice[i], cell: (i) => [workers.advice[i]] },
      ],
    },
  };

  // Tables that say for themselves what their columns hold.
  const cells = {
    text: (value) => [value === null ? "" : name(value)],
    count: (value) => [value === null ? "" : value.toLocaleString("en")],
    number: (value) => [value === null ? "" : value.toFixed(2)],
    percent: (value) => [percent(value)],
  };
  for (const [id, list] of Object.entries(data.lists ?? {})) {
    tables[id] = {
      size: list.columns[0].values.length,
      file: list.file,
      hint: list.hint,
      search: (i) => list.columns.filter((column) => column.kind === "text").map((column) => column.values[i] ?? "").join(" "),
      columns: list.columns.map(({ title, kind, values }, at) => ({
        title, head: at === 0, number: kind !== "text", value: (i) => values[i], cell: (i) => cells[kind](values[i]),
      })),
    };
  }

  const task = (ids) => ({ title: "Task", value: (i) => ids[i], head: true, cell: (i) => [name(ids[i])] });
  const worker = (ids) => ({ title: "Worker", value: (i) => ids[i], cell: (i) => [name(ids[i])] });
  const share = (title, steps) => ({ title, number: true, value: (i) => steps[i] / 1e4, cell: (i) => [percent(steps[i] / 1e4)] });
  const { plan, dispatch, retired } = data;
  if (plan) {
    tables.plan = {
      size: plan.task.length,
      file: "next-labels.csv",
      search: (i) => plan.task[i] + " " + plan.worker[i],
      kinds: [["corrects", "correct a label"], ["compares", "compare workers"]],
      kind: (i) => [plan.gain[i] > 0 ? "corrects" : "compares"],
      kindLabel: "Purpose",
      columns: [task(plan.task), worker(plan.worker),
        { title: "Gain", number: true, value: (i) => plan.gain[i] / 1e4, cell: (i) => [(plan.gain[i] / 1e4).toFixed(3)] },
        share("Confidence", plan.confidence)],
    };
    tables.retired = {
      size: retired.task.length,
      file: "tasks-done.csv",
      search: (i) => retired.task[i] + " " + className(retired.label[i]),
      columns: [task(retired.task),
        { title: "Label", value: (i) => className(retired.label[i]), cell: (i) => [name(className(retired.label[i]))] },
        share("Confidence", retired.confidence)],
    };
  }
  if (dispatch) {
    tables.dispatch = {
      size: dispatch.task.length,
      file: "labels-to-compare-workers.csv",
      search: (i) => dispatch.task[i] + " " + dispatch.worker[i],
      columns: [task(dispatch.task), worker(dispatch.worker)],
    };
  }

  // Where the page is to be spreadsheet-safe, text that a spreadsheet would take for a formula gets an apostrophe; numbers do not.
  const quote = (value) => {
    const isFormula = data.spreadsheet_safe && typeof value === "string" && /^[=+\-@\t\r]/.test(value);
    const text = (isFormula ? "'" : "") + String(value ?? "");
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const save = (file, rows) => {
    const text = rows.map((row) => row.map(quote).join(",") + "\n").join("");
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  // Languages order text differently; numbers inside ids count as numbers everywhere.
  const order = new Intl.Collator("en", { numeric: true }).compare;

  const show = (box, table) => {
    const caption = box.querySelector("caption").textContent;
    let shown = [...Array(table.size).keys()];
    let page = 0;
    let sorted = null;
    let falling = false;
    const opened = new Set();

    const search = make("input", { type: "search", placeholder: table.hint ?? "id" });
    const kind = make("select", {}, make("option", { value: "" }, "all"),
      ...(table.kinds ?? []).map(([value, words]) => make("option", { value }, words)));
    const download = make("button", { type: "button" }, "Download as CSV");
    const tools = make("div", { class: "tools" }, make("label", {}, "Search", search),
      table.kinds ? make("label", {}, table.kindLabel, kind) : null, download);
    // Roles in so many words: on a phone rows are cards, which may not be taken for a table.
    const head = make("tr", { role: "row" });
    const body = make("tbody", { role: "rowgroup" });
    const status = make("span", { role: "status" });
    const back = make("button", { type: "button" }, "Previous");
    const on = make("button", { type: "button" }, "Next");
    const element = make("table", { role: "table" }, make("caption", {}, caption), make("thead", { role: "rowgroup" }, head), body);
    const scroll = make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, element);
    box.replaceChildren(tools, scroll, make("div", { class: "pages" }, back, on, status));

    table.columns.forEach((column, at) => {
      const button = make("button", { type: "button" }, column.title);
      button.addEventListener("click", () => {
        falling = sorted === at ? !falling : Boolean(column.number) && column.title === "Labels";
        sorted = at;
        arrange();
      });
      head.append(make("th", { role: "columnheader", scope: "col", class: column.number ? "number" : null }, button));
    });
    if (table.detail) head.append(make("th", { role: "columnheader", scope: "col", class: "tool" }, "Errors"));

    const arrange = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      shown = [...Array(table.size).keys()].filter((i) => {
        if (kind.value !== "" && !table.kind(i).includes(kind.value)) return false;
        if (wanted.length === 0) return true;
        const text = table.search(i).toLowerCase();
        return wanted.every((word) => text.includes(word));
      });
      if (sorted !== null) {
        const { value, number } = table.columns[sorted];
        const keys = new Map(shown.map((i) => [i, value(i)]));
        const compare = (a, b) => (number ? (keys.get(a) ?? -1) - (keys.get(b) ?? -1) : order(String(keys.get(a) ?? ""), String(keys.get(b) ?? "")));
        shown.sort((a, b) => (falling ? compare(b, a) : compare(a, b)) || a - b);
      }
      [...head.children].forEach((cell, at) => {
        if (at === sorted) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      });
      page = 0;
      draw();
    };

    const rowOf = (i) => {
      const cells = table.columns.map((column) => column.head
        ? make("th", { role: "rowheader", scope: "row" }, ...column.cell(i))
        : make("td", { role: "cell", "data-head": column.title, class: column.number ? "number" : column.whole ? "whole" : null }, ...column.cell(i)));
      const row = make("tr", { role: "row" }, ...cells);
      if (!table.detail) return [row];
      const button = make("button", { type: "button", "aria-expanded": String(opened.has(i)), "aria-label": "How " + table.columns[0].value(i) + " errs" },
        opened.has(i) ? "Hide" : "Show");
      button.addEventListener("click", () => {
        const was = opened.delete(i);
        if (!was) opened.add(i);
        draw();
        [...body.querySelectorAll("button")].find((other) => other.getAttribute("aria-label") === button.getAttribute("aria-label"))?.focus();
      });
      row.append(make("td", { role: "cell", "data-head": "Errors", class: "tool" }, button));
      if (!opened.has(i)) return [row];
      return [row, make("tr", { role: "row", class: "detail" }, make("td", { role: "cell", colspan: String(table.columns.length + 1) }, table.detail(i)))];
    };

    const draw = () => {
      const pages = Math.max(1, Math.ceil(shown.length / ROWS));
      page = Math.min(page, pages - 1);
      const part = shown.slice(page * ROWS, (page + 1) * ROWS);
      body.replaceChildren(...part.flatMap(rowOf));
      if (part.length === 0) {
        body.append(make("tr", { role: "row" }, make("td", { role: "cell", colspan: String(table.columns.length + 1) }, "Nothing found.")));
      }
      const number = (value) => value.toLocaleString("en");
      status.textContent = "Page " + number(page + 1) + " of " + number(pages) + ", " + number(shown.length) + (shown.length === 1 ? " row" : " rows");
      back.disabled = page === 0;
      on.disabled = page === pages - 1;
    };

    back.addEventListener("click", () => { page -= 1; draw(); });
    on.addEventListener("click", () => { page += 1; draw(); });
    search.addEventListener("input", arrange);
    kind.addEventListener("change", arrange);
    download.addEventListener("click", () => {
      const row = (i) => table.columns.map((column) => (column.csv ?? column.value)(i));
      save(table.file, [table.columns.map((column) => column.title.toLowerCase()), ...shown.map(row)]);
    });
    draw();
  };

  for (const box of document.querySelectorAll("[data-table]")) show(box, tables[box.dataset.table]);
  // The tables that stand in the page as they are.
  for (const element of document.querySelectorAll("main .scroll > table")) {
    if (element.closest("[data-table]")) continue;
    const caption = element.caption.textContent;
    const download = make("button", { type: "button", "aria-label": "Download as CSV: " + caption }, "Download as CSV");
    download.addEventListener("click", () => {
      const text = (cell) => [...cell.childNodes].filter((part) => !part.classList?.contains("hidden")).map((part) => part.textContent).join("");
      save(caption.toLowerCase().replace(/[^a-z0-9]+/g, "-") + ".csv", [...element.rows].map((row) => [...row.cells].map(text)));
    });
    element.parentElement.after(make("div", { class: "tools" }, download));
  }
  document.body.dataset.ready = "true";
})();
