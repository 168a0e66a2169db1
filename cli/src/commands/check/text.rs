//! Findings as compilers print theirs, so that editors and build systems recognise them.

use super::finding::Finding;
use vkabort_record::escape::one_line;

/// A line for each finding.
pub fn document(findings: &[Finding], color: bool) -> String {
    findings.iter().map(|finding| line(finding, color)).collect()
}

fn line(finding: &Finding, color: bool) -> String {
    let mut place = one_line(&finding.file);
    for number in [finding.line, finding.column].into_iter().flatten() {
        place += &format!(":{number}");
    }
    let level = match (color, finding.level()) {
        (false, level) => level.to_owned(),
        (true, "error") => "\x1b[1;31merror\x1b[0m".to_owned(),
        (true, level) => format!("\x1b[1;35m{level}\x1b[0m"),
    };
    format!(
        "{place}: {level}: {} [{}]\n",
        one_line(&finding.message),
        finding.rule.name()
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples;
    use super::*;

    #[test]
    fn a_finding_is_one_line() {
        assert_eq!(
            document(&examples(), false),
            "a,b.comp:7:5: warning: 100% wrong:\\na second line [format]\na.spv: error: too large [size]\n"
        );
        assert!(document(&examples(), true).contains("a.spv: \x1b[1;31merror\x1b[0m: "));
    }
}
