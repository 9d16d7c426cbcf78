//! The page of a ranking: leaderboard with its intervals, who beats whom, judges, what to compare next.

mod words;

use quorate::ranking::{Comparisons, JudgeFit, NextPair, Ranked, Standing};
use serde_json::{Value, json};

pub use words::findings;

use crate::figure::{self, Style};
use crate::page::Page;
use crate::sections::{Section, table};
use crate::tables::pack;
use crate::text::{count, percent, plain, plural, sentence, shown};

/// Items in the heat map.
const MAX_HEAT: usize = 30;

/// Comparisons that are proposed.
const NEXT: usize = 50;

/// Rows of a table that are embedded.
const MAX_ROWS: usize = 20_000;

/// What a page of rankings is made of.
#[derive(Clone, Copy)]
pub struct RankReport<'a> {
    /// Its title.
    pub title: &'a str,
    /// What was ranked; several where tables are kept apart by a column.
    pub ranked: &'a [Ranked],
    /// Level of the intervals.
    pub level: f64,
    /// Turns a score of the method into one that is shown.
    pub scale: fn(f64) -> f64,
    /// The seed of the fits.
    pub seed: u64,
    /// Whether tables that are downloaded from the page have an apostrophe before text that a spreadsheet would take
    /// for a formula.
    pub spreadsheet_safe: bool,
}

impl RankReport<'_> {
    /// The page.
    pub fn to_html(&self) -> String {
        let mut lists = serde_json::Map::new();
        let mut sections = Vec::new();
        for (place, ranked) in self.ranked.iter().enumerate() {
            sections.extend(Part::new(self, ranked, place).sections(&mut lists));
        }
        Page {
            title: self.title,
            story: self.story(),
            sections,
            data: pack(&json!({ "lists": lists, "spreadsheet_safe": self.spreadsheet_safe })),
            method: self.ranked.first().map_or("", |ranked| ranked.fit.method),
            seed: self.seed,
        }
        .to_html()
    }

    /// The top of the page: sizes, and what is settled.
    fn story(&self) -> String {
        let mut html = String::from("<div class=\"numbers\">\n");
        let sum = |size: fn(&Ranked) -> usize| self.ranked.iter().map(size).sum::<usize>();
        let largest = |size: fn(&Ranked) -> usize| self.ranked.iter().map(size).max().unwrap_or(0);
        let pairs = |size: fn(&Comparisons) -> usize| {
            self.ranked
                .iter()
                .filter_map(|ranked| ranked.pairs())
                .map(size)
                .max()
        };
        let numbers = [
            (Some(largest(|ranked| ranked.items().len())), "items"),
            (
                Some(sum(|ranked| ranked.pairs().map_or(0, |pairs| pairs.len()))).filter(|&rows| rows > 0),
                "comparisons",
            ),
            (
                pairs(|pairs| pairs.judges().len()).filter(|&judges| judges > 0),
                "judges",
            ),
            (
                pairs(|pairs| pairs.prompts().len()).filter(|&prompts| prompts > 0),
                "prompts",
            ),
        ];
        for (number, what) in numbers {
            if let Some(number) = number {
                html.push_str(&format!(
                    "<div><strong>{}</strong><span>{what}</span></div>\n",
                    count(number)
                ));
            }
        }
        html.push_str("</div>\n");
        let several = self.ranked.len() > 1;
        let mut more = Vec::new();
        for ranked in self.ranked {
            let found = findings(ranked, self.level);
            let place = ranked.by.as_ref().map_or(String::new(), |by| format!("{by}: "));
            let mut found = found.into_iter().map(|line| sentence(&format!("{place}{line}")));
            if !several && let Some(first) = found.next() {
                html.push_str(&format!("<p class=\"lead\">{first}</p>\n"));
            }
            more.extend(if several {
                found.take(1).collect::<Vec<_>>()
            } else {
                found.collect()
            });
            more.extend(
                ranked
                    .fit
                    .warnings
                    .iter()
                    .map(|warning| sentence(&format!("{place}{warning}"))),
            );
        }
        if !more.is_empty() {
            html.push_str("<ul class=\"next\">\n");
            more.iter()
                .for_each(|line| html.push_str(&format!("<li>{line}</li>\n")));
            html.push_str("</ul>\n");
        }
        html
    }
}

