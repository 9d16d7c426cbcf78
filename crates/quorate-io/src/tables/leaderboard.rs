//! What a ranking gives: the leaderboard, the judges, how each item fared against each other one, and what to compare
//! next.

use quorate::annotations::Names;
use quorate::ranking::{Comparisons, NextPair, Outcome, RankFit, Ranked};

use super::comparisons::{ITEM, RANK, find, number};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::ColumnKind::{Count, Number, OptionalText, Text};
use crate::formats::{Cell, FileFormat, Row, read_side, write_rows_as};
use crate::source::Source;
use crate::target::Target;

/// Writes leaderboards: rank, item, score, low, high, the range of ranks, wins, losses, ties, the chance to be better
/// than the next one, and the group; with several tables also which one. `scale` turns a score of the method into one
/// that is shown.
pub fn write_leaderboard(
    target: &Target,
    format: Option<FileFormat>,
    tables: &[Ranked],
    scale: fn(f64) -> f64,
) -> Result<()> {
    let by = tables
        .iter()
        .any(|table| table.by.is_some())
        .then_some(("by", Text));
    let columns = [
        ("rank", Count),
        ("item", Text),
        ("score", Number),
        ("low", Number),
        ("high", Number),
        ("rank_low", Count),
        ("rank_high", Count),
        ("wins", Number),
        ("losses", Number),
        ("ties", Number),
        ("better_than_next", Number),
        ("group", Count),
    ];
    write_rows_as(target, format, by.into_iter().chain(columns), |each| {
        for table in tables {
            for standing in &table.standings {
                let whole =
                    |number: Option<usize>| number.map_or(Cell::Missing, |number| Cell::Count(number as u64));
                let cells = [
                    Cell::Count(standing.rank as u64),
                    Cell::Text(table.items().get(standing.item)),
                    scale(standing.score).into(),
                    standing.interval.map(|ends| scale(ends.0)).into(),
                    standing.interval.map(|ends| scale(ends.1)).into(),
                    whole(standing.ranks.map(|ranks| ranks.0)),
                    whole(standing.ranks.map(|ranks| ranks.1)),
                    standing.wins.into(),
                    standing.losses.into(),
                    standing.ties.into(),
                    standing.better_than_next.into(),
                    Cell::Count(standing.group as u64 + 1),
                ];
                match &table.by {
                    Some(by) => each(&[&[Cell::Text(by)], &cells[..]].concat())?,
                    None => each(&cells)?,
                }
            }
        }
        Ok(())
    })
}

/// Writes the judges: comparisons, agreement, discrimination, position bias, ties, self-agreement, verdict.
pub fn write_rank_judges(
    target: &Target,
    format: Option<FileFormat>,
    judges: &Names,
    fit: &RankFit,
) -> Result<()> {
    let columns = [
        ("judge", Text),
        ("comparisons", Number),
        ("agreement", Number),
        ("discrimination", Number),
        ("discrimination_low", Number),
        ("discrimination_high", Number),
        ("left_lead", Number),
        ("position", Number),
        ("position_low", Number),
        ("position_high", Number),
        ("tie_rate", Number),
        ("swapped_pairs", Count),
        ("self_agreement", Number),
        ("verdict", Text),
    ];
    write_rows_as(target, format, columns, |each| {
        fit.judges.iter().enumerate().try_for_each(|(judge, found)| {
            let model = found.model;
            let words = found.verdict().to_string();
            each(&[
                Cell::Text(judges.get(judge)),
                found.comparisons.into(),
                found.agreement().into(),
                model.map(|model| model.discrimination).into(),
                model.map(|model| model.discrimination_range[0]).into(),
                model.map(|model| model.discrimination_range[1]).into(),
                model.map(|model| model.side_points() / 100.0).into(),
                model.map(|model| model.position).into(),
                model.map(|model| model.position_range[0]).into(),
                model.map(|model| model.position_range[1]).into(),
                found.tie_rate().into(),
                Cell::Count(found.swaps.pairs),
                found.self_agreement().into(),
                Cell::Text(&words),
            ])
        })
    })
}

