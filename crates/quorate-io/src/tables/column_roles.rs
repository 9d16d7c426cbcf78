//! Which columns of a table hold what: by the name that is given, else by role.
//!
//! A role (the task, the worker, the label) is found by its own name, then by its name in another spelling
//! (case, blanks, `_`, an ending `id` or `name`), then by a synonym, each only where exactly one column fits.

use quorate::Remedy;

use crate::error::{Error, ErrorKind, Result};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The task's id.
    Task,
    /// The worker's id.
    Worker,
    /// A worker's answer.
    Label,
    /// A label that is known or predicted.
    KnownLabel,
}

impl Role {
    /// The usual name of the column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Worker => "worker",
            Self::Label | Self::KnownLabel => "label",
        }
    }

    /// Other names, without blanks, marks, capitals and an ending `id` or `name`; the first group that fits
    /// counts.
    fn synonyms(self) -> &'static [&'static [&'static str]] {
        const ANSWERS: &[&str] = &["answer", "rating", "response", "value", "choice", "verdict"];
        match self {
            // A bare `id` may be that of anything: it counts where nothing else fits.
            Self::Task => &[&["item", "unit", "example", "question", "subject", "hit"], &[""]],
            Self::Worker => &[&[
                "annotator",
                "rater",
                "judge",
                "user",
                "performer",
                "labeler",
                "labeller",
                "coder",
            ]],
            Self::Label => &[ANSWERS],
            Self::KnownLabel => &[
                &[
                    "truth",
                    "gold",
                    "goldlabel",
                    "truelabel",
                    "groundtruth",
                    "prediction",
                    "predicted",
                ],
                ANSWERS,
            ],
        }
    }
}

/// Whether a name is one of a role, in any spelling or as a synonym.
pub(crate) fn has_role(name: &str, role: Role) -> bool {
    let stem = stem(name);
    stem == role.name() || role.synonyms().iter().any(|group| group.contains(&stem.as_str()))
}

/// A column that is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub role: Role,
    /// The name that the caller gives; the role's own name stands for "find it".
    pub name: &'a str,
}

/// Where the columns stand among the names of a table. The error tells all that are missing.
pub(crate) fn find_columns(names: &[String], wanted: &[Wanted<'_>]) -> Result<Vec<usize>> {
    let mut found: Vec<Option<usize>> = Vec::new();
    for column in wanted {
        found.push(find_exactly(names, column.name)?);
    }
    for (place, column) in found.iter().enumerate() {
        if let Some(other) = found[..place]
            .iter()
            .position(|other| column.is_some() && other == column)
        {
            return Err(ErrorKind::SharedColumn {
                name: wanted[place].name.to_owned(),
                roles: [wanted[other].role.name(), wanted[place].role.name()],
            }
            .into());
        }
    }
    let mut unclear = Vec::new();
    for (place, column) in wanted.iter().enumerate() {
        if found[place].is_none() {
            match column.fitting(names, &found)[..] {
                [] => {}
                [only] => found[place] = Some(only),
                ref several => {
                    let several = several.iter().map(|&column| format!("{:?}", names[column]));
                    let several: Vec<String> = several.collect();
                    unclear.push(format!(
                        "the {} may be {}",
                        column.role.name(),
                        several.join(" or ")
                    ));
                }
            }
        }
    }
    let missing: Vec<&Wanted<'_>> = wanted
        .iter()
        .zip(&found)
        .filter_map(|(column, found)| found.is_none().then_some(column))
        .collect();
    if missing.is_empty() {
        Ok(found.into_iter().flatten().collect())
    } else {
        Err(missing_error(names, &missing, unclear))
    }
}

fn find_exactly(names: &[String], name: &str) -> Result<Option<usize>> {
    let mut found = (0..names.len()).filter(|&column| names[column] == name);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(Error::new(ErrorKind::RepeatedColumn).in_column(name)),
        (column, _) => Ok(column),
    }
}

