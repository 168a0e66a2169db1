//! Makes everything that people and programs read of aborts and prints: sentences, JSON, filters and source views. It reads the
//! contract `vkabort_record`, and the rewriter does not depend on it.
//!
//! A message is bytes in GPU memory, to which its type gives a meaning:
//!
//! ```
//! use vkabort_record::message_type::{Member, Type};
//! use vkabort_record::scalar_type::ScalarType;
//! use vkabort_report::Message;
//!
//! // abortEXT("bad index %u", i) in GLSL:
//! let ty = Type::structure([
//!     Member::new(None, 0, Type::string(16)),
//!     Member::new(Some("i"), 16, ScalarType::U32),
//! ]);
//! let bytes = b"bad index %u\0\0\0\0\x07\0\0\0";
//!
//! let message = Message::of_type(&ty, bytes);
//! assert_eq!(message.text, "bad index 7");
//! assert!(message.notes.is_empty() && message.rest.is_empty());
//!
//! // Messages may be cut short, and are never trusted:
//! let message = Message::of_type(&ty, &bytes[..16]);
//! assert_eq!(message.text, "bad index <missing>");
//! assert_eq!(message.notes, ["the message is 4 bytes shorter than its type: 16 of 20"]);
//! ```
//!
//! A [`Report`] has all aborts of a device, as plain data: [`Report::build`] groups records by site, [`Report::from_payloads`] bare
//! messages. [`Filter`] removes sites, and [`Duplicates`] those that were shown before. [`Report::text`] and [`Report::json_lines`]
//! are its views; [`Totals`] adds up several reports. A [`PrintLine`] is a print.
#![forbid(unsafe_code)]

mod build;
mod command_lines;
mod commands;
mod data;
mod distinct;
mod duplicates;
mod extent;
mod filter;
pub mod json;
mod message;
mod other_samples;
mod phrases;
mod pipelines;
mod print_line;
mod race_text;
mod rows;
mod site_context;
pub mod site_json;
mod site_match;
mod site_report;
mod source_view;
mod styled;
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
pub use filter::Filter;
pub use message::{Decoding, Message};
pub use phrases::{show_frame, show_location};
pub use print_line::{DroppedPrints, PrintLine, PrintPlace};
pub use site_report::SiteReport;
pub use styled::Styled;
pub use summary::{Report, Summary};
pub use text::COLUMNS;
pub use totals::{SiteTotal, Totals};
