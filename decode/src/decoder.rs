//! The decoder behind the interface, without pointers.

use std::sync::{Arc, Mutex, PoisonError};
use vkabort_instrument::{Options, Values, sites};
use vkabort_record::framing::split;
use vkabort_record::site::SiteTable;
use vkabort_report::json::read_log;
use vkabort_report::site_json;
use vkabort_report::{COLUMNS, ModuleInfo, Report, ReportOptions};

/// The shaders that can have sent messages. Shared by threads.
#[derive(Default)]
pub struct Decoder {
    modules: Mutex<Vec<ModuleInfo>>,
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    ColoredText,
    JsonLines,
}

/// A report.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    pub report: String,
    /// The data ends inside a message, which is left out.
    pub is_cut: bool,
}

impl Decoder {
    /// Adds the aborts of a SPIR-V module as it is passed to Vulkan. A module without aborts is left out.
    ///
    /// # Errors
    /// The words are not a valid module.
    pub fn add_shader(&self, words: &[u32], name: Option<String>) -> Result<(), String> {
        let options = Options {
            // Drivers have their own limits.
            max_message_bytes: u32::MAX,
            values: Values::Auto,
            ..Options::default()
        };
        let table = sites(words, &options).map_err(|error| error.to_string())?;
        self.add(table, name);
        Ok(())
    }

    /// Adds the site tables that `vkabort sites --json` writes.
    ///
    /// # Errors
    /// The text is not a site table or a list of them.
    pub fn add_site_tables(&self, json: &[u8], name: Option<String>) -> Result<(), String> {
        let tables = site_json::read(json)?;
        self.add(tables, name);
        Ok(())
    }

    fn add(&self, tables: impl IntoIterator<Item = SiteTable>, name: Option<String>) {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        for table in tables {
            let is_same = |module: &ModuleInfo| module.sites.as_deref() == Some(&table) && module.name == name;
            // Engines load a shader more than once. Two equal sites would be ambiguous.
            if !modules.iter().any(is_same) {
                modules.push(ModuleInfo {
                    sites: Some(Arc::new(table)),
                    name: name.clone(),
                    ..ModuleInfo::default()
                });
            }
        }
    }

    /// Decodes `VkDeviceFaultShaderAbortMessageInfoKHR::pMessageData`.
    ///
    /// # Errors
    /// The bytes are not message data.
    pub fn decode(&self, data: &[u8], format: Format) -> Result<Decoded, String> {
        let messages = split(data);
        if messages.payloads.is_empty() && !data.is_empty() {
            return Err(format!(
                "not abort message data: the first 8 of {} bytes are not the size of a message in them",
                data.len()
            ));
        }
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let is_cut = !messages.rest.is_empty();
        let report = Report::from_payloads(messages.payloads, &modules, &ReportOptions::default());
        let report = match format {
            Format::Text => report.text(false),
            Format::ColoredText => report.text(true),
            Format::JsonLines => report.json_lines(),
        };
        Ok(Decoded { report, is_cut })
    }
}

