//! `vkabort sites`: lists the abort sites of modules.

use crate::failure::Result;
use crate::inputs::for_each_module;
use crate::{io, site_tables};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use vkabort_instrument::Options;
use vkabort_record::escape::one_line;
use vkabort_record::message_type::{Length, Type};
use vkabort_record::site::{EntryPoint, Site, SiteTable};
use vkabort_record::specialization::{LocalSize, SpecConstant};
use vkabort_record::stage::stage_name;
use vkabort_report::{show_frame, show_location};

/// Arguments of `vkabort sites`.
#[derive(Args)]
#[command(after_help = "\
A module that cannot be read is reported, and the others are still listed; the exit code is then 3 or 4.")]
pub struct SitesArgs {
    /// SPIR-V modules, little- or big-endian, and folders of them
    #[arg(value_name = "IN.spv|FOLDER", required = true)]
    inputs: Vec<PathBuf>,
    /// Print a list of site tables as JSON, for `vkabort decode --sites`
    #[arg(long)]
    json: bool,
}

/// Prints the abort sites of the modules.
///
/// # Errors
///
/// Standard output cannot be written.
pub fn run(args: &SitesArgs) -> Result<ExitCode> {
    let mut tables = Vec::new();
    let mut text = Listing::default();
    let code = for_each_module(&args.inputs, |module| {
        match site_tables::of_module(&module, &Options::default())? {
            Some(table) => {
                show_table(&module.name, &table, &mut text);
                tables.push(table);
            }
            None => {
                text.line(&format!("{}: no abort sites", module.name));
            }
        }
        Ok(())
    });
    if args.json {
        // Serialising plain structures with string keys does not fail.
        io::print_json(&serde_json::to_string_pretty(&tables).unwrap_or_default())?;
    } else {
        io::print(&text.0)?;
    }
    Ok(code)
}

/// The listing, line by line.
#[derive(Default)]
struct Listing(String);

impl Listing {
    /// Adds a line. Names in it are not trusted: none makes a line of its own.
    fn line(&mut self, line: &str) {
        self.0 += &one_line(line);
        self.0.push('\n');
    }
}

fn show_table(name: &str, table: &SiteTable, out: &mut Listing) {
    let count = match table.sites.len() {
        0 => "no abort sites".to_owned(),
        n => io::count(n as u64, "abort site"),
    };
    out.line(&format!("{name}: {count}, module {}", table.module_hash));
    let entries: Vec<String> = table.entry_points.iter().map(show_entry).collect();
    out.line(&format!("  entry points: {}", entries.join(", ")));
    if !table.constants.is_empty() {
        let constants: Vec<String> = table.constants.iter().map(show_constant).collect();
        out.line(&format!("  specialization constants: {}", constants.join(", ")));
    }
    for warning in &table.warnings {
        out.line(&format!("  warning: {warning}"));
    }
    for site in &table.sites {
        out.0.push('\n');
        show_site(table, site, out);
    }
}

fn show_entry(entry: &EntryPoint) -> String {
    let name = &entry.name;
    let stage = stage_name(entry.execution_model);
    match entry.local_size {
        Some(size) => {
            let [x, y, z] = size.map(LocalSize::default_value);
            format!("{stage} `{name}` ({x} x {y} x {z})")
        }
        None => format!("{stage} `{name}`"),
    }
}

fn show_constant(constant: &SpecConstant) -> String {
    let name = constant.name.as_ref().map(|name| format!(" {name}"));
    let (id, ty, default) = (constant.id, constant.default.ty().name(), constant.default);
    format!("{id}{}: {ty} = {default}", name.unwrap_or_default())
}

