//! From the payment to the mail in the payer's hands, through a real server.

use std::sync::atomic::{AtomicU32, Ordering};

use scoped_futures::ScopedFutureExt as _;
use till_core::time::SECOND_MS;
use till_engine::settlement::follow::receipt::on_refund;
use till_engine::smtp::Mailer;
use till_engine::view::TokenAmount;
use till_engine::workers::mail::{
    Attempt, CLAIM_MS, Outcome, attempt, claim_due, record, send_due,
};
use till_store::both_engines;

use crate::smtp::Smtp;
use crate::world::World;

/// A reader nobody else has: all tests share the server.
pub fn reader(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{name}-{}-{count}@reader.example", std::process::id())
}

fn mailer(world: &World) -> &Mailer {
    world.engine.mailer.as_ref().unwrap()
}

both_engines! {
    async fn a_receipt_is_sent_once_when_the_invoice_is_paid(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, ann) = (world.invoice().await, reader("ann"));
        let token = world.session(&invoice);
        world.leave(&invoice, &ann, Some("es-MX"), &token).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 0, "nothing before a payment");
        world.pay(&invoice, None).await;
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        world.clock.advance(10 * CLAIM_MS);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);

        let received = smtp.received(&ann);
        assert_eq!(received.len(), 1);
        let rows = world.receipts(&invoice).await;
        let expected = format!("<{}@pay.example>", rows[0].id);
        assert_eq!(received[0].header("Message-ID"), expected);
        assert_eq!(received[0].header("To"), ann);
        let bodies = received[0].bodies();
        let hash = &world.payments(&invoice).await[0].tx_hash;
        for body in &bodies {
            for part in ["25.00 USD", "25.00 USDC", "Base Sepolia", hash, &invoice, "Shop ha recibido su pago", "prueba"] {
                assert!(body.contains(part), "{part} is missing in {body}");
            }
        }
        assert!(!received[0].raw.contains("CANARY"));
        assert_eq!(bodies.len(), 2);

        let view = world.leave(&invoice, &ann, None, &token).await.unwrap();
        assert_eq!(view.status, "sent");
        assert_eq!(send_due(&world.engine).await.unwrap(), 0, "the same address is not written to twice");
    }

    async fn an_address_corrected_after_the_receipt_gets_its_own(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, wrong, right) = (world.invoice().await, reader("wrong"), reader("right"));
        let token = world.session(&invoice);
        world.pay(&invoice, None).await;
        world.leave(&invoice, &wrong, None, &token).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        world.leave(&invoice, &right, None, &token).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!((smtp.received(&wrong).len(), smtp.received(&right).len()), (1, 1));
    }

    async fn a_replaced_address_hears_nothing(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, old, new) = (world.invoice().await, reader("old"), reader("new"));
        let token = world.session(&invoice);
        world.pay(&invoice, None).await;
        world.leave(&invoice, &old, None, &token).await.unwrap();
        // Even when a worker has its hand on it already.
        let claimed = claim_due(&world.engine).await.unwrap();
        world.leave(&invoice, &new, None, &token).await.unwrap();
        let attempted = attempt(&world.engine, mailer(&world), &claimed[0]).await.unwrap();
        assert_eq!(attempted, Attempt::NothingToTell);
        send_due(&world.engine).await.unwrap();
        assert_eq!((smtp.received(&old).len(), smtp.received(&new).len()), (0, 1));
    }

    async fn a_payment_undone_before_the_receipt_went_out_takes_it_back(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, ann) = (world.invoice().await, reader("ann"));
        let token = world.session(&invoice);
        world.leave(&invoice, &ann, None, &token).await.unwrap();
        world.pay(&invoice, None).await;
        let payment = world.payments(&invoice).await[0].id.clone();
        world.reverse(&payment).await;
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        assert_eq!(smtp.received(&ann).len(), 0);
        world.pay(&invoice, None).await;
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!(smtp.received(&ann).len(), 1);
    }

    async fn a_worker_that_dies_before_sending_is_taken_over(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, ann) = (world.invoice().await, reader("ann"));
        let token = world.session(&invoice);
        world.leave(&invoice, &ann, None, &token).await.unwrap();
        world.pay(&invoice, None).await;
        let dead = claim_due(&world.engine).await.unwrap();
        assert_eq!(dead.len(), 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0, "claimed is claimed");
        world.clock.advance(CLAIM_MS + 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        // Should it wake up after all, it neither sends nor records.
        let attempted = attempt(&world.engine, mailer(&world), &dead[0]).await.unwrap();
        assert_eq!(attempted, Attempt::NothingToTell);
        assert!(!record(&world.engine, &dead[0], Outcome::Failed).await.unwrap());
        assert_eq!(smtp.received(&ann).len(), 1);
        assert_eq!(world.receipts(&invoice).await[0].status, "sent");
    }

    async fn a_worker_that_dies_after_sending_is_repeated_under_the_same_id(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, ann) = (world.invoice().await, reader("ann"));
        let token = world.session(&invoice);
        world.leave(&invoice, &ann, None, &token).await.unwrap();
        world.pay(&invoice, None).await;
        let dead = claim_due(&world.engine).await.unwrap();
        let attempted = attempt(&world.engine, mailer(&world), &dead[0]).await.unwrap();
        assert_eq!(attempted, Attempt::Tried(Outcome::Sent));
        world.clock.advance(CLAIM_MS + 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        let received = smtp.received(&ann);
        assert_eq!(received.len(), 2);
        assert_eq!(received[0].header("Message-ID"), received[1].header("Message-ID"));
        world.clock.advance(CLAIM_MS + 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
    }

    async fn a_refused_mail_is_tried_again_later_and_given_up_at_last(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, later) = (world.invoice().await, reader("later"));
        let token = world.session(&invoice);
        world.leave(&invoice, &later, None, &token).await.unwrap();
        world.pay(&invoice, None).await;
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0, "not at once");
        world.clock.advance(10 * SECOND_MS);
        let mut tries = 1;
        while send_due(&world.engine).await.unwrap() > 0 {
            tries += 1;
            assert!(tries < 100, "it is given up");
            world.clock.advance(13 * 3_600 * SECOND_MS);
        }
        assert_eq!(tries, 16);
        let row = &world.receipts(&invoice).await[0];
        assert_eq!((row.attempts, row.due_at, row.status.as_str()), (16, None, "scheduled"));
    }

    async fn a_refund_is_told_without_the_way_to_claim_it(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (invoice, ann) = (world.invoice().await, reader("ann"));
        let token = world.session(&invoice);
        let refunded = TokenAmount { amount: "5.00".into(), asset: "USDC@eip155:84532".into() };
        let refund = async || {
            let (invoice, refunded) = (&invoice, &refunded);
            let told = world.engine.unit(&world.scope, |tx, context| {
                on_refund(tx, context, invoice, refunded).scope_boxed()
            });
            told.await.unwrap();
            send_due(&world.engine).await.unwrap()
        };
        world.pay(&invoice, None).await;
        assert_eq!(refund().await, 0, "nobody left an address");
        world.leave(&invoice, &ann, Some("fr"), &token).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!(refund().await, 1);
        assert_eq!(refund().await, 1, "each refund is told");
        let received = smtp.received(&ann);
        assert_eq!(received.len(), 3);
        let ids: std::collections::HashSet<&str> =
            received.iter().map(|mail| mail.header("Message-ID")).collect();
        assert_eq!(ids.len(), 3);
        for body in received[1].bodies() {
            assert!(body.contains("5.00 USDC") && body.contains(&invoice), "{body}");
            assert!(body.contains("remboursement") && !body.contains("http"), "{body}");
        }
    }
}