/// Formats a log in JSON lines.
///
/// # Errors
/// A line is not one of a log.
pub fn format_log(json: &[u8], format: Format) -> Result<String, String> {
    let entries = read_log(&String::from_utf8_lossy(json)).map_err(|error| format!("not a log: {error}"))?;
    let entries = entries.iter().map(|entry| match format {
        Format::Text => entry.styled(false, COLUMNS, true).into(),
        Format::ColoredText => entry.styled(true, COLUMNS, true).into(),
        Format::JsonLines => entry.json_lines(),
    });
    Ok(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::framing::message_data;
    use vkabort_report::json::SCHEMA_VERSION;

    #[test]
    fn message_data_is_decoded_or_refused() {
        let decoder = Decoder::default();
        let mut data = message_data([&b"bad %u\0\0\x07\0\0\0"[..], b"again\0\0\0"]);
        let decoded = decoder.decode(&data, Format::Text).expect("message data");
        assert!(
            !decoded.is_cut && decoded.report.contains("shader aborted: bad 7"),
            "{decoded:?}"
        );
        data.truncate(data.len() - 1);
        let decoded = decoder.decode(&data, Format::JsonLines).expect("one message is whole");
        assert!(
            decoded.is_cut && decoded.report.starts_with("{\"type\":\"abort\""),
            "{decoded:?}"
        );
        assert_eq!(
            decoder.decode(b"not messages", Format::Text),
            Err("not abort message data: the first 8 of 12 bytes are not the size of a message in them".to_owned())
        );
        assert!(decoder.decode(b"", Format::ColoredText).is_ok());
    }

    #[test]
    fn the_check_of_a_site_is_shown() {
        let decoder = Decoder::default();
        let tables =
            br#"{"module_hash":"0000000000000001","entry_points":[],"sites":[{"id":0,"word_offset":5,"function":"f",
            "entry_points":[],"callers":[],"location":null,"message":{"kind":"int","bits":32,"signed":false},"text":null,"check":"loops"}]}"#;
        decoder.add_site_tables(tables, None).expect("a site table");
        let data = message_data([&[7, 0, 0, 0][..]]);
        for (format, expected) in [
            (Format::Text, "= check: loops\n"),
            (Format::JsonLines, "\"check\":\"loops\""),
        ] {
            let decoded = decoder.decode(&data, format).expect("message data");
            assert!(decoded.report.contains(expected), "{decoded:?}");
        }
    }

    #[test]
    fn the_condition_of_a_site_is_shown_with_what_the_message_holds_of_it() {
        let decoder = Decoder::default();
        let tables =
            br#"{"module_hash":"0000000000000001","entry_points":[],"sites":[{"id":0,"word_offset":5,"function":"f",
            "entry_points":[],"callers":[],"location":null,"message":{"kind":"int","bits":32,"signed":false},"text":null,
            "values":{"condition":{"text":["index >= count"],"operands":[
                {"name":"index","place":{"offset":0,"type":{"kind":"int","bits":32,"signed":false}}},
                {"name":"count","place":{"offset":4,"type":{"kind":"int","bits":32,"signed":false}}}]}}}]}"#;
        decoder.add_site_tables(tables, None).expect("a site table");
        let data = message_data([&[70, 0, 0, 0][..]]);
        for (format, expected) in [
            (Format::Text, "= condition: index >= count with index = 70\n"),
            (Format::JsonLines, "\"condition\":{\"text\":\"index >= count\""),
        ] {
            let decoded = decoder.decode(&data, format).expect("message data");
            assert!(decoded.report.contains(expected), "{decoded:?}");
        }
    }

    #[test]
    fn a_log_has_its_prints_and_reports() {
        let print = r#"{"type":"print","version":"NOW","module_hash":null,"function":"main","location":null,"stage":"fragment",
            "invocation":{"by":"fragment","pixel":[3,4]},"text":"x = 5"}"#;
        let print = print.replace("\n            ", "").replace("NOW", SCHEMA_VERSION);
        let log = print + "\n" + &Report::default().json_lines();
        let text = format_log(log.as_bytes(), Format::Text).expect("a log");
        assert!(text.starts_with("main: [fragment pixel (3, 4)] x = 5\n"), "{text}");
        assert_eq!(format_log(log.as_bytes(), Format::JsonLines), Ok(log));
        assert_eq!(
            format_log(b"output of the program", Format::ColoredText),
            Ok(String::new())
        );
        assert!(
            format_log(b"{\"type\":\"print\"}", Format::Text)
                .is_err_and(|error| error.starts_with("not a log: line 1: "))
        );
    }

    #[test]
    fn what_is_not_a_shader_or_a_site_table_is_refused() {
        let decoder = Decoder::default();
        assert!(decoder.add_shader(&[1, 2, 3], None).is_err());
        assert!(decoder.add_site_tables(b"{}", None).is_err());
        assert!(decoder.add_site_tables(b"[]", None).is_ok());
    }
}
