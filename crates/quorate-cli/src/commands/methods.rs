//! `quorate methods`: the table of methods, or one of them in full.

use anyhow::Result;
use clap::Args;
use quorate::methods::{Answers, DEFAULT_METHOD, Method};
use quorate::ranking::{self, METHODS as RANKING};
use serde::Serialize;

use crate::catalog::{all_methods, find, is_baseline, methods};
use crate::printer::Printer;
use crate::record::{each, record};
use crate::text_table::{TextTable, wrapped_within};

/// What to show.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  quorate methods\n  quorate methods rob-symnmf")]
pub struct MethodsArgs {
    /// A method to explain in full: what it assumes, its parameters, where it was published
    name: Option<String>,
    /// For programs: JSON
    #[arg(long)]
    json: bool,
}

/// Shows the table or one entry.
pub fn run(args: &MethodsArgs, printer: &mut Printer) -> Result<()> {
    match (&args.name, args.json) {
        (Some(name), true) => printer.json(&as_json(find(name)?)),
        (Some(name), false) => printer.data(&in_full(find(name)?)),
        (None, true) => printer.json(&all_methods().map(as_json).collect::<Vec<_>>()),
        (None, false) => printer.data(&as_text()),
    }
}

fn as_text() -> String {
    let (baselines, own): (Vec<&Method>, Vec<&Method>) = methods().partition(|method| is_baseline(method));
    format!(
        "{}\nBaselines from the literature:\n\n{}\n\
         All of these give labels with a confidence and, unless it says \"labels only\", a confusion matrix for every worker.\n\n\
         For comparisons of two items (`quorate rank`):\n\n{}\n\
         `quorate methods NAME` explains one; `-m NAME` uses it.\n",
        as_table(&own),
        as_table(&baselines),
        as_table(&RANKING.iter().collect::<Vec<_>>())
    )
}

fn as_table(methods: &[&Method]) -> String {
    let mut table = TextTable::new(["method", "what it is", ""]);
    for method in methods {
        let mut remarks = Vec::new();
        let labels = method.answers() == Answers::Classes;
        if [DEFAULT_METHOD, ranking::DEFAULT_METHOD].contains(&method.name) {
            remarks.push("the default");
        }
        if labels && !method.returns_model {
            remarks.push("labels only");
        }
        if method.uses_class_order {
            remarks.push("ordered classes");
        }
        if method.needs_probabilities {
            remarks.push("needs --probabilities-in");
        }
        if method.needs_features {
            remarks.push("needs --features");
        }
        table.row([method.name.into(), method.summary.into(), remarks.join(", ")]);
    }
    table.render()
}

fn in_full(method: &Method) -> String {
    let mut text = format!(
        "{}: {}\n\n{}\n\n",
        method.name,
        method.summary,
        wrapped_within(90, method.description, "", "").trim_end()
    );
    if is_baseline(method) {
        text.push_str("A baseline from the literature.\n");
    }
    if !method.aliases.is_empty() {
        text.push_str(&format!("Also called: {}\n", method.aliases.join(", ")));
    }
    if method.answers() == Answers::Pairs {
        text.push_str("Answers: comparisons of two items (quorate rank)\n");
    } else {
        text.push_str("Classes: any number");
        text.push_str(if method.uses_class_order {
            ", whose order has a meaning (grades, not kinds)\n"
        } else {
            "\n"
        });
        let matrices = if method.returns_model { "yes" } else { "no" };
        text.push_str(&format!("Confusion matrices: {matrices}\n"));
    }
    text.push_str(&format!("Published: {}\n\n", method.citation));
    if method.parameters.is_empty() {
        text.push_str("No parameters.\n");
    } else {
        text.push_str("Parameters (--param name=value):\n");
        let mut table = TextTable::new(["name", "default", "allowed", "what it does"]);
        for parameter in method.parameters {
            let default = if parameter.default.is_empty() {
                "-"
            } else {
                parameter.default
            };
            table.row([
                parameter.name.into(),
                default.into(),
                parameter.range(),
                parameter.about.into(),
            ]);
        }
        text.push_str(&table.render());
    }
    text
}

fn as_json(method: &'static Method) -> impl Serialize {
    record! {
        name: method.name,
        aliases: method.aliases,
        answers: method.answers().name(),
        summary: method.summary,
        description: method.description,
        citation: method.citation,
        baseline: is_baseline(method),
        uses_class_order: method.uses_class_order,
        needs_probabilities: method.needs_probabilities,
        needs_features: method.needs_features,
        returns_model: method.returns_model,
        learns_from_gold: method.learns_from_gold,
        uses_priors: method.uses_priors,
        streams: method.streams,
        parameters: each(method.parameters, |parameter| record! {
            name: parameter.name,
            about: parameter.about,
            range: parameter.range(),
            default: parameter.default,
        }),
    }
}
