//! Faults of the aborts of a module, to warn about when it is compiled.

use crate::outcome::Hooks;
use crate::pipeline;
use vkabort_analysis::warnings::{advice_on_overlaps, missing_extension, overlap};
use vkabort_lower::constant_data;
use vkabort_options::Options;
use vkabort_record::message_text::format_notes;
use vkabort_record::site::{Site, SiteId, SiteTable};
use vkabort_spirv::error::{ErrorKind, Result};
use vkabort_spirv::index::Index;

/// Messages up to this size are laid out, whatever `max_message_bytes` is: one that is larger than the limit is a finding.
const MAX_LAYOUT_BYTES: u32 = 1 << 20;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The format string does not fit its arguments.
    Format,
    /// A message is larger than `max_message_bytes`.
    Size,
    /// Parts of a message overlap, so that values are lost.
    Overlap,
    /// The source lines of aborts are unknown.
    DebugInfo,
    /// The module does not declare `SPV_KHR_abort`.
    Extension,
    /// Constant data is malformed and not used.
    ConstantData,
    /// The module cannot be rewritten.
    Refused,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 7] = [
        Self::Format,
        Self::Size,
        Self::Overlap,
        Self::DebugInfo,
        Self::Extension,
        Self::ConstantData,
        Self::Refused,
    ];

    /// Name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Size => "size",
            Self::Overlap => "overlap",
            Self::DebugInfo => "debug-info",
            Self::Extension => "extension",
            Self::ConstantData => "data",
            Self::Refused => "refused",
        }
    }

    /// The requirement of the rule, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Format => {
                "A format string has one conversion for each argument that is not a struct, array or matrix, of the argument's type."
            }
            Self::Size => "A message is not larger than maxShaderAbortMessageSize.",
            Self::Overlap => "The parts of a message do not overlap.",
            Self::DebugInfo => "A module with aborts has debug information with source lines.",
            Self::Extension => "A module that declares AbortKHR declares SPV_KHR_abort.",
            Self::ConstantData => "Constant data has as many bytes as its array type, also if nothing uses it.",
            Self::Refused => "The layer can rewrite the module.",
        }
    }

    /// Whether aborts of the module do not work on emulated devices at all.
    pub fn is_error(self) -> bool {
        matches!(self, Self::Size | Self::Refused)
    }
}

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub rule: Rule,
    /// The abort, unless it concerns the whole module.
    pub site: Option<SiteId>,
    /// The problem and its remedy, in one sentence.
    pub message: String,
}

/// The sites of a module and their faults.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The sites.
    pub sites: SiteTable,
    /// Faults of the module, then of each site in their order.
    pub findings: Vec<Finding>,
}

/// Checks the aborts of a module. `None` if it does not declare `AbortKHR`.
///
/// # Errors
///
/// An [`Error`](crate::Error) if the sites of the module cannot be determined: it is malformed, or a message has no size.
pub fn check(words: &[u32], options: &Options) -> Result<Option<Checked>> {
    let layout = Options {
        max_message_bytes: options.max_message_bytes.max(MAX_LAYOUT_BYTES),
        ..options.clone()
    };
    let Some(sites) = pipeline::sites(words, &layout)? else {
        return Ok(None);
    };
    let index = Index::new(words)?;
    let mut findings = Vec::new();
    let mut add = |rule, site: Option<&Site>, message| {
        findings.push(Finding {
            rule,
            site: site.map(|site| site.id),
            message,
        });
    };
    if let Some(message) = missing_extension(&index) {
        add(Rule::Extension, None, message);
    }
    let without_line = sites.sites.iter().filter(|site| site.location.is_none()).count();
    if without_line > 0 {
        let message = format!(
            "the source lines of {without_line} of {} aborts are unknown: compile with -gVS (glslang) or -g (Slang)",
            sites.sites.len()
        );
        add(Rule::DebugInfo, None, message);
    }
    for site in &sites.sites {
        let (size, limit) = (site.message.size(), options.max_message_bytes);
        if size > limit {
            let message =
                format!("the message has {size} bytes, more than the limit of {limit}: send fewer or shorter arrays");
            add(Rule::Size, Some(site), message);
        }
        if let Err(parts) = overlap(&site.message) {
            add(
                Rule::Overlap,
                Some(site),
                format!("{parts}; {}", advice_on_overlaps(&index)),
            );
        }
        for note in format_notes(site) {
            add(Rule::Format, Some(site), note);
        }
    }
    let rewritten = pipeline::rewrite(words, options, Hooks::default());
    if rewritten.is_ok()
        && let Some(error) = constant_data::malformed(&index)
    {
        let message = format!("constant data that a driver with the extension may refuse: {error}");
        add(Rule::ConstantData, None, message);
    }
    if let Err(error) = rewritten
        // Reported above, site by site.
        && !(error.kind == ErrorKind::Limit && sites.sites.iter().any(|site| site.message.size() > options.max_message_bytes))
    {
        let site = sites.sites.iter().find(|site| Some(site.word_offset) == error.offset);
        add(Rule::Refused, site, format!("the layer refuses the module: {error}"));
    }
    Ok(Some(Checked { sites, findings }))
}
