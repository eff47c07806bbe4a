//! Who may leave which address, and what is kept of it. Nothing is sent here.

use futures::future::join_all;
use till_core::asset::Mode;
use till_core::error::Code;
use till_core::scope::Scope;
use till_engine::checkout::session;
use till_store::both_engines;

use crate::world::{NOW, World, mute};

both_engines! {
    async fn an_address_is_kept_encrypted_and_answered_masked(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        let view = world.leave(&invoice, "Ann@EXAMPLE.com", Some("pt-BR"), &token).await.unwrap();
        assert_eq!(
            serde_json::to_value(&view).unwrap(),
            serde_json::json!({
                "object": "payer_notice", "email": "A***@example.com", "locale": "pt", "status": "scheduled",
            })
        );
        let rows = world.receipts(&invoice).await;
        assert_eq!(rows.len(), 1);
        let stored = format!("{:?}", rows[0]);
        assert!(!stored.to_lowercase().contains("example"), "{stored}");
        let contains = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!contains(&rows[0].email, b"Ann") && !contains(&rows[0].email_tag, b"Ann"));
        assert_eq!((rows[0].due_at, rows[0].created_at), (None, NOW));
        let address = till_engine::mail::address::open(&world.engine, &world.scope, &rows[0]).unwrap();
        assert_eq!(address, "Ann@example.com");
        // Two invoices of one payer do not show that they are.
        let other = world.invoice().await;
        let token = world.session(&other);
        world.leave(&other, "Ann@example.com", None, &token).await.unwrap();
        assert_ne!(world.receipts(&other).await[0].email_tag, rows[0].email_tag);
    }

    async fn what_is_wrong_is_refused_in_its_order(db: Db) {
        let world = World::new(db.clone(), Some(mute())).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        let elsewhere = world.session(&world.invoice().await);
        let (invoice, token, elsewhere) = (invoice.as_str(), token.as_str(), elsewhere.as_str());
        let upper = &*token.to_uppercase();
        for (id, email, locale, token, code) in [
            (invoice, "ann", None, token, Code::EmailInvalid),
            (invoice, "ann@example.com\r\nBcc: eve@example.com", None, token, Code::EmailInvalid),
            ("inv_nowhere", "ann", None, "x", Code::EmailInvalid),
            (invoice, "ann@example.com", Some("en\r\nBcc: x"), token, Code::ParameterInvalid),
            ("inv_nowhere", "ann@example.com", None, token, Code::ResourceMissing),
            (invoice, "ann@example.com", None, "", Code::CheckoutSessionInvalid),
            (invoice, "ann@example.com", None, elsewhere, Code::CheckoutSessionInvalid),
            (invoice, "ann@example.com", None, upper, Code::CheckoutSessionInvalid),
        ] {
            let refused = world.leave(id, email, locale, token).await;
            assert_eq!(refused, Err(code), "{id} {email} {locale:?}");
        }
        assert!(world.receipts(invoice).await.is_empty());
    }

    async fn without_a_mail_server_nobody_is_asked_for_an_address(db: Db) {
        let world = World::new(db, None).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        let refused = world.leave(&invoice, "ann@example.com", None, &token).await;
        assert_eq!(refused, Err(Code::FeatureUnavailable));
    }

    async fn the_first_session_alone_may_change_the_address(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let (first, second) = (world.session(&invoice), world.session(&invoice));
        world.leave(&invoice, "ann@example.com", None, &first).await.unwrap();
        for email in ["eve@example.com", "ann@example.com"] {
            let refused = world.leave(&invoice, email, None, &second).await;
            assert_eq!(refused, Err(Code::NotifySessionMismatch));
        }
        world.leave(&invoice, "ann2@example.com", Some("de"), &first).await.unwrap();
        let rows = world.receipts(&invoice).await;
        let current: Vec<bool> = rows.iter().map(|row| row.is_current).collect();
        assert_eq!(current, [false, true]);
        // The first one again is no third address.
        world.leave(&invoice, "ann@EXAMPLE.com", Some("fr"), &first).await.unwrap();
        let rows = world.receipts(&invoice).await;
        let kept: Vec<(bool, &str)> = rows.iter().map(|row| (row.is_current, &*row.locale)).collect();
        assert_eq!(kept, [(true, "fr"), (false, "de")]);
    }

    async fn a_fourth_address_is_one_too_many(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        for email in ["a@example.com", "b@example.com", "c@example.com"] {
            world.leave(&invoice, email, None, &token).await.unwrap();
        }
        let refused = world.leave(&invoice, "d@example.com", None, &token).await;
        assert_eq!(refused, Err(Code::NotifyLimitReached));
        // Another session is told about the session first, and the known ones still work.
        let other = world.session(&invoice);
        let refused = world.leave(&invoice, "d@example.com", None, &other).await;
        assert_eq!(refused, Err(Code::NotifySessionMismatch));
        world.leave(&invoice, "a@example.com", None, &token).await.unwrap();
        assert_eq!(world.receipts(&invoice).await.len(), 3);
    }

    async fn ten_addresses_at_once_leave_three_and_one_that_holds(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        let emails: Vec<String> = (0..10).map(|number| format!("p{number}@example.com")).collect();
        let left = join_all(emails.iter().map(|email| world.leave(&invoice, email, None, &token))).await;
        let taken = left.iter().filter(|left| left.is_ok()).count();
        let refused = left.iter().filter(|left| **left == Err(Code::NotifyLimitReached)).count();
        assert_eq!((taken, refused), (3, 7));
        let rows = world.receipts(&invoice).await;
        assert_eq!(rows.len(), 3);
        assert_eq!(rows.iter().filter(|row| row.is_current).count(), 1);
    }

    async fn of_two_sessions_at_once_one_wins(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let sessions: Vec<String> = (0..8).map(|_| world.session(&invoice)).collect();
        let left = join_all(sessions.iter().map(|token| world.leave(&invoice, "a@example.com", None, token))).await;
        let taken = left.iter().filter(|left| left.is_ok()).count();
        assert_eq!(taken, 1, "{left:?}");
        assert_eq!(world.receipts(&invoice).await.len(), 1);
    }

    async fn a_receipt_falls_due_with_the_payment_and_not_before(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        world.leave(&invoice, "ann@example.com", None, &token).await.unwrap();
        world.leave(&invoice, "bob@example.com", None, &token).await.unwrap();
        let due = async || -> Vec<Option<i64>> {
            world.receipts(&invoice).await.iter().map(|row| row.due_at).collect()
        };
        assert_eq!(world.pay(&invoice, Some("10.00")).await, "partially_paid");
        assert_eq!(due().await, [None, None]);
        assert_eq!(world.pay(&invoice, Some("15.00")).await, "paid");
        assert_eq!(due().await, [None, Some(NOW)], "only the address that holds");
    }

    async fn an_address_left_after_the_payment_is_due_at_once(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let invoice = world.invoice().await;
        let token = world.session(&invoice);
        world.pay(&invoice, Some("30.00")).await;
        let view = world.leave(&invoice, "ann@example.com", None, &token).await.unwrap();
        assert_eq!(view.status, "scheduled");
        assert_eq!(world.receipts(&invoice).await[0].due_at, Some(NOW));
    }

    async fn a_session_token_is_of_one_invoice_alone(db: Db) {
        let world = World::new(db, None).await;
        let (engine, scope) = (&world.engine, &world.scope);
        let token = session::issue(engine, scope, "inv_1");
        let id = session::check(engine, scope, "inv_1", &token).expect("its own");
        assert_eq!(session::check(engine, scope, "inv_1", &token), Some(id));
        assert!(token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        assert_eq!(session::check(engine, scope, "inv_2", &token), None);
        let live = Scope::new(&scope.account, Mode::Live);
        assert_eq!(session::check(engine, &live, "inv_1", &token), None);
        let other = Scope::new("acct_other", Mode::Test);
        assert_eq!(session::check(engine, &other, "inv_1", &token), None);
        let again = session::issue(engine, scope, "inv_1");
        assert_ne!(session::check(engine, scope, "inv_1", &again), Some(id));
        for at in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            assert_eq!(session::check(engine, scope, "inv_1", &forged), None, "{at}");
        }
        for bad in ["", "=", &token[1..], &format!("{token}A"), &"é".repeat(32)] {
            assert_eq!(session::check(engine, scope, "inv_1", bad), None, "{bad}");
        }
    }
}
