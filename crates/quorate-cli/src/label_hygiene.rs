//! Classes that look like a slip of the pen: joined where that is safe, pointed out where it is not.

use quorate::annotations::{Likeness, Names, SimilarClasses, find_similar, looks_missing};

use crate::printer::Printer;
use crate::text_table::plural;

/// Classes that are named in a message.
const NAMED: usize = 4;

/// Fewest classes that can look like free text.
const MANY_CLASSES: usize = 20;

/// Says which classes look alike, missing or like free text; returns those that are to be joined: the same
/// number written in different ways, and with `normalize` also words that differ in case and white space
/// only.
pub fn settle_classes(
    classes: &Names,
    labels: u64,
    normalize: bool,
    printer: &mut Printer,
) -> Vec<SimilarClasses> {
    let quoted = |codes: &[u16]| {
        let names: Vec<String> = codes
            .iter()
            .take(NAMED)
            .map(|&code| format!("{:?}", classes.get(usize::from(code))))
            .collect();
        let more = if codes.len() > NAMED { ", .." } else { "" };
        format!("{}{more}", names.join(", "))
    };
    let mut joined = Vec::new();
    for group in find_similar(classes) {
        let name = classes.get(usize::from(group.codes[0]));
        match group.similarity {
            Likeness::Number => printer.note(format!(
                "classes {} are the same number: joined as {name:?}",
                quoted(&group.codes)
            )),
            Likeness::Spelling if normalize => {
                printer.note(format!("classes {} are joined as {name:?}", quoted(&group.codes)));
            }
            Likeness::Spelling => {
                printer.warning(format!(
                    "classes {} differ only in case or white space and are kept apart; --normalize joins them",
                    quoted(&group.codes)
                ));
                continue;
            }
        }
        joined.push(group);
    }
    let missing: Vec<u16> = (0..classes.len() as u32)
        .filter(|&code| looks_missing(classes.get(code as usize)))
        .map(|code| code as u16)
        .collect();
    if !missing.is_empty() {
        let names: Vec<&str> = missing
            .iter()
            .map(|&code| classes.get(usize::from(code)))
            .collect();
        printer.warning(format!(
            "{} {} like a missing answer and counts as a class; --missing {} leaves such rows out",
            quoted(&missing),
            if missing.len() == 1 { "looks" } else { "look" },
            names.join(",")
        ));
    }
    if classes.len() > MANY_CLASSES && 2 * classes.len() as u64 >= labels {
        printer.warning(format!(
            "{} for {}: this looks like free text, which cannot be aggregated as classes; is --columns label=NAME right?",
            plural(classes.len(), "class"),
            plural(labels as usize, "label")
        ));
    }
    joined
}
