//! The table of comparisons: who preferred which of two items, and in what order they were shown.

use crate::annotations::Names;
use crate::error::{Error, Result};

/// What a judge said of two items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The left item is better.
    Left,
    /// The right item is better.
    Right,
    /// Neither is better.
    Tie,
}

impl Outcome {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Left, Self::Right, Self::Tie];

    /// What the same answer says where the items change places.
    pub fn swapped(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Tie => Self::Tie,
        }
    }

    /// Wins of the left item: 1, 0, or half for a tie.
    pub fn left_share(self) -> f64 {
        match self {
            Self::Left => 1.0,
            Self::Right => 0.0,
            Self::Tie => 0.5,
        }
    }

    fn of_code(code: u32) -> Self {
        Self::ALL[code as usize]
    }
}

/// One comparison: the codes of its names, its outcome and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The item on the left.
    pub left: u32,
    /// The item on the right.
    pub right: u32,
    /// What the judge said.
    pub outcome: Outcome,
    /// The judge; 0 where nobody is named.
    pub judge: u32,
    /// The prompt; none where prompts are not named.
    pub prompt: Option<u32>,
    /// How much it counts.
    pub weight: f64,
}

/// Comparisons of two items each, 8 to 16 bytes a row besides the names.
///
/// Items, judges and prompts stand in the natural order of their names; rows in the order in which they came,
/// which only `elo` looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparisons {
    items: Names,
    judges: Names,
    prompts: Names,
    left: Vec<u32>,
    /// Item on the right, and the outcome in the two highest bits.
    right: Vec<u32>,
    judge: Vec<u32>,
    prompt: Vec<u32>,
    weight: Vec<f32>,
    order: ShownOrder,
    set_aside: SetAside,
}

/// Whether the places of two items say who was shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownOrder {
    /// Left was shown on the left, or first.
    Known,
    /// The places tell something else: the winner stands first, say.
    Unknown,
}

/// Rows that are not among the comparisons, and rows that were read as something else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetAside {
    /// Rows without an outcome.
    pub unanswered: u64,
    /// Rows whose weight is zero.
    pub weightless: u64,
    /// Rows that call both items bad: ties, or left out.
    pub both_bad: u64,
}

/// What becomes of rows that call both items bad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BothBad {
    /// They are ties.
    #[default]
    Tie,
    /// They are left out.
    Drop,
}

const CODE_BITS: u32 = 30;
const CODE_MASK: u32 = (1 << CODE_BITS) - 1;

