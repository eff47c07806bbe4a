//! Mails as a payer reads them, word by word where words matter.

use super::*;

fn data() -> ReceiptData<'static> {
    ReceiptData {
        mode: Mode::Live,
        merchant: Some("Café Müller"),
        invoice: "inv_1",
        amount: "25.00",
        currency: "EUR",
        payments: vec![
            ReceiptPayment {
                amount: "20.00".into(),
                symbol: "EURC",
                network_name: "Base",
                tx_hash: "0xaa",
            },
            ReceiptPayment {
                amount: "5.004213".into(),
                symbol: "EURC",
                network_name: "Ethereum",
                tx_hash: "0xbb",
            },
        ],
        paid_at_ms: 1_794_712_419_123,
    }
}

fn refund_data() -> RefundData<'static> {
    RefundData {
        mode: Mode::Live,
        merchant: Some("Café Müller"),
        invoice: "inv_1",
        amount: "5.00",
        symbol: "EURC",
        created_at_ms: 1_794_712_419_123,
    }
}

fn reminder_data() -> ReminderData<'static> {
    ReminderData {
        mode: Mode::Live,
        merchant: Some("Café Müller"),
        invoice: "inv_1",
        plan: "Tea club",
        amount: "25.00",
        currency: "EUR",
        pay_by_ms: 1_794_712_419_123,
    }
}

#[test]
fn a_reminder_says_what_is_due_until_when_and_carries_no_link() {
    let mail = reminder(Locale::En, &reminder_data());
    assert_eq!(mail.subject, "Your renewal with Café Müller is due");
    for line in [
        "Subscription: Tea club",
        "Invoice amount: 25.00 EUR",
        "Pay by: 2026-11-15 03:13 UTC",
    ] {
        assert!(mail.text.lines().any(|said| said == line), "{}", mail.text);
    }
    assert!(!mail.html.contains("href") && !mail.text.contains("://"));
}

#[test]
fn a_receipt_says_who_was_paid_what_how_and_when() {
    let mail = receipt(Locale::En, &data());
    assert_eq!(mail.subject, "Receipt for your payment to Café Müller");
    assert_eq!(
        mail.text,
        "Café Müller has received your payment. Thank you.\n\
         \n\
         Invoice: inv_1\n\
         Invoice amount: 25.00 EUR\n\
         Date: 2026-11-15 03:13 UTC\n\
         Paid: 20.00 EURC\n\
         Network: Base\n\
         Transaction: 0xaa\n\
         Paid: 5.004213 EURC\n\
         Network: Ethereum\n\
         Transaction: 0xbb\n\
         \n\
         You are receiving this message because this address was entered on the payment page of this invoice. \
         Please do not reply to it.\n"
    );
}

#[test]
fn both_bodies_say_the_same_in_every_language() {
    for locale in Locale::ALL {
        for mail in [
            receipt(locale, &data()),
            refund(locale, &refund_data()),
            reminder(locale, &reminder_data()),
        ] {
            assert!(
                mail.html
                    .contains(&format!("<html lang=\"{}\">", locale.as_str()))
            );
            for line in mail.text.lines().filter(|line| !line.is_empty()) {
                let (label, value) = line.split_once(": ").unwrap_or((line, line));
                for part in [label, value] {
                    let mut escaped = Html::default();
                    escaped.text(part);
                    let escaped = escaped.finish();
                    assert!(mail.html.contains(&escaped), "{locale:?} lacks {escaped}");
                }
            }
            assert!(mail.subject.contains("Café Müller"), "{}", mail.subject);
        }
    }
}

#[test]
fn no_two_languages_say_the_same() {
    for (a, left) in Locale::ALL.into_iter().enumerate() {
        for right in &Locale::ALL[a + 1..] {
            let mails = |locale| [receipt(locale, &data()), refund(locale, &refund_data())];
            for (left, right) in mails(left).iter().zip(&mails(*right)) {
                assert_ne!(left.subject, right.subject);
                assert_ne!(left.text, right.text);
            }
        }
    }
}

