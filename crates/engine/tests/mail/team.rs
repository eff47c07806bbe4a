//! Mails to the people who work with the dashboard, through a real server.

use scoped_futures::ScopedFutureExt as _;
use till_engine::Fail;
use till_engine::team::emails::Email;
use till_engine::team::links::{self, Asking};
use till_engine::team::notices::{self, To};
use till_engine::team::users;
use till_engine::workers::mail::send_due;
use till_store::{Tx, both_engines};

use crate::sending::reader;
use crate::smtp::Smtp;
use crate::world::{World, mute};

async fn user(world: &World, email: &Email) -> String {
    let engine = &world.engine;
    let made = engine.db.write(move |tx: &mut Tx| {
        async move { Ok::<_, Fail>(users::create(tx, engine, email, None).await?.id) }.scope_boxed()
    });
    made.await.unwrap()
}

async fn tell(world: &World, user: &str) {
    let engine = &world.engine;
    let told = engine.db.write(move |tx: &mut Tx| {
        async move { notices::tell(tx, engine, To::User(user), "passkey.added", "psk_1").await }
            .scope_boxed()
    });
    told.await.unwrap();
}

both_engines! {
    async fn a_link_is_mailed_once_to_whoever_has_the_address(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let (ann, bob) = (reader("ann"), reader("bob"));
        let email = Email::parse(&ann).unwrap();
        user(&world, &email).await;
        let asking = |email| Asking { email, browser: "browser", client: "192.0.2.1" };
        links::ask_to_sign_in(&world.engine, asking(&email)).await.unwrap();
        send_due(&world.engine).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        let received = smtp.received(&ann);
        assert_eq!(received.len(), 1);
        for body in received[0].bodies() {
            assert!(body.contains("/link#sign_in="), "{body}");
        }
        let unknown = Email::parse(&bob).unwrap();
        links::ask_to_sign_in(&world.engine, asking(&unknown)).await.unwrap();
        send_due(&world.engine).await.unwrap();
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        assert_eq!(smtp.received(&bob).len(), 0);
    }

    async fn a_notice_is_mailed_once_without_a_token(db: Db) {
        let Some(smtp) = Smtp::find() else { return };
        let world = World::new(db, Some(smtp.mailer())).await;
        let ann = reader("ann");
        let id = user(&world, &Email::parse(&ann).unwrap()).await;
        tell(&world, &id).await;
        assert_eq!(send_due(&world.engine).await.unwrap(), 1);
        assert_eq!(send_due(&world.engine).await.unwrap(), 0);
        let received = smtp.received(&ann);
        assert_eq!(received.len(), 1);
        for body in received[0].bodies() {
            assert!(body.contains("/dashboard/notices") && !body.contains('#'), "{body}");
        }
        let mut reader = world.db.read().await.unwrap();
        let told = till_store::member_notices::of_user(&mut reader, &id, None, 10).await.unwrap();
        assert_eq!((told[0].mail.as_str(), told[0].due_at), ("sent", None));
    }

    async fn a_notice_that_is_not_taken_is_tried_again_and_given_up(db: Db) {
        let world = World::new(db, Some(mute())).await;
        let id = user(&world, &Email::parse("ann@example.com").unwrap()).await;
        tell(&world, &id).await;
        for _ in 0..20 {
            send_due(&world.engine).await.unwrap();
            world.clock.advance(7 * 86_400_000);
        }
        let mut reader = world.db.read().await.unwrap();
        let told = till_store::member_notices::of_user(&mut reader, &id, None, 10).await.unwrap();
        assert_eq!((told[0].mail.as_str(), told[0].due_at), ("failed", None));
    }
}
