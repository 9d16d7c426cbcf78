//! Comparisons of two items, and rankings of several: one row for each answer.
//!
//! | columns | what they are |
//! |---|---|
//! | left, right, winner | a comparison; the winner as a side, as the item's name, as a tie, or both bad |
//! | chosen, rejected | a preference: the chosen item wins, and nobody knows which was shown first |
//! | item, rank | one place of a ranking, per judge and prompt |
//! | ranking | a whole ranking, from the best to the worst: a JSON list, or items with `>` between them |
//!
//! with judge, prompt and weight where they are there. Names are found in any case and under synonyms.

use std::collections::BTreeMap;

use quorate::Remedy;
use quorate::ranking::{BothBad, ComparisonTable, ComparisonsBuilder, Outcome, RankingsBuilder, ShownOrder};

use super::column_roles::stem;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{FileFormat, Row, RowSink, scan};
use crate::source::{Progress, Source};

/// How to read comparisons.
#[derive(Debug, Clone, Default)]
pub struct ComparisonOptions {
    /// The format, if the name does not tell it.
    pub format: Option<FileFormat>,
    /// Names of columns by what they hold (`left`, `right`, `winner`, `chosen`, `rejected`, `item`, `rank`,
    /// `ranking`, `judge`, `prompt`, `weight`), where they are not found by themselves.
    pub columns: Vec<(String, String)>,
    /// What becomes of rows that call both items bad.
    pub both_bad: BothBad,
    /// A column whose values are ranked apart.
    pub by: Option<String>,
}

