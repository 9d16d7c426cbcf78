//! What to do about an error or a finding, in the words of this program: the library names a remedy, and only
//! this file knows the options that apply it.

use quorate::Remedy;
use quorate::diagnose::Finding;

/// The words for a remedy.
pub fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::RaiseMemoryLimit => "raise the limit with --memory GIB",
        Remedy::NameClasses => {
            "name the classes with --classes a,b,c; --missing says which labels are no answer"
        }
        Remedy::GiveClassProbabilities => "give them with --probabilities-in FILE",
        Remedy::GiveFeatures => "give them with --features FILE",
        Remedy::NameFeatureTasks => "say which task each row is about with --feature-tasks FILE",
        Remedy::ListMethods => "`quorate methods` lists them all",
        Remedy::NameColumns => {
            "name columns with --columns task=NAME,worker=NAME,label=NAME (--gold-columns, --truth-columns for those files); --wide reads a table with a column for each worker"
        }
        Remedy::NameFormat => {
            "say what the file is with --format NAME (csv, jsonl, .. for a plain table); `quorate help aggregate` lists the names"
        }
        Remedy::NameQuestion => "choose one with --question NAME",
        Remedy::KeepLabels => "fit the model anew with `--model FILE --keep-labels`",
        Remedy::GiveTruthsOnce => "give one of them: leave --gold or --use-gold out",
        Remedy::ListClass => "add it to --classes, or leave --classes out",
        Remedy::RankComparisons => "rank the items with `quorate rank FILE`",
        Remedy::NameComparisonColumns => {
            "name columns with --columns left=NAME,right=NAME,winner=NAME (also chosen, rejected, item, rank, ranking, judge, prompt, weight)"
        }
        Remedy::FitAnew => "leave --method out, or fit all labels anew without --update",
        Remedy::GiveGold => "check some 50 items by hand, drawn at random, and give them with --gold FILE",
    }
}

/// A message with the words of its remedy, if it has one.
pub fn with_remedy(message: impl Into<String>, remedy: Option<Remedy>) -> String {
    let message = message.into();
    match remedy {
        Some(remedy) => format!("{message}; {}", words(remedy)),
        None => message,
    }
}

/// The advice of a finding, with the words of its remedy as one more sentence.
pub fn advice(finding: &Finding) -> String {
    let mut advice = finding.advice.clone();
    if let Some(remedy) = finding.remedy {
        let (first, rest) = words(remedy).split_at(1);
        advice.push_str(&format!(" {}{rest}.", first.to_uppercase()));
    }
    advice
}

/// The remedy of an error or of what caused it.
pub fn of_error(error: &anyhow::Error) -> Option<Remedy> {
    error.chain().find_map(|cause| {
        let of_library = cause.downcast_ref().and_then(quorate::Error::remedy);
        of_library.or_else(|| cause.downcast_ref().and_then(quorate_io::Error::remedy))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    /// The long options of all commands.
    fn options() -> Vec<String> {
        let program = Cli::command();
        let commands = program.get_subcommands();
        let arguments = commands.flat_map(|command| command.get_arguments());
        arguments
            .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
            .collect()
    }

    #[test]
    fn every_option_in_the_words_exists() {
        let options = options();
        for remedy in Remedy::ALL {
            for word in words(remedy).split([' ', '`', ';', ',']) {
                let named = !word.starts_with("--") || options.iter().any(|option| option == word);
                assert!(named, "{word} in {:?}", words(remedy));
            }
        }
    }

    #[test]
    fn a_remedy_is_found_through_what_wraps_it() {
        let inner = quorate::methods::find("nothing").unwrap_err();
        let outer = anyhow::Error::from(quorate_io::Error::from(inner)).context("while reading");
        assert_eq!(of_error(&outer), Some(Remedy::ListMethods));
    }
}
