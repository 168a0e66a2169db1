//! Reads site tables from the output of `vkabort sites --json` or `vkabort instrument --sites`, or from modules.

use crate::failure::{Failure, Result};
use crate::io;
use crate::module::Module;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vkabort_instrument::{Options, Outcome, Values, instrument};
use vkabort_record::escape::escape_bytes;
use vkabort_record::site::SiteTable;
use vkabort_report::ModuleInfo;
use vkabort_report::site_json;

/// Returns the sites of a module, or `None` if there is nothing to rewrite in it.
///
/// # Errors
///
/// The rewriter rejects the module.
pub fn of_module(module: &Module, options: &Options) -> Result<Option<SiteTable>> {
    match instrument(&module.words, options) {
        Ok(Outcome::Unchanged) => Ok(None),
        Ok(Outcome::Instrumented(instrumented)) => Ok(Some(instrumented.sites)),
        Err(error) => Err(Failure::input(format!("{}: {error}", module.name))),
    }
}

/// Reads the files of `--sites`: each is a module, or JSON with one table or a list of tables. A module has a table for each of
/// `values`.
///
/// # Errors
///
/// A file cannot be read, or is neither a module nor a site table.
pub fn read(paths: &[PathBuf], values: &[Values]) -> Result<Vec<ModuleInfo>> {
    let mut modules = Vec::new();
    for path in paths {
        let bytes = io::read(path)?;
        let name = io::input_name(path);
        let tables = if Module::has_magic(&bytes) {
            let module = Module::parse(name.clone(), &bytes)?;
            let tables = values.iter().map(|values| {
                // With the templates of compact records, for dumps of an arena.
                let options = Options {
                    compact_records: true,
                    values: *values,
                    ..Options::default()
                };
                of_module(&module, &options)
            });
            tables.filter_map(Result::transpose).collect::<Result<Vec<_>>>()?
        } else {
            parse(&name, &bytes)?
        };
        modules.extend(tables.into_iter().map(|table| ModuleInfo {
            name: module_name(path, &table),
            sites: Some(Arc::new(table)),
            ..ModuleInfo::default()
        }));
    }
    Ok(modules)
}

/// The file's stem, unless it begins with the module's hash: `aborts/5a6b000000000001.sites.json` is not a name.
fn module_name(path: &Path, table: &SiteTable) -> Option<String> {
    let file = path.file_name()?;
    let file = escape_bytes(file.as_encoded_bytes());
    let stem = file.split('.').next().filter(|stem| !stem.is_empty() && *stem != "-")?;
    (!stem.starts_with(&table.module_hash.to_string())).then(|| stem.to_owned())
}

/// Reads the JSON of one table or a list of tables.
fn parse(name: &str, bytes: &[u8]) -> Result<Vec<SiteTable>> {
    site_json::read(bytes).map_err(|error| {
        Failure::input(format!(
            "{name}: {error}; expected a SPIR-V module or the output of `vkabort sites --json`"
        ))
    })
}