fn show_site(table: &SiteTable, site: &Site, out: &mut Listing) {
    let place = site
        .location
        .as_ref()
        .map_or_else(|| "unknown place".to_owned(), show_location);
    let function = &site.function;
    out.line(&format!(
        "  #{}  {place}  in `{function}`, word {}",
        site.id.0, site.word_offset
    ));
    if let Some(source) = site.location.as_ref().and_then(|l| l.source.as_deref()) {
        out.line(&format!("      | {}", source.trim()));
    }
    let callers: Vec<String> = site.callers.iter().rev().map(show_frame).collect();
    if !callers.is_empty() {
        out.line(&format!("      called from  {}", callers.join(" from ")));
    }
    if let Some(frame) = &site.used_in {
        out.line(&format!("      used in  {}", show_frame(frame)));
    }
    let entry_points: Vec<String> = table
        .entry_points_of(site)
        .map(|entry| format!("{} `{}`", stage_name(entry.execution_model), entry.name))
        .collect();
    let entry_points = if entry_points.is_empty() {
        "no entry point: dead code".to_owned()
    } else {
        entry_points.join(", ")
    };
    out.line(&format!("      reached by   {entry_points}"));
    if let Some(check) = &site.check {
        out.line(&format!("      check        {check}"));
    }
    if let Some(text) = &site.text {
        out.line(&format!("      text         \"{text}\""));
    }
    out.line(&format!("      message      {} bytes", site.message.size()));
    show_member(None, 0, &site.message, 0, out);
}

/// Writes one line per member (byte offset, type, name), and the members of a structure below it, indented.
fn show_member(name: Option<&str>, offset: u32, ty: &Type, depth: usize, out: &mut Listing) {
    // A module may nest types to any depth; deeper members are unreadable on a screen.
    if depth > 32 {
        return;
    }
    let members = match (innermost_element(ty), ty) {
        // The message itself is not a member and has no line.
        (_, Type::Struct { members, .. }) if depth == 0 => members,
        (Type::Struct { members, .. }, _) => {
            show_type(name, offset, ty, depth, out);
            members
        }
        _ => return show_type(name, offset, ty, depth, out),
    };
    for member in members {
        let at = offset.saturating_add(member.offset);
        show_member(member.name.as_deref(), at, &member.ty, depth + 1, out);
    }
}

fn show_type(name: Option<&str>, offset: u32, ty: &Type, depth: usize, out: &mut Listing) {
    let indent = "  ".repeat(depth.saturating_sub(1));
    let name = name.map(|n| format!("  {n}")).unwrap_or_default();
    out.line(&format!("      {offset:>9}  {indent}{}{name}", type_name(ty)));
}

/// Element type of an array, through arrays of arrays; other types unchanged.
fn innermost_element(ty: &Type) -> &Type {
    let mut inner = ty;
    while let Type::Array { element, .. } = inner {
        inner = element;
    }
    inner
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Scalar(ty) => ty.name().to_owned(),
        Type::Vector { count, component } => format!("{} x {count}", component.name()),
        Type::Matrix {
            columns,
            rows,
            component,
            stride,
            row_major,
        } => {
            let order = if *row_major { "row" } else { "column" };
            format!(
                "{} x {columns} columns x {rows} rows, {order}-major, stride {stride}",
                component.name()
            )
        }
        Type::Array {
            length,
            stride,
            element,
            utf,
        } => {
            let length = match length {
                Length::Constant(n) => n.to_string(),
                Length::Specialised { spec_id, default } => match spec_id {
                    Some(id) => format!("SpecId {id}, default {default}"),
                    None => format!("specialised, default {default}"),
                },
            };
            match utf {
                true => format!("string[{length}]"),
                false => format!("{}[{length}], stride {stride}", type_name(element)),
            }
        }
        Type::Struct { name, .. } => match name {
            Some(name) => format!("struct {name}"),
            None => "struct".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_that_planted_an_abort_is_listed() {
        let mut text = Listing::default();
        let site = Site {
            check: Some("loops\x1b".into()),
            ..Site::default()
        };
        show_site(&SiteTable::default(), &site, &mut text);
        assert!(text.0.contains("\n      check        loops\\x1b\n"), "{}", text.0);
    }
}