/// Writes how every item fared against every other one: comparisons won, lost and tied, the share that it would win, and
/// the chance that it is better. Pairs that never met are there, too, where they can be compared.
pub fn write_wins(
    target: &Target,
    format: Option<FileFormat>,
    comparisons: &Comparisons,
    fit: &RankFit,
) -> Result<()> {
    let columns = [
        ("item", Text),
        ("against", Text),
        ("wins", Number),
        ("losses", Number),
        ("ties", Number),
        ("win_probability", Number),
        ("better", Number),
    ];
    let items = comparisons.items();
    let order = fit.order();
    let met = count_pairs(comparisons);
    write_rows_as(target, format, columns, |each| {
        for &i in &order {
            for &j in order.iter().filter(|&&j| i != j && fit.comparable(i, j)) {
                let key = (i.min(j) as u32, i.max(j) as u32);
                let [mut wins, mut losses, ties] = met.get(&key).copied().unwrap_or_default();
                if i > j {
                    std::mem::swap(&mut wins, &mut losses);
                }
                each(&[
                    Cell::Text(items.get(i)),
                    Cell::Text(items.get(j)),
                    wins.into(),
                    losses.into(),
                    ties.into(),
                    fit.win_probability(i, j).into(),
                    fit.better(i, j).into(),
                ])?;
            }
        }
        Ok(())
    })
}

/// Wins of the lower item, of the higher one, and ties, of every pair that met.
fn count_pairs(comparisons: &Comparisons) -> rustc_hash::FxHashMap<(u32, u32), [f64; 3]> {
    let mut met = rustc_hash::FxHashMap::default();
    for row in comparisons.iter() {
        let key = (row.left.min(row.right), row.left.max(row.right));
        let cell: &mut [f64; 3] = met.entry(key).or_default();
        let place = match (row.outcome, row.left < row.right) {
            (Outcome::Tie, _) => 2,
            (Outcome::Left, true) | (Outcome::Right, false) => 0,
            _ => 1,
        };
        cell[place] += row.weight;
    }
    met
}

/// Writes the comparisons that are worth making: left, right, judge, the chance that the better-looking item is better,
/// and what the comparison is expected to tell.
pub fn write_next_pairs(
    target: &Target,
    format: Option<FileFormat>,
    comparisons: &Comparisons,
    pairs: &[NextPair],
) -> Result<()> {
    let columns = [
        ("left", Text),
        ("right", Text),
        ("judge", OptionalText),
        ("better", Number),
        ("gain", Number),
    ];
    let (items, judges) = (comparisons.items(), comparisons.judges());
    write_rows_as(target, format, columns, |each| {
        pairs.iter().try_for_each(|next| {
            each(&[
                Cell::Text(items.get(next.left)),
                Cell::Text(items.get(next.right)),
                next.judge.map(|judge| judges.get(judge)).into(),
                next.better.into(),
                next.gain.into(),
            ])
        })
    })
}

/// Writes comparisons: left, right, winner, and judge, prompt and weight where they are there.
pub fn write_comparisons(
    target: &Target,
    format: Option<FileFormat>,
    comparisons: &Comparisons,
) -> Result<()> {
    let (judges, prompts) = (comparisons.judges(), comparisons.prompts());
    let with = |there: bool, column| there.then_some(column);
    let columns = [
        with(!prompts.is_empty(), ("prompt", Text)),
        with(!judges.is_empty(), ("judge", Text)),
        Some(("left", Text)),
        Some(("right", Text)),
        Some(("winner", Text)),
        with(comparisons.is_weighted(), ("weight", Number)),
    ];
    write_rows_as(target, format, columns.into_iter().flatten(), |each| {
        comparisons.iter().try_for_each(|row| {
            let winner = match row.outcome {
                Outcome::Left => "left",
                Outcome::Right => "right",
                Outcome::Tie => "tie",
            };
            let cells = [
                row.prompt.map(|prompt| Cell::Text(prompts.get(prompt as usize))),
                (!judges.is_empty()).then(|| Cell::Text(judges.get(row.judge as usize))),
                Some(Cell::Text(comparisons.items().get(row.left as usize))),
                Some(Cell::Text(comparisons.items().get(row.right as usize))),
                Some(Cell::Text(winner)),
                comparisons.is_weighted().then(|| row.weight.into()),
            ];
            each(&cells.into_iter().flatten().collect::<Vec<_>>())
        })
    })
}

/// Writes the scores of items.
pub fn write_scores(
    target: &Target,
    format: Option<FileFormat>,
    items: &Names,
    scores: &[f64],
) -> Result<()> {
    write_rows_as(target, format, [("item", Text), ("score", Number)], |each| {
        let rows = items.iter().zip(scores);
        rows.into_iter()
            .try_for_each(|(item, &score)| each(&[Cell::Text(item), score.into()]))
    })
}

/// Writes what is true of simulated judges.
pub fn write_simulated_judges(
    target: &Target,
    judges: &Names,
    discrimination: &[f64],
    position: &[f64],
) -> Result<()> {
    let columns = [("judge", Text), ("discrimination", Number), ("position", Number)];
    write_rows_as(target, None, columns, |each| {
        let rows = judges.iter().zip(discrimination).zip(position);
        rows.into_iter()
            .try_for_each(|((judge, &discrimination), &position)| {
                each(&[Cell::Text(judge), discrimination.into(), position.into()])
            })
    })
}