impl Comparisons {
    /// The comparisons of rows `(left, right, outcome)`, without judges or prompts.
    ///
    /// ```
    /// use quorate::ranking::{Comparisons, Outcome};
    ///
    /// let table = Comparisons::from_rows([("pizza", "sushi", Outcome::Left), ("sushi", "tacos", Outcome::Tie)])?;
    /// assert_eq!((table.len(), table.items().len()), (2, 3));
    /// # Ok::<(), quorate::Error>(())
    /// ```
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str, Outcome)>) -> Result<Self> {
        let mut builder = ComparisonsBuilder::default();
        for (left, right, outcome) in rows {
            builder.push(left, right, outcome, "", "", 1.0)?;
        }
        builder.build()
    }

    /// The table of rows that are coded already. Codes are indexes into the names, which need not be sorted;
    /// `judge`, `prompt` and `weight` are empty where there are none.
    pub fn from_columns(names: RankNames, columns: RankColumns, order: ShownOrder) -> Result<Self> {
        let rows = columns.left.len();
        let beside = |length: usize| length == rows || length == 0;
        if columns.right.len() != rows
            || columns.outcome.len() != rows
            || !beside(columns.judge.len())
            || !beside(columns.prompt.len())
            || !beside(columns.weight.len())
        {
            return Err(Error::Mismatch("columns of comparisons differ in length".into()));
        }
        let mut builder = ComparisonsBuilder {
            names,
            order,
            ..ComparisonsBuilder::default()
        };
        let counts = [
            &builder.names.items,
            &builder.names.judges,
            &builder.names.prompts,
        ]
        .map(Names::len);
        let outside = |codes: &[u32], count: usize| codes.iter().any(|&code| code as usize >= count);
        if outside(&columns.left, counts[0])
            || outside(&columns.right, counts[0])
            || outside(&columns.judge, counts[1])
            || outside(&columns.prompt, counts[2])
        {
            return Err(Error::Mismatch(
                "a code of a comparison lies outside the names".into(),
            ));
        }
        for row in 0..rows {
            let code = |codes: &[u32]| codes.get(row).copied();
            builder.push_codes(
                [columns.left[row], columns.right[row]],
                columns.outcome[row],
                code(&columns.judge),
                code(&columns.prompt),
                columns.weight.get(row).map_or(1.0, |&weight| f64::from(weight)),
            )?;
        }
        builder.build()
    }

    /// Number of comparisons.
    pub fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether there are none; never true of a table that was built.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The items.
    pub fn items(&self) -> &Names {
        &self.items
    }

    /// The judges; empty where nobody is named.
    pub fn judges(&self) -> &Names {
        &self.judges
    }

    /// The prompts; empty where prompts are not named.
    pub fn prompts(&self) -> &Names {
        &self.prompts
    }

    /// Whether the places of two items say who was shown first.
    pub fn shown_order(&self) -> ShownOrder {
        self.order
    }

    /// What was set aside while the table was built.
    pub fn set_aside(&self) -> SetAside {
        self.set_aside
    }

    /// Whether any row counts other than once.
    pub fn is_weighted(&self) -> bool {
        !self.weight.is_empty()
    }

    /// The comparison in one row.
    pub fn get(&self, row: usize) -> Comparison {
        let right = self.right[row];
        Comparison {
            left: self.left[row],
            right: right & CODE_MASK,
            outcome: Outcome::of_code(right >> CODE_BITS),
            judge: self.judge.get(row).copied().unwrap_or(0),
            prompt: self.prompt.get(row).copied(),
            weight: self.weight.get(row).map_or(1.0, |&weight| f64::from(weight)),
        }
    }

    /// All comparisons, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = Comparison> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The rows that `keep` wants, with the same names.
    pub fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.len()).filter(|&row| keep(row)).collect();
        fn taken<T: Copy>(column: &[T], rows: &[usize]) -> Vec<T> {
            if column.is_empty() {
                Vec::new()
            } else {
                rows.iter().map(|&row| column[row]).collect()
            }
        }
        Self {
            left: taken(&self.left, &rows),
            right: taken(&self.right, &rows),
            judge: taken(&self.judge, &rows),
            prompt: taken(&self.prompt, &rows),
            weight: taken(&self.weight, &rows),
            ..self.clone_names()
        }
    }

    fn clone_names(&self) -> Self {
        Self {
            items: self.items.clone(),
            judges: self.judges.clone(),
            prompts: self.prompts.clone(),
            left: Vec::new(),
            right: Vec::new(),
            judge: Vec::new(),
            prompt: Vec::new(),
            weight: Vec::new(),
            order: self.order,
            set_aside: SetAside::default(),
        }
    }
}

/// The names of items, judges and prompts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankNames {
    /// The items that were compared.
    pub items: Names,
    /// Who compared them.
    pub judges: Names,
    /// What they were compared on.
    pub prompts: Names,
}

/// Codes of comparisons, one column for each part. All columns have the same length or are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankColumns {
    /// The item on the left.
    pub left: Vec<u32>,
    /// The item on the right.
    pub right: Vec<u32>,
    /// What the judge said.
    pub outcome: Vec<Outcome>,
    /// The judge, or empty.
    pub judge: Vec<u32>,
    /// The prompt, or empty.
    pub prompt: Vec<u32>,
    /// How much each row counts, or empty.
    pub weight: Vec<f32>,
}

/// Takes comparisons row by row.
#[derive(Debug, Clone)]
pub struct ComparisonsBuilder {
    names: RankNames,
    left: Vec<u32>,
    right: Vec<u32>,
    judge: Vec<u32>,
    prompt: Vec<u32>,
    weight: Vec<f32>,
    order: ShownOrder,
    both_bad: BothBad,
    set_aside: SetAside,
}