/// The sections of one table.
struct Part<'a> {
    page: &'a RankReport<'a>,
    ranked: &'a Ranked,
    place: usize,
}

/// A table that the script shows: its columns, of which the first names the row.
struct List {
    file: &'static str,
    hint: &'static str,
    columns: Vec<(&'static str, &'static str, Vec<Value>)>,
}

impl List {
    fn to_json(&self) -> Value {
        let column = |(title, kind, values): &(&str, &str, Vec<Value>)| json!({ "title": title, "kind": kind, "values": values });
        json!({ "file": self.file, "hint": self.hint, "columns": self.columns.iter().map(column).collect::<Vec<_>>() })
    }

    /// The first rows, for pages without a script.
    fn rows(&self) -> impl Iterator<Item = String> + '_ {
        let cell = |value: &Value, kind: &str| match (value, kind) {
            (Value::String(text), _) => format!("<bdi>{}</bdi>", shown(text)),
            (Value::Number(number), "count") => count(number.as_f64().unwrap_or(0.0) as usize),
            (Value::Number(number), "percent") => percent(number.as_f64().unwrap_or(0.0)),
            (Value::Number(number), _) => format!("{:.2}", number.as_f64().unwrap_or(0.0)),
            _ => String::new(),
        };
        (0..self.columns[0].2.len()).map(move |row| {
            let mut html = String::from("<tr>");
            for (at, (_, kind, values)) in self.columns.iter().enumerate() {
                let text = cell(&values[row], kind);
                html.push_str(&match (at, *kind) {
                    (0, _) => format!("<th scope=\"row\">{text}</th>"),
                    (_, "text") => format!("<td>{text}</td>"),
                    _ => format!("<td class=\"number\">{text}</td>"),
                });
            }
            html.push_str("</tr>\n");
            html
        })
    }
}

impl<'a> Part<'a> {
    fn new(page: &'a RankReport<'a>, ranked: &'a Ranked, place: usize) -> Self {
        Self { page, ranked, place }
    }

    fn sections(&self, lists: &mut serde_json::Map<String, Value>) -> Vec<Section> {
        let mut sections = vec![self.section("leaderboard", "Leaderboard", self.leaderboard(lists))];
        if self.ranked.standings.len() > 1 {
            sections.push(self.section("wins", "Who beats whom", self.wins()));
        }
        if self.ranked.pairs().is_some() && !self.ranked.fit.judges.is_empty() {
            sections.push(self.section("judges", "Judges", self.judges(lists)));
        }
        let next = self
            .ranked
            .pairs()
            .map(|_| self.ranked.fit.next_pairs(NEXT))
            .unwrap_or_default();
        if !next.is_empty() {
            sections.push(self.section("next", "What to compare next", self.next(&next, lists)));
        }
        sections
    }

    fn id(&self, name: &str) -> String {
        if self.place == 0 {
            name.to_owned()
        } else {
            format!("{name}-{}", self.place + 1)
        }
    }

    fn section(&self, name: &str, title: &str, body: String) -> Section {
        let title = self
            .ranked
            .by
            .as_ref()
            .map_or(title.to_owned(), |by| format!("{by}: {title}"));
        Section::new(self.id(name), title, body)
    }

    fn name(&self, item: usize) -> Value {
        json!(plain(self.ranked.items().get(item)))
    }

    fn list(
        &self,
        name: &str,
        caption: &str,
        list: &List,
        lists: &mut serde_json::Map<String, Value>,
    ) -> String {
        let id = self.id(name);
        let heads: Vec<&str> = list.columns.iter().map(|column| column.0).collect();
        let html = table(&id, caption, &heads, list.rows());
        lists.insert(id, list.to_json());
        html
    }

