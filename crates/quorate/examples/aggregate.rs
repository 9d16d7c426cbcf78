//! Labels from rows of answers, with the default method.

use quorate::Annotations;

pub(crate) fn main() -> quorate::Result<()> {
    let annotations = Annotations::from_triples([
        ("picture 1", "ann", "cat"),
        ("picture 1", "bob", "cat"),
        ("picture 1", "cem", "dog"),
        ("picture 2", "ann", "dog"),
        ("picture 2", "bob", "dog"),
        ("picture 3", "cem", "cat"),
    ])?;
    let fit = quorate::aggregate(&annotations)?;
    for found in fit.labels(&annotations) {
        println!(
            "{}: {} ({:.0} %)",
            found.task,
            found.label,
            100.0 * found.confidence
        );
    }
    Ok(())
}