/// Comparisons that were read, and what there is to say about them.
#[derive(Debug, Clone)]
pub struct ComparisonsRead {
    /// The table of each value of the column that was asked for, in the order of the values; one without a name
    /// where none was.
    pub tables: Vec<(Option<String>, ComparisonTable)>,
    /// What was read from which column.
    pub columns: Vec<(&'static str, String)>,
}

/// What a column of comparisons holds, and names for it without blanks, marks, capitals and an ending `id` or `name`.
const ROLES: [(&str, &[&str]); 11] = [
    (
        LEFT,
        &[
            "left",
            "modela",
            "itema",
            "a",
            "optiona",
            "answera",
            "responsea",
            "item1",
            "model1",
            "first",
            "leftitem",
            "leftmodel",
            "systema",
        ],
    ),
    (
        RIGHT,
        &[
            "right",
            "modelb",
            "itemb",
            "b",
            "optionb",
            "answerb",
            "responseb",
            "item2",
            "model2",
            "second",
            "rightitem",
            "rightmodel",
            "systemb",
        ],
    ),
    (
        WINNER,
        &[
            "winner",
            "preference",
            "preferred",
            "outcome",
            "result",
            "label",
            "verdict",
            "choice",
            "answer",
            "judgment",
            "judgement",
            "vote",
            "better",
        ],
    ),
    (CHOSEN, &["chosen", "preferreditem"]),
    (REJECTED, &["rejected", "loser"]),
    (RANKING, &["ranking", "order", "ranked"]),
    (ITEM, &["item", "model", "system", "option", "candidate"]),
    (RANK, &["rank", "place", "position"]),
    (
        JUDGE,
        &[
            "judge",
            "worker",
            "annotator",
            "rater",
            "user",
            "evaluator",
            "labeler",
            "labeller",
            "performer",
            "voter",
        ],
    ),
    (
        PROMPT,
        &[
            "prompt",
            "task",
            "question",
            "instruction",
            "query",
            "example",
            "unit",
            "input",
        ],
    ),
    (WEIGHT, &["weight", "count", "times"]),
];

const LEFT: &str = "left";
const RIGHT: &str = "right";
const WINNER: &str = "winner";
const CHOSEN: &str = "chosen";
const REJECTED: &str = "rejected";
const RANKING: &str = "ranking";
pub(super) const ITEM: &str = "item";
pub(super) const RANK: &str = "rank";
const JUDGE: &str = "judge";
const PROMPT: &str = "prompt";
const WEIGHT: &str = "weight";

/// The kinds of tables, by the columns that each needs.
const LAYOUTS: [&[&str]; 4] = [
    &[LEFT, RIGHT, WINNER],
    &[CHOSEN, REJECTED],
    &[RANKING],
    &[ITEM, RANK],
];

/// Whether columns of these names hold comparisons of two items: two columns of items and one that says which is
/// better, or chosen and rejected. Names that may be anything (`a`, `first`) do not count.
pub(crate) fn hold_comparisons(names: &[String]) -> bool {
    let clear: Vec<String> = names
        .iter()
        .filter(|name| !matches!(&*stem(name), "a" | "b" | "first" | "second"))
        .cloned()
        .collect();
    let has = |role: &str| find(&clear, role).is_some();
    (has(LEFT) && has(RIGHT) && has(WINNER)) || (has(CHOSEN) && has(REJECTED))
}

/// The error of a command that takes labels and was given comparisons.
pub(crate) fn are_comparisons() -> Error {
    ErrorKind::OtherKind {
        found: "comparisons of two items",
        expected: "labels",
        remedy: Remedy::RankComparisons,
    }
    .into()
}

/// The first column that has a role by its name.
pub(super) fn find(names: &[String], role: &str) -> Option<usize> {
    let (_, synonyms) = ROLES.iter().find(|known| known.0 == role)?;
    let stems: Vec<String> = names.iter().map(|name| stem(name)).collect();
    synonyms
        .iter()
        .find_map(|synonym| stems.iter().position(|stem| stem == synonym))
}

/// The columns that were chosen: their roles, in the order of the slots.
#[derive(Debug, Default)]
struct Layout {
    roles: Vec<&'static str>,
    names: Vec<String>,
    slots: Slots,
}

/// The slot of each role, looked up once for all rows.
#[derive(Debug, Default, Clone, Copy)]
struct Slots {
    left: Option<usize>,
    right: Option<usize>,
    winner: Option<usize>,
    chosen: Option<usize>,
    rejected: Option<usize>,
    ranking: Option<usize>,
    item: Option<usize>,
    rank: Option<usize>,
    judge: Option<usize>,
    prompt: Option<usize>,
    weight: Option<usize>,
    by: Option<usize>,
}

impl Layout {
    /// Chooses the columns of a table.
    fn choose(&mut self, names: &[String], options: &ComparisonOptions) -> Result<Vec<usize>> {
        let place = |role: &'static str| -> Result<Option<usize>> {
            let Some((_, wanted)) = options.columns.iter().find(|(known, _)| known == role) else {
                return Ok(find(names, role));
            };
            let found = names.iter().position(|name| name == wanted);
            found.map(Some).ok_or_else(|| missing(names, &[wanted]))
        };
        let given = |layout: &&[&'static str]| {
            options
                .columns
                .iter()
                .any(|(role, _)| layout.contains(&role.as_str()))
        };
        let mut places = BTreeMap::new();
        for (role, _) in ROLES {
            if let Some(place) = place(role)? {
                places.insert(role, place);
            }
        }
        let complete = |layout: &&&[&'static str]| layout.iter().all(|role| places.contains_key(role));
        let layouts = LAYOUTS
            .iter()
            .filter(|layout| given(layout))
            .chain(LAYOUTS.iter().filter(|layout| !given(layout)));
        let layout = layouts.clone().find(complete).or_else(|| {
            // The winner of a pair whose loser stands beside it.
            (places.contains_key(WINNER) && places.contains_key(REJECTED)).then_some(&LAYOUTS[1])
        });
        let Some(layout) = layout else {
            return Err(missing(names, &["left", "right", "winner"]));
        };
        if layout.contains(&CHOSEN) && !places.contains_key(CHOSEN) {
            places.insert(CHOSEN, places[WINNER]);
        }
        let mut chosen = Vec::new();
        for role in layout.iter().copied().chain([JUDGE, PROMPT, WEIGHT]) {
            if let Some(&column) = places.get(role)
                && !chosen.contains(&column)
            {
                self.roles.push(role);
                self.names.push(names[column].clone());
                chosen.push(column);
            }
        }
        if let Some(by) = &options.by {
            let found = names.iter().position(|name| name == by);
            self.roles.push("by");
            chosen.push(found.ok_or_else(|| missing(names, &[by]))?);
        }
        self.slots = Slots {
            left: self.slot(LEFT),
            right: self.slot(RIGHT),
            winner: self.slot(WINNER),
            chosen: self.slot(CHOSEN),
            rejected: self.slot(REJECTED),
            ranking: self.slot(RANKING),
            item: self.slot(ITEM),
            rank: self.slot(RANK),
            judge: self.slot(JUDGE),
            prompt: self.slot(PROMPT),
            weight: self.slot(WEIGHT),
            by: self.slot("by"),
        };
        Ok(chosen)
    }

