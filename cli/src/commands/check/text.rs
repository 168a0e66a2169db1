//! Findings as compilers print theirs, so that editors and build systems recognise them.

use super::finding::Finding;
use vkabort_record::escape::one_line;
use vkabort_report::Styled;

/// A line for each finding.
pub fn document(findings: &[Finding], color: bool) -> Styled {
    let mut out = Styled::default();
    for finding in findings {
        let mut place = finding.file.clone();
        for number in [finding.line, finding.column].into_iter().flatten() {
            place += &format!(":{number}");
        }
        let level = finding.level();
        let style = if level == "error" { "1;31" } else { "1;35" };
        out.push(&Styled::plain(&one_line(&format!("{place}: "))));
        out.push(&Styled::new(style, level, color));
        let text = format!(": {} [{}]", finding.message, finding.rule.name());
        out.push(&Styled::plain(&(one_line(&text) + "\n")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples;
    use super::*;

    #[test]
    fn a_finding_is_one_line() {
        assert_eq!(
            &*document(&examples(), false),
            "a,b.comp:7:5: warning: 100% wrong:\\na second line [format]\na.spv: error: too large [size]\n"
        );
        assert!(document(&examples(), true).contains("a.spv: \x1b[1;31merror\x1b[0m: "));
    }
}