impl Default for ComparisonsBuilder {
    fn default() -> Self {
        Self {
            names: RankNames::default(),
            left: Vec::new(),
            right: Vec::new(),
            judge: Vec::new(),
            prompt: Vec::new(),
            weight: Vec::new(),
            order: ShownOrder::Known,
            both_bad: BothBad::Tie,
            set_aside: SetAside::default(),
        }
    }
}

impl ComparisonsBuilder {
    /// Says whether the places of two items tell who was shown first.
    pub fn with_order(mut self, order: ShownOrder) -> Self {
        self.order = order;
        self
    }

    /// Says what becomes of rows that call both items bad.
    pub fn with_both_bad(mut self, both_bad: BothBad) -> Self {
        self.both_bad = both_bad;
        self
    }

    /// Takes a row. An empty judge or prompt is one that is not named.
    pub fn push(
        &mut self,
        left: &str,
        right: &str,
        outcome: Outcome,
        judge: &str,
        prompt: &str,
        weight: f64,
    ) -> Result<()> {
        for (name, what) in [(left, "left item"), (right, "right item")] {
            if name.is_empty() {
                return Err(Error::EmptyId(what));
            }
        }
        if left == right {
            return Err(Error::Mismatch(format!(
                "{left:?} is compared with itself; the two items of a comparison have to differ"
            )));
        }
        let names = &mut self.names;
        let pair = [names.items.intern(left), names.items.intern(right)];
        let code = |names: &mut Names, name: &str| (!name.is_empty()).then(|| names.intern(name));
        let judge = code(&mut names.judges, judge);
        let prompt = code(&mut names.prompts, prompt);
        self.push_codes(pair, outcome, judge, prompt, weight)
    }

    /// Takes a row whose judge calls both items bad.
    pub fn push_both_bad(
        &mut self,
        left: &str,
        right: &str,
        judge: &str,
        prompt: &str,
        weight: f64,
    ) -> Result<()> {
        self.set_aside.both_bad += 1;
        match self.both_bad {
            BothBad::Tie => self.push(left, right, Outcome::Tie, judge, prompt, weight),
            BothBad::Drop => Ok(()),
        }
    }

    /// Counts a row without an outcome.
    pub fn skip_unanswered(&mut self) {
        self.set_aside.unanswered += 1;
    }

    fn push_codes(
        &mut self,
        [left, right]: [u32; 2],
        outcome: Outcome,
        judge: Option<u32>,
        prompt: Option<u32>,
        weight: f64,
    ) -> Result<()> {
        if left == right {
            let name = self.names.items.get(left as usize);
            return Err(Error::Mismatch(format!("{name:?} is compared with itself")));
        }
        if !(weight >= 0.0 && weight <= f64::from(f32::MAX)) {
            return Err(Error::Mismatch(format!(
                "the weight of a comparison is {weight}, expected a number of at least 0"
            )));
        }
        if weight == 0.0 {
            self.set_aside.weightless += 1;
            return Ok(());
        }
        if self.left.len() > CODE_MASK as usize || self.names.items.len() > CODE_MASK as usize {
            return Err(Error::TooMany {
                what: "comparisons or items",
                limit: CODE_MASK as usize,
                hint: "rank them in parts",
            });
        }
        let row = self.left.len();
        optional(&mut self.judge, row, judge, "judge")?;
        optional(&mut self.prompt, row, prompt, "prompt")?;
        if weight != 1.0 || !self.weight.is_empty() {
            self.weight.resize(row, 1.0);
            self.weight.push(weight as f32);
        }
        self.left.push(left);
        self.right.push(right | (outcome as u32) << CODE_BITS);
        Ok(())
    }

    /// The table; names in natural order.
    pub fn build(mut self) -> Result<Comparisons> {
        if self.left.is_empty() {
            let aside = self.set_aside;
            return Err(Error::NoLabels(format!(
                "no row is a comparison with an outcome ({} without an outcome, {} with weight 0, {} that call both items bad)",
                aside.unanswered, aside.weightless, aside.both_bad
            )));
        }
        let (items, item_codes) = in_natural_order(&self.names.items);
        let (judges, judge_codes) = in_natural_order(&self.names.judges);
        let (prompts, prompt_codes) = in_natural_order(&self.names.prompts);
        let recode =
            |codes: &mut [u32], new: &[u32]| codes.iter_mut().for_each(|code| *code = new[*code as usize]);
        recode(&mut self.left, &item_codes);
        for right in &mut self.right {
            *right = item_codes[(*right & CODE_MASK) as usize] | (*right & !CODE_MASK);
        }
        recode(&mut self.judge, &judge_codes);
        recode(&mut self.prompt, &prompt_codes);
        Ok(Comparisons {
            items,
            judges,
            prompts,
            left: self.left,
            right: self.right,
            judge: self.judge,
            prompt: self.prompt,
            weight: self.weight,
            order: self.order,
            set_aside: self.set_aside,
        })
    }
}

