//! Findings as workflow commands of GitHub Actions, which shows them as annotations of the source.
//!
//! Source: GitHub documentation, "Workflow commands for GitHub Actions"; the escapes are those of the package
//! `@actions/core`.

use super::finding::Finding;

/// A command for each finding.
pub fn document(findings: &[Finding]) -> String {
    findings.iter().map(command).collect()
}

fn command(finding: &Finding) -> String {
    let mut out = format!("::{} file={}", finding.level(), property(&finding.file));
    for (name, number) in [("line", finding.line), ("col", finding.column)] {
        if let Some(number) = number {
            out += &format!(",{name}={number}");
        }
    }
    out + &format!(",title=vkabort {}::{}\n", finding.rule.name(), text(&finding.message))
}

fn text(value: &str) -> String {
    value.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(value: &str) -> String {
    text(value).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples;
    use super::*;

    #[test]
    fn commands_escape_their_text_and_properties() {
        assert_eq!(
            document(&examples()),
            "::warning file=a%2Cb.comp,line=7,col=5,title=vkabort format::100%25 wrong:%0Aa second line\n\
             ::error file=a.spv,title=vkabort size::too large\n"
        );
    }
}
