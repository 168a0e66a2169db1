//! The contract between the GPU code that vkabort writes and the host code that reads it.
//!
//! A message is bytes in GPU memory. Its type, which the rewriter stores in the site table of the module, gives them a
//! meaning:
//!
//! ```
//! use vkabort_record::decode::decode;
//! use vkabort_record::message_text::message_text;
//! use vkabort_record::message_type::{Member, Type};
//! use vkabort_record::scalar_type::ScalarType;
//!
//! // abortEXT("bad index %u", i) in GLSL:
//! let ty = Type::structure([
//!     Member::new(None, 0, Type::string(16)),
//!     Member::new(Some("i"), 16, ScalarType::U32),
//! ]);
//! let decoded = decode(&ty, b"bad index %u\0\0\0\0\x07\0\0\0", false);
//! assert_eq!(message_text(&decoded.value).text, "bad index 7");
//! ```
//!
//! From GPU memory to values:
//!
//! * [`layout`]: the arena and the records in it, word by word.
//! * [`compact`]: records without the words that the host has.
//! * [`template`]: the words of compact records that the host has.
//! * [`snapshot`]: an owned copy of an arena, and the bounded walk that reads its records.
//! * [`records`]: the records of an arena and their contents.
//! * [`framing`]: message data as drivers return it, for messages without records.
//! * [`message_data`]: message data of records, joined on demand.
//! * [`site`]: the abort sites of a module, with the [`message_type::Type`] of each message.
//! * [`site_values`]: the condition and the variables at the aborts of a site.
//! * [`specialization`]: the values that pipelines give the constants of a module.
//! * [`float_format`]: values and shortest decimals of the floating-point formats.
//! * [`scalar_type`]: one table of the scalar types that messages consist of.
//! * [`decode`], [`format`](mod@format), [`message_text`]: a payload to typed values, and to text.
//! * [`print`](mod@print): prints of shaders, which end nothing.
//! * [`shadow_area`]: where a check records accesses to shared memory that has no room for that.
//! * [`rules`]: rules that select places in code.
//!
//! The crate `vkabort_report` makes reports of them.
//!
//! The crate does not use Vulkan, and it does not trust the memory that it reads: a snapshot is copied first and indexed
//! with checks, so that a torn or hostile arena yields fewer records, never a panic.
#![forbid(unsafe_code)]

pub mod buffer_table;
pub mod compact;
pub mod decode;
pub mod escape;
pub mod float_format;
pub mod format;
pub mod framing;
pub mod hex;
pub mod invocation;
pub mod layout;
pub mod message_data;
pub mod message_text;
pub mod message_type;
pub mod print;
pub mod records;
pub mod rules;
pub mod scalar;
pub mod scalar_spelling;
pub mod scalar_type;
pub mod shadow_area;
pub mod shared_access;
pub mod site;
pub mod site_fault;
pub mod site_values;
pub mod snapshot;
pub mod specialization;
pub mod stage;
pub mod template;
pub mod value;