/// Appends a code to a column that has one in every row or is empty.
fn optional(column: &mut Vec<u32>, row: usize, code: Option<u32>, what: &'static str) -> Result<()> {
    match code {
        Some(code) if column.len() == row => column.push(code),
        None if column.is_empty() => {}
        _ => return Err(Error::EmptyId(what)),
    }
    Ok(())
}

/// The names in their natural order, and the new code of each old one.
fn in_natural_order(names: &Names) -> (Names, Vec<u32>) {
    let order = names.natural_order();
    let mut codes = vec![0; names.len()];
    for (new, &old) in order.iter().enumerate() {
        codes[old] = new as u32;
    }
    (order.iter().map(|&old| names.get(old)).collect(), codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_natural_order_and_rows_as_they_came() {
        let mut builder = ComparisonsBuilder::default();
        builder.push("m10", "m9", Outcome::Left, "bob", "q", 1.0).unwrap();
        builder.push("m9", "m8", Outcome::Tie, "ann", "q", 0.5).unwrap();
        let table = builder.build().unwrap();
        assert_eq!(table.items().iter().collect::<Vec<_>>(), ["m10", "m8", "m9"]);
        let first = table.get(0);
        assert_eq!((first.left, first.right, first.outcome), (0, 2, Outcome::Left));
        assert_eq!((first.judge, table.get(1).judge), (1, 0));
        assert_eq!((first.weight, table.get(1).weight), (1.0, 0.5));
    }

    #[test]
    fn bad_rows_are_errors_and_weightless_ones_are_counted() {
        let mut builder = ComparisonsBuilder::default().with_both_bad(BothBad::Drop);
        let message = builder
            .push("a", "a", Outcome::Left, "", "", 1.0)
            .unwrap_err()
            .to_string();
        assert!(message.contains("compared with itself"), "{message}");
        assert!(builder.push("a", "", Outcome::Left, "", "", 1.0).is_err());
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(
                builder.push("a", "b", Outcome::Left, "", "", weight).is_err(),
                "{weight}"
            );
        }
        builder.push("a", "b", Outcome::Left, "", "", 0.0).unwrap();
        builder.push_both_bad("a", "b", "", "", 1.0).unwrap();
        builder.skip_unanswered();
        let message = builder.clone().build().unwrap_err().to_string();
        assert!(
            message.contains("1 without an outcome, 1 with weight 0, 1 that call both"),
            "{message}"
        );
        builder.push("a", "b", Outcome::Left, "ann", "", 1.0).unwrap();
        assert_eq!(
            builder.push("a", "b", Outcome::Left, "", "", 1.0),
            Err(Error::EmptyId("judge"))
        );
    }

    #[test]
    fn columns_and_rows_are_the_same_table() {
        let rows = [
            ("x", "y", Outcome::Left),
            ("z", "x", Outcome::Right),
            ("y", "z", Outcome::Tie),
        ];
        let names = |names: &[&str]| -> Names { names.iter().copied().collect() };
        let columns = RankColumns {
            left: vec![0, 2, 1],
            right: vec![1, 0, 2],
            outcome: rows.map(|row| row.2).to_vec(),
            ..RankColumns::default()
        };
        let names = RankNames {
            items: names(&["x", "y", "z"]),
            ..RankNames::default()
        };
        let table = Comparisons::from_columns(names.clone(), columns.clone(), ShownOrder::Known).unwrap();
        assert_eq!(table, Comparisons::from_rows(rows).unwrap());
        let short = RankColumns {
            right: vec![1],
            ..columns
        };
        assert!(Comparisons::from_columns(names, short, ShownOrder::Known).is_err());
    }
}