#[test]
fn each_language_opens_in_its_own_words() {
    for (locale, subject, opening) in [
        (
            Locale::Es,
            "Recibo de su pago a Café Müller",
            "Café Müller ha recibido su pago.",
        ),
        (
            Locale::De,
            "Beleg für Ihre Zahlung an Café Müller",
            "Café Müller hat Ihre Zahlung erhalten.",
        ),
        (
            Locale::Fr,
            "Reçu de votre paiement à Café Müller",
            "Café Müller a reçu votre paiement.",
        ),
        (
            Locale::Pt,
            "Recibo do seu pagamento a Café Müller",
            "Café Müller recebeu o seu pagamento.",
        ),
    ] {
        let mail = receipt(locale, &data());
        assert_eq!(mail.subject, subject);
        assert!(mail.text.starts_with(opening), "{}", mail.text);
    }
}

#[test]
fn a_merchant_without_a_name_leaves_no_gap() {
    for locale in Locale::ALL {
        let receipt = receipt(
            locale,
            &ReceiptData {
                merchant: None,
                ..data()
            },
        );
        let refund = refund(
            locale,
            &RefundData {
                merchant: None,
                ..refund_data()
            },
        );
        for mail in [receipt, refund] {
            let all = format!("{}{}{}", mail.subject, mail.text, mail.html);
            assert!(
                !all.contains("{merchant}") && !all.contains("None"),
                "{all}"
            );
        }
    }
}

#[test]
fn a_test_payment_is_called_one() {
    for locale in Locale::ALL {
        let words = words(locale);
        let test = receipt(
            locale,
            &ReceiptData {
                mode: Mode::Test,
                ..data()
            },
        );
        assert!(test.subject.starts_with(words.test_mark));
        let mut sentence = Html::default();
        sentence.text(words.test);
        assert!(test.text.contains(words.test) && test.html.contains(&sentence.finish()));
        let live = receipt(locale, &data());
        assert!(!live.subject.contains('[') && !live.text.contains(words.test));
    }
}

#[test]
fn no_mail_carries_a_link() {
    for locale in Locale::ALL {
        for mail in [receipt(locale, &data()), refund(locale, &refund_data())] {
            for text in [mail.text, mail.html] {
                assert!(!text.contains("http") && !text.contains("href"), "{text}");
            }
        }
    }
}

#[test]
fn what_others_wrote_is_never_markup() {
    const CANARY: &str = "<img src=x onerror=alert(1)>\"'&<script>";
    let receipt = receipt(
        Locale::En,
        &ReceiptData {
            merchant: Some(CANARY),
            invoice: CANARY,
            amount: CANARY,
            currency: CANARY,
            payments: vec![ReceiptPayment {
                amount: CANARY.into(),
                symbol: CANARY,
                network_name: CANARY,
                tx_hash: CANARY,
            }],
            ..data()
        },
    );
    let refund = refund(
        Locale::En,
        &RefundData {
            merchant: Some(CANARY),
            invoice: CANARY,
            amount: CANARY,
            symbol: CANARY,
            ..refund_data()
        },
    );
    for mail in [receipt, refund] {
        assert!(!mail.html.contains("<img") && !mail.html.contains("<script"));
        assert!(
            mail.html
                .contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;")
        );
    }
}

#[test]
fn a_name_cannot_begin_a_line_of_its_own() {
    let mail = receipt(
        Locale::En,
        &ReceiptData {
            merchant: Some("Ann\r\nBcc: x@example.com\u{202e}\u{2028}y"),
            ..data()
        },
    );
    assert_eq!(
        mail.subject,
        "Receipt for your payment to Ann  Bcc: x@example.com  y"
    );
    assert!(mail.text.lines().all(|line| !line.starts_with("Bcc")));
}

#[test]
fn an_address_in_a_merchants_text_is_left_out_and_the_reader_told() {
    let address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    let name = format!("Café, send to {address}");
    let mut paid = data();
    paid.merchant = Some(&name);
    let mut refunded = refund_data();
    refunded.merchant = Some(&name);
    let mut due = reminder_data();
    due.plan = &name;
    for locale in [Locale::En, Locale::Es, Locale::De, Locale::Fr, Locale::Pt] {
        for mail in [
            receipt(locale, &paid),
            refund(locale, &refunded),
            reminder(locale, &due),
        ] {
            let all = format!("{}{}{}", mail.subject, mail.text, mail.html);
            assert!(!all.contains("5aAeb605"), "{all}");
            assert!(mail.text.contains("Café, send to […]"), "{}", mail.text);
            assert!(mail.text.contains(words(locale).left_out), "{}", mail.text);
        }
    }
    let plain = receipt(Locale::En, &data());
    assert!(!plain.text.contains("left out"), "{}", plain.text);
}
