//! The report as a table: a row for each figure and each discrepancy (RFC 4180).

use super::views::{AssetView, DiscrepancyView, Figure};

const HEAD: [&str; 10] = [
    "section", "asset", "item", "amount", "severity", "invoice", "network", "tx_hash", "index",
    "detail",
];

/// Rows have their ends of line.
pub(super) fn head() -> String {
    line(HEAD)
}

pub(super) fn figures(asset: &AssetView) -> String {
    let of = |section: &'static str, figures: &[Figure]| {
        let row = |figure: &Figure| {
            let cells = [section, &asset.asset, figure.item, &figure.amount];
            line(cells.into_iter().chain([""; 6]))
        };
        figures.iter().map(row).collect::<String>()
    };
    [
        of("ledger", &asset.ledger),
        of("chain", &asset.chain),
        of("invoices", &asset.invoices),
    ]
    .concat()
}

pub(super) fn discrepancy(one: &DiscrepancyView) -> String {
    let text = |cell: &Option<String>| cell.clone().unwrap_or_default();
    let cells = [
        "discrepancies".to_owned(),
        text(&one.asset),
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
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    // Full-width signs are read like their narrow twins.
    const RUNS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\0', '＝', '＋', '－', '＠'];
    let runs = text.starts_with(RUNS) && !is_number;
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
            ("-", "'-"),
            ("-.", "'-."),
            ("＝1+1", "'＝1+1"),
            ("\tx", "'\tx"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=a,b", "\"'=a,b\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
