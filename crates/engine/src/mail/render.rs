//! Mails as text: pure functions of what happened and the reader's language.
//!
//! No mail carries a link. A payer who learns that can tell every imitation by it.

use till_core::asset::Mode;
use till_core::time;

use super::free_text::without_addresses;
use super::html::Html;
use super::locale::Locale;
use super::words::{Words, words};
use crate::smtp::one_line;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub subject: String,
    pub text: String,
    pub html: String,
}

#[derive(Clone, Debug)]
pub struct ReceiptData<'a> {
    pub mode: Mode,
    pub merchant: Option<&'a str>,
    pub invoice: &'a str,
    /// The price, in major units.
    pub amount: &'a str,
    pub currency: &'a str,
    pub payments: Vec<ReceiptPayment<'a>>,
    pub paid_at_ms: i64,
}

#[derive(Clone, Debug)]
pub struct ReceiptPayment<'a> {
    /// Whole tokens.
    pub amount: String,
    pub symbol: &'a str,
    pub network_name: &'a str,
    pub tx_hash: &'a str,
}

#[derive(Clone, Debug)]
pub struct RefundData<'a> {
    pub mode: Mode,
    pub merchant: Option<&'a str>,
    pub invoice: &'a str,
    /// Whole tokens.
    pub amount: &'a str,
    pub symbol: &'a str,
    pub created_at_ms: i64,
}

/// A text that is the merchant's own, as a mail may show it.
struct FreeText {
    said: String,
    left_out: bool,
}

impl FreeText {
    fn of(said: &str) -> FreeText {
        let line = one_line(said);
        let (shown, left_out) = without_addresses(&line);
        FreeText {
            said: shown.into_owned(),
            left_out,
        }
    }
}

/// Says that something is missing, where it is.
fn note<'a>(words: &Words, texts: impl IntoIterator<Item = &'a FreeText>) -> Option<&'static str> {
    let left_out = texts.into_iter().any(|text| text.left_out);
    left_out.then_some(words.left_out)
}

pub fn receipt(locale: Locale, data: &ReceiptData<'_>) -> Rendered {
    let words = words(locale);
    let name = data.merchant.map(FreeText::of);
    let merchant = name.as_ref().map(|name| &*name.said);
    let mut rows = vec![
        (words.invoice, data.invoice.to_owned()),
        (
            words.invoice_amount,
            format!("{} {}", data.amount, data.currency),
        ),
        (words.date, day_and_minute(data.paid_at_ms)),
    ];
    for payment in &data.payments {
        rows.push((words.paid, format!("{} {}", payment.amount, payment.symbol)));
        rows.push((words.network, payment.network_name.to_owned()));
        rows.push((words.transaction, payment.tx_hash.to_owned()));
    }
    Letter {
        locale,
        mode: data.mode,
        subject: words.receipt_subject.say(merchant),
        opening: words.receipt_opening.say(merchant),
        rows,
        note: note(words, &name),
        closing: None,
        why: words.why,
    }
    .render(words)
}

/// Tells that there is a refund, never how to claim it.
pub fn refund(locale: Locale, data: &RefundData<'_>) -> Rendered {
    let words = words(locale);
    let name = data.merchant.map(FreeText::of);
    let merchant = name.as_ref().map(|name| &*name.said);
    Letter {
        locale,
        mode: data.mode,
        subject: words.refund_subject.say(merchant),
        opening: words.refund_opening.say(merchant),
        rows: vec![
            (words.invoice, data.invoice.to_owned()),
            (words.refund, format!("{} {}", data.amount, data.symbol)),
            (words.date, day_and_minute(data.created_at_ms)),
        ],
        note: note(words, &name),
        closing: Some(words.refund_next),
        why: words.why,
    }
    .render(words)
}

#[derive(Clone, Debug)]
pub struct ReminderData<'a> {
    pub mode: Mode,
    pub merchant: Option<&'a str>,
    pub invoice: &'a str,
    /// What is subscribed to.
    pub plan: &'a str,
    /// The price, in major units.
    pub amount: &'a str,
    pub currency: &'a str,
    pub pay_by_ms: i64,
}

/// Tells that a renewal is to be paid, never where: a mail with a link in it is somebody else's.
pub fn reminder(locale: Locale, data: &ReminderData<'_>) -> Rendered {
    let words = words(locale);
    let name = data.merchant.map(FreeText::of);
    let merchant = name.as_ref().map(|name| &*name.said);
    let plan = FreeText::of(data.plan);
    Letter {
        locale,
        mode: data.mode,
        subject: words.reminder_subject.say(merchant),
        opening: words.reminder_opening.say(merchant),
        rows: vec![
            (words.plan, plan.said.clone()),
            (words.invoice, data.invoice.to_owned()),
            (
                words.invoice_amount,
                format!("{} {}", data.amount, data.currency),
            ),
            (words.pay_by, day_and_minute(data.pay_by_ms)),
        ],
        note: note(words, name.iter().chain([&plan])),
        closing: Some(words.reminder_next),
        why: words.reminder_why,
    }
    .render(words)
}

struct Letter {
    locale: Locale,
    mode: Mode,
    subject: String,
    opening: String,
    rows: Vec<(&'static str, String)>,
    note: Option<&'static str>,
    closing: Option<&'static str>,
    /// Why the reader gets it.
    why: &'static str,
}

impl Letter {
    fn render(self, words: &Words) -> Rendered {
        let test = (self.mode == Mode::Test).then_some(words.test);
        let subject = match self.mode {
            Mode::Live => self.subject.clone(),
            Mode::Test => format!("{} {}", words.test_mark, self.subject),
        };
        Rendered {
            text: self.text(test),
            html: self.html(test),
            subject,
        }
    }

    fn text(&self, test: Option<&str>) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|(label, value)| format!("{label}: {}", one_line(value)))
            .collect();
        let rows = rows.join("\n");
        let parts = [
            Some(self.opening.as_str()),
            test,
            Some(&rows),
            self.note,
            self.closing,
            Some(self.why),
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        parts.join("\n\n") + "\n"
    }

    fn html(&self, test: Option<&str>) -> String {
        let mut html = Html::default();
        html.tag("<!DOCTYPE html>\n<html lang=\"")
            .text(self.locale.as_str())
            .tag("\">\n<head><meta charset=\"utf-8\"><title>")
            .text(&self.subject)
            .tag("</title></head>\n<body style=\"font-family:sans-serif;line-height:1.5;max-width:40em\">\n<p>")
            .text(&self.opening)
            .tag("</p>\n");
        if let Some(test) = test {
            html.tag("<p><strong>").text(test).tag("</strong></p>\n");
        }
        html.tag("<table>\n");
        for (label, value) in &self.rows {
            html.tag("<tr><th scope=\"row\" align=\"left\" valign=\"top\">")
                .text(label)
                .tag("</th><td style=\"word-break:break-all\">")
                .text(&one_line(value))
                .tag("</td></tr>\n");
        }
        html.tag("</table>\n");
        for part in [self.note, self.closing].into_iter().flatten() {
            html.tag("<p>").text(part).tag("</p>\n");
        }
        html.tag("<p><small>")
            .text(self.why)
            .tag("</small></p>\n</body>\n</html>\n");
        html.finish()
    }
}

/// The same in every language, and read as the same by everybody: `2026-11-15 03:13 UTC`.
fn day_and_minute(ms: i64) -> String {
    let shown = time::show(ms);
    match (shown.get(..10), shown.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => shown,
    }
}

#[cfg(test)]
mod tests;
