//! Reports: data, construction, filters, and the views for people and programs.

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
pub use phrases::{show_invocation, show_location};
pub use site_match::{Origin, match_payload};
