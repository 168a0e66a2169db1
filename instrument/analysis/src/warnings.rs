//! Faults of a module that do not prevent its rewrite, as sentences for people.

use vkabort_record::message_type::{Member, Type};
use vkabort_record::site::Site;
use vkabort_spirv::index::Index;
use vkabort_spirv::{op, words};

/// The faults of a module that declares `AbortKHR`, and of the messages of its sites.
pub fn warnings(index: &Index<'_>, sites: &[Site]) -> Vec<String> {
    let mut warnings = Vec::from_iter(missing_extension(index));
    let mut overlapping = sites
        .iter()
        .filter_map(|site| Some((site, overlap(&site.message).err()?)));
    if let Some((site, overlap)) = overlapping.next() {
        let place = match &site.location {
            Some(location) => format!("{}:{}", location.file, location.line),
            None => format!("word {}", site.word_offset),
        };
        warnings.push(format!(
            "messages of {} of {} abort sites have parts that overlap, so that values are lost: at {place}, {overlap}; {}",
            1 + overlapping.count(),
            sites.len(),
            advice_on_overlaps(index),
        ));
    }
    warnings
}

/// Describes `AbortKHR` without its extension.
pub fn missing_extension(index: &Index<'_>) -> Option<String> {
    (!index.has_extension("SPV_KHR_abort")).then(|| {
        format!(
            "the module declares AbortKHR without OpExtension \"SPV_KHR_abort\", so other tools and drivers may refuse it; \
             it is from {}",
            compiler(index)
        )
    })
}

/// The compiler that wrote overlapping members, and the remedy.
pub fn advice_on_overlaps(index: &Index<'_>) -> String {
    format!(
        "the module is from {}; glslang before 16.6 writes such offsets, so compile with a newer version",
        compiler(index)
    )
}

/// The size of a type in bytes.
///
/// # Errors
///
/// The first overlap of its parts, in words.
pub fn overlap(ty: &Type) -> Result<u32, String> {
    match ty {
        Type::Array { element, stride, .. } => {
            let size = overlap(element)?;
            if *stride < size && ty.size() > size {
                return Err(format!("elements of {size} bytes are {stride} bytes apart"));
            }
        }
        Type::Struct { members, .. } => {
            let mut end = 0;
            let mut in_order = true;
            for member in members {
                let size = overlap(&member.ty)?;
                in_order &= size == 0 || member.offset >= end;
                end = end.max(member.offset.saturating_add(size));
            }
            return if in_order {
                Ok(end)
            } else {
                overlap_of_members(members).map_or(Ok(end), Err)
            };
        }
        _ => {}
    }
    Ok(ty.size())
}

/// The first overlap of members, which may be in any order.
fn overlap_of_members(members: &[Member]) -> Option<String> {
    let mut parts: Vec<(u32, u32, usize, &Member)> = (members.iter().enumerate())
        .map(|(number, member)| {
            (
                member.offset,
                member.offset.saturating_add(member.ty.size()),
                number,
                member,
            )
        })
        .filter(|(offset, end, ..)| offset < end)
        .collect();
    parts.sort_by_key(|(offset, ..)| *offset);
    parts.windows(2).find_map(|pair| match *pair {
        [(_, end, first, a), (offset, _, second, b)] if offset < end => Some(format!(
            "{} at byte {offset} overlaps {}, which ends at byte {end}",
            name_of(second, b),
            name_of(first, a)
        )),
        _ => None,
    })
}

fn name_of(number: usize, member: &Member) -> String {
    match &member.name {
        Some(name) => format!("member {number} (`{name}`)"),
        None => format!("member {number}"),
    }
}

/// The compiler that wrote a module, as far as the module names it: its signature in the debug information, else the
/// generator of the header, each with its version; and the source language.
fn compiler(index: &Index<'_>) -> String {
    let generator = index.words.get(words::GENERATOR).copied().unwrap_or(0);
    let version = generator & 0xFFFF;
    // The registry of generators is `spir-v.xml` of SPIRV-Headers.
    let generator = match generator >> 16 {
        7 => "the assembler of SPIRV-Tools".to_owned(),
        8 => "glslang".to_owned(),
        13 => "glslc (shaderc over glslang)".to_owned(),
        14 => "DXC".to_owned(),
        words::NAGA => "naga".to_owned(),
        words::SLANG => "Slang".to_owned(),
        other => format!("generator {other}"),
    };
    let signature = index.compiler_signature();
    let compiler = signature.unwrap_or_else(|| format!("{generator}, generator version {version}"));
    let source = index.insts(index.sections.extensions, index.sections.annotations);
    let source = source.into_iter().find(|inst| inst.opcode() == op::Source);
    match source.map(|inst| (inst.word(1), inst.word(2))) {
        Some((2, version)) => format!("{compiler} (GLSL {version})"),
        Some((5, version)) => format!("{compiler} (HLSL {version})"),
        Some((11, _)) => format!("{compiler} (Slang)"),
        _ => compiler,
    }
}
