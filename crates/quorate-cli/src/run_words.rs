//! What a run did with what it was given, in the words of any face.

use quorate::internal::run::{Joined, Known, LabelFacts};

use crate::messages::Messages;
use crate::text_table::plural;

/// Says what knowledge came to.
pub fn tell_known(known: &Known, labels: LabelFacts<'_>, messages: &mut dyn Messages) {
    let (gold, history) = (messages.option("gold"), messages.option("worker-prior"));
    tell_further(known, messages);
    if let Some((known, foreign)) = known.gold {
        if foreign > 0 {
            let foreign = plural(foreign, "task");
            messages.warning(format!("{foreign} of {gold} that nobody labelled: not used"));
        }
        let known = plural(known, "task");
        messages.note(format!("{known} of {} known from {gold}", labels.tasks));
    }
    match known.workers {
        Some(0) => messages.warning(format!(
            "none of the workers is in the model of {history}: it has no effect"
        )),
        Some(known) => {
            let known = plural(known, "worker");
            messages.note(format!(
                "{known} of {} known from {history}",
                labels.workers.len()
            ));
        }
        None => {}
    }
}

/// Says which classes no worker named.
pub fn tell_further(known: &Known, messages: &mut dyn Messages) {
    let (gold, history) = (messages.option("gold"), messages.option("worker-prior"));
    if !known.further_classes.is_empty() {
        let names: Vec<&str> = known.further_classes.iter().collect();
        messages.note(format!(
            "{} that no worker named, known from {gold} or {history}: {}",
            plural(names.len(), "class"),
            names.join(", ")
        ));
    }
}

/// Says what came together.
pub fn tell_joined(joined: Joined, messages: &mut dyn Messages) {
    messages.note(format!(
        "{} folded into a model of {}: {} new, {} new",
        plural(joined.new_labels, "label"),
        plural(joined.old_labels, "label"),
        plural(joined.new_tasks, "task"),
        plural(joined.new_workers, "worker"),
    ));
}
