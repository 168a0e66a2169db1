//! Reports of all aborts of a device: plain data, with a view as text for people and one as JSON for programs.
//!
//! [`Report::build`] groups records by site, [`Report::from_payloads`] bare messages. [`Filter`] removes sites.
//! [`Report::text`] and [`Report::json_lines`] are the views.

mod build;
mod data;
mod filter;
pub mod json;
mod phrases;
mod site_match;
mod text;
mod value_json;

pub use data::{Extent, ModuleInfo, QueueUse, Report, ReportOptions, Sample, SiteReport, StageReport, Summary};
pub use filter::Filter;
pub use phrases::show_location;
