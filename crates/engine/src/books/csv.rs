//! The report as a table: a row for each figure and each discrepancy (RFC 4180).

use super::report::{DiscrepancyView, Figure, ReportView};

const HEAD: [&str; 10] = [
    "section", "asset", "item", "amount", "severity", "invoice", "network", "tx_hash", "index",
    "detail",
];

/// The rows, each with its end of line.
pub fn csv(report: &ReportView) -> impl Iterator<Item = String> + '_ {
    let figures = report.assets.iter().flat_map(|asset| {
        let of = |section: &'static str, figures: &'_ [Figure]| {
            let row = |figure: &Figure| {
                let cells = [section, &asset.asset, figure.item, &figure.amount];
                line(cells.into_iter().chain([""; 6]))
            };
            figures.iter().map(row).collect::<Vec<_>>()
        };
        [
            of("ledger", &asset.ledger),
            of("chain", &asset.chain),
            of("invoices", &asset.invoices),
        ]
        .concat()
    });
    let discrepancies = report.discrepancies.iter().map(discrepancy);
    std::iter::once(line(HEAD))
        .chain(figures)
        .chain(discrepancies)
}

fn discrepancy(one: &DiscrepancyView) -> String {
    let text = |cell: &Option<String>| cell.clone().unwrap_or_default();
    let cells = [
        "discrepancies".to_owned(),
        one.asset.clone(),
        one.kind.to_owned(),
        one.amount.clone(),
        one.severity.to_owned(),
        text(&one.invoice),
        text(&one.network),
        text(&one.tx_hash),
        one.index.map(|index| index.to_string()).unwrap_or_default(),
        one.detail.clone(),
    ];
    line(cells.iter().map(String::as_str))
}

fn line<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    cells.join(",") + "\r\n"
}

/// What a spreadsheet would run is text for it, and what the form needs is quoted. An amount below zero is a number.
fn cell(text: &str) -> String {
    let is_number = text.strip_prefix('-').is_some_and(|rest| {
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    let runs = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let text = match runs {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused_and_separators_quoted() {
        for (text, expected) in [
            ("plain", "plain"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("@x", "'@x"),
            ("-x", "'-x"),
            ("-1.50", "-1.50"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=a,b", "\"'=a,b\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