    fn slot(&self, role: &str) -> Option<usize> {
        self.roles.iter().position(|known| *known == role)
    }
}

/// The value of a slot, which may be empty; empty where there is no column.
fn value<'r>(row: &Row<'r>, slot: Option<usize>) -> Result<&'r str> {
    slot.map_or(Ok(""), |slot| row.field(slot))
}

fn missing(names: &[String], wanted: &[&str]) -> Error {
    ErrorKind::Missing {
        keys: false,
        names: wanted.iter().map(|&name| name.to_owned()).collect(),
        found: names.to_vec(),
        hint: "a table of comparisons has the columns left, right, winner (or model_a, model_b, winner), or chosen and \
               rejected, or item and rank with judge or prompt"
            .to_owned(),
        remedy: Some(Remedy::NameComparisonColumns),
    }
    .into()
}

/// Judge and prompt of a ranking, and its items with their ranks.
type Places = ((String, String), Vec<(String, f64)>);

/// One table while it is read.
struct Building {
    pairs: ComparisonsBuilder,
    rankings: RankingsBuilder,
    /// Rankings whose places stand in rows of their own, by judge and prompt in the order of their first row.
    places: Vec<Places>,
    place_of: rustc_hash::FxHashMap<(String, String), usize>,
}

struct Reading<'a> {
    options: &'a ComparisonOptions,
    layout: Layout,
    tables: BTreeMap<String, Building>,
}

impl Reading<'_> {
    fn take(&mut self, row: &Row<'_>) -> Result<()> {
        let Self {
            options,
            layout,
            tables,
        } = self;
        let slots = layout.slots;
        let by = value(row, slots.by)?;
        if !tables.contains_key(by) {
            let order = if slots.chosen.is_some() {
                ShownOrder::Unknown
            } else {
                ShownOrder::Known
            };
            let pairs = ComparisonsBuilder::default()
                .with_both_bad(options.both_bad)
                .with_order(order);
            let building = Building {
                pairs,
                rankings: RankingsBuilder::default(),
                places: Vec::new(),
                place_of: rustc_hash::FxHashMap::default(),
            };
            tables.insert(by.to_owned(), building);
        }
        let table = tables.get_mut(by).expect("it was made above");
        let (judge, prompt) = (value(row, slots.judge)?, value(row, slots.prompt)?);
        let weight = match value(row, slots.weight)? {
            "" => 1.0,
            text => number(text, "a weight of at least 0")
                .map_err(|error| error.in_column(name_of(layout, WEIGHT)))?,
        };
        if slots.ranking.is_some() {
            let items = list(value(row, slots.ranking)?)?;
            let ranked: Vec<(&str, f64)> = items
                .iter()
                .map(String::as_str)
                .zip((1..).map(f64::from))
                .collect();
            return Ok(table.rankings.push(judge, prompt, &ranked)?);
        }
        if let Some(slot) = slots.rank {
            let item = value(row, slots.item)?;
            let rank = number(row.field(slot)?, "a rank, 1 for the best")
                .map_err(|error| error.in_column(name_of(layout, RANK)))?;
            let key = (judge.to_owned(), prompt.to_owned());
            let next = table.places.len();
            let place = *table.place_of.entry(key.clone()).or_insert(next);
            if place == next {
                table.places.push((key, Vec::new()));
            }
            table.places[place].1.push((item.to_owned(), rank));
            return Ok(());
        }
        if slots.chosen.is_some() {
            let (chosen, rejected) = (value(row, slots.chosen)?, value(row, slots.rejected)?);
            return Ok(table
                .pairs
                .push(chosen, rejected, Outcome::Left, judge, prompt, weight)?);
        }
        let (left, right) = (value(row, slots.left)?, value(row, slots.right)?);
        match read_winner(value(row, slots.winner)?, left, right) {
            Some(Winner::Is(outcome)) => table.pairs.push(left, right, outcome, judge, prompt, weight)?,
            Some(Winner::BothBad) => table.pairs.push_both_bad(left, right, judge, prompt, weight)?,
            Some(Winner::Nobody) => table.pairs.skip_unanswered(),
            None => {
                let found = value(row, slots.winner)?;
                return Err(Error::syntax(format!(
                    "found the outcome {found:?}, expected left, right, tie, both_bad, {left:?} or {right:?}"
                ))
                .in_column(name_of(layout, WINNER)));
            }
        }
        Ok(())
    }
}

