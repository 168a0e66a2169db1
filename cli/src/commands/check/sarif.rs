//! Findings as SARIF 2.1.0, the format of static analysers that code hosts import.

use super::finding::Finding;
use serde_json::{Value as Json, json};
use std::path::Path;
use vkabort_instrument::Rule;

/// Name of the folder that files are relative to, as GitHub and others expect it.
const ROOT: &str = "%SRCROOT%";

/// A log with one run. `root`: the absolute folder that the files are relative to.
pub fn document(findings: &[Finding], root: Option<&Path>) -> Json {
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule.name(),
            "shortDescription": {"text": rule.description()},
            "defaultConfiguration": {"level": if rule.is_error() { "error" } else { "warning" }},
        })
    });
    let results: Vec<Json> = findings.iter().map(|finding| result(finding, root.is_some())).collect();
    let mut document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "vkabort check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    });
    if let Some(root) = root {
        let path = root.to_string_lossy().replace('\\', "/");
        let path = format!("file:///{}/", uri(path.trim_start_matches('/')).replace("%3A", ":"));
        document["runs"][0]["originalUriBaseIds"] = json!({ROOT: {"uri": path}});
    }
    document
}

fn result(finding: &Finding, has_root: bool) -> Json {
    let mut location = json!({"artifactLocation": {"uri": uri(&finding.file)}});
    if has_root && !Path::new(&finding.file).is_absolute() {
        location["artifactLocation"]["uriBaseId"] = json!(ROOT);
    }
    if let Some(line) = finding.line {
        location["region"] = json!({"startLine": line});
    }
    if let Some(column) = finding.column {
        location["region"]["startColumn"] = json!(column);
    }
    let mut result = json!({
        "ruleId": finding.rule.name(),
        "level": finding.level(),
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
    });
    if let Some(check) = &finding.check {
        result["properties"] = json!({"check": check});
    }
    result
}

/// A path as a URI reference (RFC 3986): all but unreserved characters and `/` as bytes in hexadecimal.
fn uri(path: &str) -> String {
    let byte = |byte: u8| match byte {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples;
    use super::*;

    #[test]
    fn results_name_a_rule_and_a_place() {
        let document = document(&examples(), Some(Path::new("/re po")));
        let run = &document["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        for result in run["results"].as_array().expect("results") {
            assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
        }
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(
            place["artifactLocation"],
            json!({"uri": "a%2Cb.comp", "uriBaseId": "%SRCROOT%"})
        );
        assert_eq!(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///re%20po/");
        assert_eq!(place["region"], json!({"startLine": 7, "startColumn": 5}));
        assert_eq!(run["results"][0]["properties"]["check"], "loops");
        assert_eq!(run["results"][1]["level"], "error");
        assert!(run["results"][1]["properties"].is_null());
        assert!(run["results"][1]["locations"][0]["physicalLocation"]["region"].is_null());
    }
}
