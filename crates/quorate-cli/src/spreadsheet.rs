//! Tables that people open in a spreadsheet.

use clap::Args;
use quorate_io::neutralise_formulas;

/// How text is written that a spreadsheet may take for something else.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct SpreadsheetArgs {
    /// In CSV and TSV: put an apostrophe before text that a spreadsheet would take for a formula (= + - @)
    ///
    /// Ids and labels come from others, and a cell such as =HYPERLINK(..) is run where the table is opened.
    /// Numbers of the program stay numbers. A table written so is for people: ids and labels do not read back
    /// as they were.
    #[arg(long)]
    spreadsheet_safe: bool,
}

impl SpreadsheetArgs {
    /// Holds the tables that the command writes to it.
    pub fn apply(&self) {
        if self.spreadsheet_safe {
            neutralise_formulas();
        }
    }
}