    fn leaderboard(&self, lists: &mut serde_json::Map<String, Value>) -> String {
        let Ranked { standings, fit, .. } = self.ranked;
        let scale = self.page.scale;
        let level = format!("{:.0} %", 100.0 * self.page.level);
        let mut html = if fit.uncertainty.is_some() {
            format!(
                "<p>Scores with intervals of {level}: two items whose intervals overlap may still be settled, and the column \
                 &ldquo;better than next&rdquo; says how likely. The ranks are those that the comparisons leave open at {level}.</p>\n"
            )
        } else {
            String::from("<p>This method has no intervals.</p>\n")
        };
        let chart = figure::leaderboard::draw(self.ranked.items(), standings, scale, Style::Inline);
        html.push_str(&format!(
            "<div class=\"chart wide\" role=\"region\" tabindex=\"0\" aria-label=\"Scores\">{chart}</div>\n"
        ));
        let shown = &standings[..standings.len().min(MAX_ROWS)];
        let column = |value: &dyn Fn(&Standing) -> Value| shown.iter().map(value).collect::<Vec<_>>();
        let groups = standings.iter().any(|standing| standing.group > 0);
        let ranks = |standing: &Standing| match standing.ranks {
            Some((best, worst)) => json!(format!("{best} to {worst}")),
            None => Value::Null,
        };
        let mut columns = vec![
            ("Item", "text", column(&|standing| self.name(standing.item))),
            ("Rank", "count", column(&|standing| json!(standing.rank))),
            ("Ranks", "text", column(&ranks)),
            (
                "Score",
                "number",
                column(&|standing| number(scale(standing.score))),
            ),
            (
                "Low",
                "number",
                column(&|standing| json!(standing.interval.map(|ends| number(scale(ends.0))))),
            ),
            (
                "High",
                "number",
                column(&|standing| json!(standing.interval.map(|ends| number(scale(ends.1))))),
            ),
            (
                "Better than next",
                "percent",
                column(&|standing| json!(standing.better_than_next.map(number))),
            ),
            ("Won", "count", column(&|standing| number(standing.wins))),
            ("Lost", "count", column(&|standing| number(standing.losses))),
            ("Tied", "count", column(&|standing| number(standing.ties))),
        ];
        if groups {
            columns.push(("Group", "count", column(&|standing| json!(standing.group + 1))));
        }
        let list = List {
            file: "leaderboard.csv",
            hint: "item",
            columns,
        };
        html.push_str(&self.list("leaderboard", "Leaderboard", &list, lists));
        html
    }