fn name_of(layout: &Layout, role: &str) -> String {
    layout
        .slot(role)
        .map_or_else(|| role.to_owned(), |slot| layout.names[slot].clone())
}

pub(super) fn number(text: &str, expected: &'static str) -> Result<f64> {
    let found = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    found.ok_or_else(|| Error::number(text, expected))
}

/// The items of a ranking, from the best to the worst.
fn list(text: &str) -> Result<Vec<String>> {
    let text = text.trim();
    if text.starts_with('[') {
        let items: Result<Vec<serde_json::Value>, _> = serde_json::from_str(text);
        let items =
            items.map_err(|error| Error::syntax(format!("found a ranking that is no JSON list: {error}")))?;
        let name = |item: serde_json::Value| match item {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        return Ok(items.into_iter().map(name).collect());
    }
    Ok(text.split('>').map(|item| item.trim().to_owned()).collect())
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Winner {
    Is(Outcome),
    BothBad,
    Nobody,
}

/// What the words of a winner say; none for words that are not known. The name of an item counts first.
fn read_winner(text: &str, left: &str, right: &str) -> Option<Winner> {
    if text == left {
        return Some(Winner::Is(Outcome::Left));
    }
    if text == right {
        return Some(Winner::Is(Outcome::Right));
    }
    // The usual words as they are: nearly all rows of large files.
    match text {
        "left" => return Some(Winner::Is(Outcome::Left)),
        "right" => return Some(Winner::Is(Outcome::Right)),
        "tie" => return Some(Winner::Is(Outcome::Tie)),
        _ => {}
    }
    let letters: String = text
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    // Beside an item called a or b, the other letter is an item that was not shown, not a side.
    let is_letter = |text: &str| ["a", "b"].iter().any(|letter| text.eq_ignore_ascii_case(letter));
    let is_side = !is_letter(&letters) || !(is_letter(left) || is_letter(right));
    let has = |words: &[&str]| is_side && words.contains(&letters.as_str());
    if text.trim().is_empty() || has(&["nan", "null", "none", "na"]) {
        Some(Winner::Nobody)
    } else if has(&[
        "left",
        "modela",
        "itema",
        "a",
        "optiona",
        "answera",
        "responsea",
        "first",
        "systema",
    ]) {
        Some(Winner::Is(Outcome::Left))
    } else if has(&[
        "right",
        "modelb",
        "itemb",
        "b",
        "optionb",
        "answerb",
        "responseb",
        "second",
        "systemb",
    ]) {
        Some(Winner::Is(Outcome::Right))
    } else if has(&["tie", "draw", "equal", "same", "tied", "bothgood", "tiebothgood"]) {
        Some(Winner::Is(Outcome::Tie))
    } else if has(&["bothbad", "tiebothbad", "neither"]) {
        Some(Winner::BothBad)
    } else {
        None
    }
}

impl RowSink for Reading<'_> {
    fn select(&mut self, names: &[String]) -> Result<Vec<usize>> {
        self.layout.choose(names, self.options)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        self.take(row)
    }

    fn takes_lists(&self) -> bool {
        self.layout.slot(RANKING).is_some()
    }
}

/// Reads comparisons or rankings.
pub fn read_comparisons(
    source: &Source,
    options: &ComparisonOptions,
    progress: Progress<'_>,
) -> Result<ComparisonsRead> {
    let known = |role: &String| ROLES.iter().any(|(name, _)| name == role);
    if let Some((role, _)) = options.columns.iter().find(|(role, _)| !known(role)) {
        let roles: Vec<&str> = ROLES.iter().map(|(role, _)| *role).collect();
        return Err(Error::syntax(format!(
            "{role:?} is nothing that a column of comparisons holds; expected {}",
            roles.join(", ")
        )));
    }
    let mut reading = Reading {
        options,
        layout: Layout::default(),
        tables: BTreeMap::new(),
    };
    scan(source, options.format, &mut reading, progress)?;
    let Reading { layout, tables, .. } = reading;
    let in_file = |error: quorate::Error| Error::from(error).in_file(source.name());
    let mut read = ComparisonsRead {
        tables: Vec::new(),
        columns: layout
            .roles
            .iter()
            .copied()
            .zip(layout.names.iter().cloned())
            .collect(),
    };
    if tables.is_empty() {
        return Err(in_file(quorate::Error::NoLabels("the file has no rows".into())));
    }
    for (by, mut table) in tables {
        let is_rankings = layout.slot(RANKING).is_some() || layout.slot(RANK).is_some();
        let found = if is_rankings {
            for ((judge, prompt), ranked) in &table.places {
                let ranked: Vec<(&str, f64)> =
                    ranked.iter().map(|(item, rank)| (item.as_str(), *rank)).collect();
                table.rankings.push(judge, prompt, &ranked).map_err(in_file)?;
            }
            ComparisonTable::Rankings(table.rankings.build().map_err(in_file)?)
        } else {
            ComparisonTable::Pairs(table.pairs.build().map_err(in_file)?)
        };
        read.tables.push((options.by.as_ref().map(|_| by), found));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use quorate::ranking::Comparisons;

    use super::*;

    fn read_named(name: &str, text: &str, options: &ComparisonOptions) -> Result<ComparisonsRead> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read_comparisons(&Source::from(path), options, &mut |_, _| {})
    }

    fn read(text: &str) -> Result<ComparisonsRead> {
        read_named("pairs.csv", text, &ComparisonOptions::default())
    }

    fn pairs(read: ComparisonsRead) -> Comparisons {
        match read.tables.into_iter().next().unwrap().1 {
            ComparisonTable::Pairs(pairs) => pairs,
            ComparisonTable::Rankings(_) => panic!("rankings"),
        }
    }

    #[test]
    fn columns_are_found_under_many_names() {
        for text in [
            "left,right,winner\nx,y,left\n",
            "model_a,model_b,winner\nx,y,model_a\n",
            "Item A,Item B,Label,Annotator\nx,y,x,ann\n",
            "winner,loser\nx,y\n",
            "prompt,chosen,rejected\np,x,y\n",
            "worker,left,right,label\nw,x,y,x\n",
            "question_id,model_a,model_b,winner,judge\nq,x,y,a,gpt\n",
        ] {
            let table = pairs(read(text).unwrap());
            assert_eq!((table.len(), table.get(0).outcome), (1, Outcome::Left), "{text}");
            assert_eq!(table.items().get(table.get(0).left as usize), "x", "{text}");
        }
        let chosen = pairs(read("chosen,rejected\nx,y\n").unwrap());
        assert_eq!(chosen.shown_order(), ShownOrder::Unknown);
    }

    #[test]
    fn winners_in_all_their_words() {
        for (word, expected) in [
            ("left", Some(Winner::Is(Outcome::Left))),
            ("Model_B", Some(Winner::Is(Outcome::Right))),
            ("y", Some(Winner::Is(Outcome::Right))),
            ("draw", Some(Winner::Is(Outcome::Tie))),
            ("tie (bothbad)", Some(Winner::BothBad)),
            ("both_bad", Some(Winner::BothBad)),
            ("", Some(Winner::Nobody)),
            ("z", None),
            ("1", None),
        ] {
            assert_eq!(read_winner(word, "x", "y"), expected, "{word}");
        }
        // The name of an item counts before the word for a side.
        assert_eq!(read_winner("a", "b", "a"), Some(Winner::Is(Outcome::Right)));
    }

    #[test]
    fn bad_rows_are_errors_with_their_line() {
        for (text, line, words) in [
            (
                "left,right,winner\nx,y,left\nx,y,z\n",
                3,
                "found the outcome \"z\", expected left, right, tie",
            ),
            ("left,right,winner\nx,x,left\n", 2, "compared with itself"),
            ("left,right,winner\nx,,left\n", 2, "right item id is empty"),
            ("left,right,winner,weight\nx,y,left,-1\n", 2, "weight"),
            (
                "left,right,winner,weight\nx,y,left,heavy\n",
                2,
                "found \"heavy\", expected a weight",
            ),
            (
                "left,right,winner,judge\nx,y,left,ann\nx,y,left,\n",
                3,
                "judge id is empty",
            ),
            ("item,rank,judge\nx,first,ann\n", 2, "expected a rank"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error.line(), Some(line), "{error}");
        }
        let message = read("left,right\nx,y\n").unwrap_err().to_string();
        assert!(
            message.contains("expected ones named \"left\", \"right\" and \"winner\""),
            "{message}"
        );
        assert!(
            read("left,right,winner\n")
                .unwrap_err()
                .to_string()
                .contains("no rows")
        );
    }

    #[test]
    fn both_bad_and_rows_without_an_outcome_are_counted() {
        let text = "left,right,winner\nx,y,both_bad\nx,y,left\nx,y,\n";
        let table = pairs(read(text).unwrap());
        assert_eq!(
            (
                table.len(),
                table.set_aside().both_bad,
                table.set_aside().unanswered
            ),
            (2, 1, 1)
        );
        let drop = ComparisonOptions {
            both_bad: BothBad::Drop,
            ..ComparisonOptions::default()
        };
        assert_eq!(pairs(read_named("p.csv", text, &drop).unwrap()).len(), 1);
    }

    #[test]
    fn rankings_in_rows_and_in_lists() {
        let rows = "judge,prompt,item,rank\nann,p,x,2\nann,p,y,1\nbob,p,x,1\nbob,p,y,1\n";
        let lists =
            "{\"judge\":\"ann\",\"ranking\":[\"y\",\"x\"]}\n{\"judge\":\"bob\",\"ranking\":[\"x\",\"y\"]}\n";
        let arrows = "judge,ranking\nann,y > x\nbob,x>y\n";
        for (name, text) in [("r.csv", rows), ("r.jsonl", lists), ("r.csv", arrows)] {
            let read = read_named(name, text, &ComparisonOptions::default()).unwrap();
            let ComparisonTable::Rankings(table) = &read.tables[0].1 else {
                panic!("{text}")
            };
            assert_eq!(table.len(), 2);
            assert_eq!(table.groups(0).collect::<Vec<_>>(), [vec![1], vec![0]], "{text}");
        }
    }

    #[test]
    fn tables_apart_and_columns_by_name() {
        let options = ComparisonOptions {
            by: Some("kind".into()),
            columns: vec![("winner".into(), "better one".into())],
            ..ComparisonOptions::default()
        };
        let read = read_named(
            "p.csv",
            "kind,left,right,better one\nb,x,y,left\na,x,y,right\n",
            &options,
        )
        .unwrap();
        let names: Vec<_> = read.tables.iter().map(|table| table.0.as_deref()).collect();
        assert_eq!(names, [Some("a"), Some("b")]);
        let unknown = ComparisonOptions {
            columns: vec![("nothing".into(), "x".into())],
            ..ComparisonOptions::default()
        };
        assert!(read_named("p.csv", "left,right,winner\nx,y,left\n", &unknown).is_err());
    }

    #[test]
    fn tables_of_comparisons_are_told_from_labels() {
        let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        assert!(hold_comparisons(&names("task,worker,left,right,label")));
        assert!(hold_comparisons(&names("prompt,chosen,rejected")));
        for labels in [
            "task,worker,label",
            "item,annotator,rating",
            "id,a,b,c",
            "task,left,right",
        ] {
            assert!(!hold_comparisons(&names(labels)), "{labels}");
        }
    }
}