/// What is known or was found of items: a score each, larger is better.
#[derive(Debug, Clone, Default)]
pub struct ItemScores {
    /// The items.
    pub items: Names,
    /// Their scores; a rank counts as its negative.
    pub scores: Vec<f64>,
    /// Width of the interval of each score, where the file has intervals.
    pub widths: Vec<Option<f64>>,
    /// Items of different groups cannot be compared.
    pub groups: Vec<u32>,
}

/// Reads scores of items: a leaderboard, or columns item and score or rank.
pub fn read_scores(source: &Source) -> Result<ItemScores> {
    let choose = |found: &mut (ItemScores, Vec<&str>), names: &[String]| {
        let named = |name: &str| names.iter().position(|column| column.eq_ignore_ascii_case(name));
        let value = named("score").map(|place| ("score", place));
        let value = value.or_else(|| Some((RANK, find(names, RANK)?)));
        let (Some(item), Some((role, value))) = (find(names, ITEM), value) else {
            return Err(ErrorKind::Missing {
                keys: false,
                names: vec![ITEM.into(), "score".into()],
                found: names.to_vec(),
                hint: "a leaderboard has the columns item and score, or item and rank".into(),
                remedy: None,
            }
            .into());
        };
        let others = [
            ("low", named("low")),
            ("high", named("high")),
            ("group", named("group")),
        ];
        let others = others
            .into_iter()
            .filter_map(|(role, place)| Some((role, place?)));
        let (roles, places): (Vec<&str>, Vec<usize>) =
            [(ITEM, item), (role, value)].into_iter().chain(others).unzip();
        found.1 = roles;
        Ok(places)
    };
    let take = |found: &mut (ItemScores, Vec<&str>), row: &Row<'_>| {
        let (read, roles) = found;
        let item = row.field(0)?;
        if item.is_empty() {
            return Err(quorate::Error::EmptyId("item").into());
        }
        let field = |role: &str| {
            roles
                .iter()
                .position(|known| *known == role)
                .map(|place| row.field(place))
                .transpose()
        };
        let value = |role: &str| match field(role)? {
            None | Some("") => Ok(None),
            Some(text) => number(text, "a number")
                .map(Some)
                .map_err(|error| error.in_column(role)),
        };
        let score = match value("score")? {
            Some(score) => Some(score),
            None => value(RANK)?.map(|rank| -rank),
        };
        let Some(score) = score else { return Ok(()) };
        if read.items.find(item).is_some() {
            return Err(quorate::Error::Mismatch(format!(
                "{item:?} stands there twice, expected one row for each item"
            ))
            .into());
        }
        read.items.intern(item);
        read.scores.push(score);
        read.widths
            .push(value("low")?.zip(value("high")?).map(|(low, high)| high - low));
        read.groups.push(value("group")?.map_or(0, |group| group as u32));
        Ok(())
    };
    let (read, _) = read_side(source, Default::default(), choose, take)?;
    if read.scores.is_empty() {
        let words = "the input has no scores; expected a row for each item".to_owned();
        return Err(Error::from(quorate::Error::NoLabels(words)).in_file(source.name()));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use quorate::ranking::{ComparisonTable, JudgeBt, Rank};

    use super::*;
    use crate::tables::{ComparisonOptions, read_comparisons};
    use crate::{Source, tables};

    #[test]
    fn comparisons_come_back_as_they_were_written() {
        let text =
            "prompt,judge,left,right,winner,weight\np,ann,x,y,left,1\np,bob,y,z,tie,2\nq,ann,x,z,right,1\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.csv");
        std::fs::write(&path, text).unwrap();
        let read = |path: &std::path::Path| {
            let read =
                read_comparisons(&Source::from(path), &ComparisonOptions::default(), &mut |_, _| {}).unwrap();
            match read.tables.into_iter().next().unwrap().1 {
                ComparisonTable::Pairs(pairs) => pairs,
                ComparisonTable::Rankings(_) => panic!("rankings"),
            }
        };
        let table = read(&path);
        for name in ["copy.csv", "copy.jsonl", "copy.tsv"] {
            let copy = folder.path().join(name);
            write_comparisons(&Target::from(copy.clone()), None, &table).unwrap();
            assert_eq!(read(&copy), table, "{name}");
        }
        let fit = JudgeBt::default()
            .fit(&table, &mut quorate::Context::new(0))
            .unwrap();
        let wins = folder.path().join("wins.csv");
        tables::write_wins(&Target::from(wins.clone()), None, &table, &fit).unwrap();
        let text = std::fs::read_to_string(wins).unwrap();
        assert_eq!(text.lines().count(), 7, "{text}");
    }
}