    /// Rows beat columns.
    fn wins(&self) -> String {
        let Ranked { fit, standings, .. } = self.ranked;
        let order: Vec<usize> = standings
            .iter()
            .take(MAX_HEAT)
            .map(|standing| standing.item)
            .collect();
        let met = self.met(&order);
        let which = if standings.len() > MAX_HEAT {
            format!("the first {MAX_HEAT} items")
        } else {
            plural(order.len(), "item")
        };
        let mut html = format!(
            "<p>How often the item of the row would win against the item of the column, ties counted half, for {which}. Pale \
             numbers are pairs that never met: they follow from the others.</p>\n<div class=\"scroll\" role=\"region\" \
             tabindex=\"0\" aria-label=\"Who beats whom\"><table class=\"heat small\"><caption>Chance that the row wins, %\
             </caption>\n<thead><tr><td></td>"
        );
        let name = |item: usize| shown(self.ranked.items().get(item));
        order
            .iter()
            .for_each(|&item| html.push_str(&format!("<th scope=\"col\"><bdi>{}</bdi></th>", name(item))));
        html.push_str("</tr></thead>\n<tbody>\n");
        for (row, &i) in order.iter().enumerate() {
            html.push_str(&format!("<tr><th scope=\"row\"><bdi>{}</bdi></th>", name(i)));
            for (column, &j) in order.iter().enumerate() {
                html.push_str(&if i == j {
                    "<td class=\"self\"><span class=\"hidden\">same item</span></td>".to_owned()
                } else if let Some(chance) = fit.win_probability(i, j) {
                    let shade = (10.0 * chance).round() as usize;
                    let pale = if met[row * order.len() + column] {
                        ""
                    } else {
                        " pale"
                    };
                    format!("<td class=\"number h{shade}{pale}\">{:.0}</td>", 100.0 * chance)
                } else {
                    "<td><span class=\"hidden\">cannot be compared</span></td>".to_owned()
                });
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
        html
    }

    /// Which of these items met.
    fn met(&self, order: &[usize]) -> Vec<bool> {
        let size = order.len();
        let Some(pairs) = self.ranked.pairs() else {
            return vec![true; size * size];
        };
        let mut place = vec![usize::MAX; pairs.items().len()];
        order.iter().enumerate().for_each(|(at, &item)| place[item] = at);
        let mut met = vec![false; size * size];
        for row in pairs.iter() {
            let (a, b) = (place[row.left as usize], place[row.right as usize]);
            if a < size && b < size {
                met[a * size + b] = true;
                met[b * size + a] = true;
            }
        }
        met
    }

    fn judges(&self, lists: &mut serde_json::Map<String, Value>) -> String {
        let fit = &self.ranked.fit;
        let names = self.ranked.pairs().map(|pairs| pairs.judges());
        let mut order = fit.judges_worth_a_look();
        let mut listed = vec![false; fit.judges.len()];
        order.iter().for_each(|&judge| listed[judge] = true);
        let mut others: Vec<usize> = (0..fit.judges.len()).filter(|&judge| !listed[judge]).collect();
        others.sort_by(|&a, &b| {
            fit.judges[b]
                .comparisons
                .total_cmp(&fit.judges[a].comparisons)
                .then(a.cmp(&b))
        });
        let worth = order.len();
        order.extend(others);
        order.truncate(MAX_ROWS);
        let column = |value: &dyn Fn(&JudgeFit) -> Value| {
            order
                .iter()
                .map(|&judge| value(&fit.judges[judge]))
                .collect::<Vec<_>>()
        };
        let name = |&judge: &usize| json!(names.map(|names| plain(names.get(judge))));
        let mut columns = vec![
            ("Judge", "text", order.iter().map(name).collect()),
            (
                "Worth a look",
                "text",
                column(&|judge| json!(judge.verdict().to_string())),
            ),
            ("Comparisons", "count", column(&|judge| number(judge.comparisons))),
            (
                "Agreement",
                "percent",
                column(&|judge| json!(judge.agreement().map(number))),
            ),
            ("Ties", "percent", column(&|judge| number(judge.tie_rate()))),
        ];
        if fit.judges.iter().any(|judge| judge.model.is_some()) {
            columns.push((
                "Discrimination",
                "number",
                column(&|judge| json!(judge.model.map(|model| number(model.discrimination)))),
            ));
            let lead = |judge: &JudgeFit| json!(judge.model.map(|model| number(model.side_points() / 100.0)));
            columns.push(("Left lead", "percent", column(&lead)));
        }
        if fit.judges.iter().any(|judge| judge.swaps.pairs > 0) {
            columns.push((
                "Self-agreement",
                "percent",
                column(&|judge| json!(judge.self_agreement().map(number))),
            ));
        }
        let list = List {
            file: "judges.csv",
            hint: "judge or what is worth a look",
            columns,
        };
        let mut html = format!(
            "<p>{} of {} worth a look; they stand first. Agreement: answers that prefer the item with the higher score. \
             Discrimination: how well a judge tells items apart; 1 is usual, 0 is chance. Left lead: by how much the left side \
             wins between equal items. Self-agreement: the same answer in both orders.</p>\n",
            count(worth),
            plural(fit.judges.len(), "judge")
        );
        html.push_str(&self.list("judges", "Judges", &list, lists));
        html
    }

    fn next(&self, next: &[NextPair], lists: &mut serde_json::Map<String, Value>) -> String {
        let judges = self.ranked.pairs().map(|pairs| pairs.judges());
        let column = |value: &dyn Fn(&NextPair) -> Value| next.iter().map(value).collect::<Vec<_>>();
        let mut columns = vec![
            ("Left", "text", column(&|next| self.name(next.left))),
            ("Right", "text", column(&|next| self.name(next.right))),
        ];
        let with_judges = next.iter().any(|next| next.judge.is_some());
        if with_judges {
            let judge = |next: &NextPair| json!(next.judge.and_then(|judge| Some(plain(judges?.get(judge)))));
            columns.push(("Judge", "text", column(&judge)));
        }
        columns.push((
            "Settled so far",
            "percent",
            column(&|next| number(next.better.max(1.0 - next.better))),
        ));
        let list = List {
            file: "next-comparisons.csv",
            hint: "item or judge",
            columns,
        };
        let turns = if with_judges {
            " Judges who tell items apart best take turns."
        } else {
            ""
        };
        let mut html = format!(
            "<p>The comparisons that would help the ranking most, the most helpful first.{turns}</p>\n"
        );
        html.push_str(&self.list("next", "What to compare next", &list, lists));
        html
    }
}

/// A number that JSON can hold, short enough for a page.
fn number(value: f64) -> Value {
    json!((1e4 * value).round() / 1e4)
}