impl Wanted<'_> {
    /// The column of this role under its usual name.
    pub(crate) fn usual(role: Role) -> Self {
        let name = role.name();
        Self { role, name }
    }

    /// The columns that fit best, of those that are free.
    fn fitting(&self, names: &[String], taken: &[Option<usize>]) -> Vec<usize> {
        let free = |column: &usize| !taken.contains(&Some(*column));
        let like = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..names.len())
                .filter(free)
                .filter(|&column| wanted(&names[column]))
                .collect()
        };
        let spelling = letters(self.name);
        let mut groups = vec![like(&|name| letters(name) == spelling)];
        if self.name == self.role.name() {
            groups.push(like(&|name| stem(name) == self.name));
            let synonyms = self.role.synonyms().iter();
            groups.extend(synonyms.map(|group| like(&|name| group.contains(&stem(name).as_str()))));
        }
        groups
            .into_iter()
            .find(|group| !group.is_empty())
            .unwrap_or_default()
    }
}

/// A name in small letters and digits alone.
fn letters(name: &str) -> String {
    let kept = name.chars().filter(|letter| letter.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// A name in small letters without an ending `id` or `name`.
pub(crate) fn stem(name: &str) -> String {
    let letters = letters(name);
    let stem = letters
        .strip_suffix("id")
        .or_else(|| letters.strip_suffix("name"));
    match stem {
        Some("") if letters == "name" => letters,
        Some(stem) => stem.to_owned(),
        None if letters.is_empty() => "-".into(),
        None => letters,
    }
}

fn missing_error(names: &[String], missing: &[&Wanted<'_>], unclear: Vec<String>) -> Error {
    let roles: Vec<&str> = missing.iter().map(|column| column.role.name()).collect();
    let mut hint = if unclear.is_empty() {
        String::new()
    } else {
        format!("{}; ", unclear.join(", "))
    };
    hint.push_str(&format!("say which column holds the {}", roles.join(" and the ")));
    if unclear.is_empty() {
        hint.push_str(", or, if the file has no header, put one on its first line");
    }
    ErrorKind::MissingColumn {
        names: missing.iter().map(|column| column.name.to_owned()).collect(),
        found: names.to_vec(),
        hint,
        remedy: Some(Remedy::NameColumns),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 3] = [Role::Task, Role::Worker, Role::Label];

    fn find(header: &str) -> Result<Vec<usize>> {
        let names: Vec<String> = header.split(',').map(str::to_owned).collect();
        find_columns(
            &names,
            &ROLES.map(|role| Wanted {
                role,
                name: role.name(),
            }),
        )
    }

    #[test]
    fn spellings_and_synonyms_are_found() {
        for header in [
            "task,worker,label",
            "Task,Worker,Label",
            "TASK ID,Worker Name,label",
            "item_id,annotator,answer",
            "item,rater,rating",
            "example_id,judge,response",
            "_unit_id,_worker_id,value",
            "HITId,WorkerId,choice",
            "question,user,Answer",
            "id,performer,label",
            "subject,coder,label",
        ] {
            assert_eq!(find(header).unwrap(), [0, 1, 2], "{header}");
        }
    }

    #[test]
    fn the_nearest_name_wins_and_a_bare_id_comes_last() {
        assert_eq!(find("id,item,worker,label").unwrap(), [1, 2, 3]);
        assert_eq!(find("answer,task,worker,label").unwrap(), [1, 2, 3]);
        assert_eq!(find("item,Task,worker,label").unwrap(), [1, 2, 3]);
    }

    #[test]
    fn two_readings_are_refused_and_everything_missing_is_told_at_once() {
        let words = find("item,question,worker,label").unwrap_err().to_string();
        assert!(
            words.contains(r#"the task may be "item" or "question""#),
            "{words}"
        );
        let words = find("a,b,label").unwrap_err().to_string();
        assert!(
            words.contains(r#"found the columns "a", "b", "label", expected ones named "task" and "worker""#),
            "{words}"
        );
        assert!(
            words.contains("which column holds the task and the worker"),
            "{words}"
        );
    }

    #[test]
    fn a_given_name_is_taken_as_it_is() {
        let names = ["Item", "worker", "label", "task"].map(str::to_owned);
        let wanted =
            |task| [(Role::Task, task), (Role::Worker, "worker")].map(|(role, name)| Wanted { role, name });
        assert_eq!(find_columns(&names, &wanted("item")).unwrap(), [0, 1]);
        assert!(find_columns(&names, &wanted("unit")).is_err());
        let words = find_columns(&names, &wanted("worker")).unwrap_err().to_string();
        assert!(words.contains("both the task and the worker"), "{words}");
    }
}
