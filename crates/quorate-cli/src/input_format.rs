//! `--format` of what is read: a table in some file format, or the export of an annotation tool.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use quorate_io::{FileFormat, Tool};

/// File formats of tables, and words for them.
const TABLES: [(&str, &str); 6] = [
    ("csv", "a table"),
    ("tsv", "a table"),
    ("jsonl", "a table: an object on each line"),
    ("json", "a table: an array of objects"),
    ("parquet", "a table"),
    ("arrow", "a table"),
];

/// What the labels are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFormat {
    /// A table.
    Table(FileFormat),
    /// An export.
    Export(Tool),
}

impl InputFormat {
    /// The format of a table, if it is one.
    pub fn table(self) -> Option<FileFormat> {
        match self {
            Self::Table(format) => Some(format),
            Self::Export(_) => None,
        }
    }

    /// The tool, if it is an export.
    pub fn tool(self) -> Option<Tool> {
        match self {
            Self::Table(_) => None,
            Self::Export(tool) => Some(tool),
        }
    }

    fn of_name(name: &str) -> Self {
        match name.parse() {
            Ok(tool) => Self::Export(tool),
            Err(_) => Self::Table(name.parse().unwrap_or_default()),
        }
    }
}

/// Parses the name of a format.
pub fn parser() -> impl TypedValueParser<Value = InputFormat> {
    let tables = TABLES.map(|(name, help)| PossibleValue::new(name).help(help));
    let tools = Tool::ALL.map(|tool| PossibleValue::new(tool.name()).help(tool.title()));
    PossibleValuesParser::new(tables.into_iter().chain(tools)).map(|name| InputFormat::of_name(&name))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_help_lists_every_name() {
        let program = crate::args::Cli::command();
        let aggregate = program.find_subcommand("aggregate").unwrap();
        let format = aggregate
            .get_arguments()
            .find(|argument| argument.get_id() == "format")
            .unwrap();
        let help = format.get_long_help().unwrap().to_string();
        let listed: Vec<&str> = help.split([' ', ',', '.', '\n']).collect();
        for name in TABLES
            .map(|(name, _)| name)
            .into_iter()
            .chain(Tool::ALL.map(Tool::name))
        {
            assert!(listed.contains(&name), "{name} in {help}");
        }
    }

    #[test]
    fn every_name_is_a_format_of_its_own() {
        for (name, _) in TABLES {
            let format: FileFormat = name.parse().unwrap();
            assert_eq!(InputFormat::of_name(name), InputFormat::Table(format));
        }
        for tool in Tool::ALL {
            assert_eq!(InputFormat::of_name(tool.name()), InputFormat::Export(tool));
        }
    }
}
