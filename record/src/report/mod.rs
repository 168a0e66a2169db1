//! Reports of all aborts of a device: plain data, with a view as text for people and one as JSON for programs.
//!
//! [`Report::build`] groups records by site, [`Report::from_payloads`] bare messages. [`Filter`] removes sites, and
//! [`Duplicates`] those that were shown before. [`Report::text`] and [`Report::json_lines`] are the views; [`Totals`] adds up
//! several reports.

mod build;
mod command_lines;
mod commands;
mod data;
mod distinct;
mod duplicates;
mod extent;
mod filter;
mod filter_rules;
pub mod json;
mod other_samples;
mod phrases;
mod pipelines;
mod print_line;
mod rows;
mod site_context;
mod site_match;
mod site_report;
mod source_view;
mod summary;
mod text;
mod totals;
mod value_json;
mod value_lines;
mod values_at_abort;

pub use commands::{ArgumentReport, CommandPlace, CommandReport, PendingCommand, QueueProgress};
pub use data::{
    ConditionReport, ConstantValue, Extent, ModuleInfo, NamedValue, QueueUse, ReportOptions, Sample,
    SpecializationReport, StageReport,
};
pub use duplicates::Duplicates;
pub use filter::{Filter, PlantingPlace, SanitizeFilter};
pub use phrases::show_location;
pub use print_line::{DroppedPrints, PrintLine, PrintPlace};
pub use site_report::SiteReport;
pub use summary::{Report, Summary};
pub use text::COLUMNS;
pub use totals::{SiteTotal, Totals};
