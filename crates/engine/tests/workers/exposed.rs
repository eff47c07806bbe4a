//! Keys in URLs, which anybody can send.

use std::time::Duration;

use till_engine::merchants::accounts::{Modes, create_account, hash_key};
use till_engine::team::exposed::{ExposedKey, Exposures, note};
use till_store::Dialect;
use till_store::testing::migrated;

use crate::world::World;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_key_of_ours_never_waits_for_the_writer() {
    let test = migrated(Dialect::Sqlite).await.unwrap();
    let world = World::new(test.db.clone()).await;
    let account = create_account(&world.engine, "Shop", Modes::TestOnly, &[]).await;
    let known = hash_key(&account.unwrap().test.secret_key);
    assert_eq!(note(&world.engine, known).await.unwrap(), ExposedKey::Known);
    let holder = world.db.begin().await.unwrap();
    let asked = async {
        for number in 0..100 {
            let unknown = hash_key(&format!("till_test_sk_{number}"));
            let found = note(&world.engine, unknown).await.unwrap();
            assert_eq!(found, ExposedKey::Unknown);
        }
        assert_eq!(note(&world.engine, known).await.unwrap(), ExposedKey::Known);
    };
    let asked = tokio::time::timeout(PATIENCE, asked).await;
    asked.expect("nobody waits for the writer, which is held");
    drop(holder);
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_made_up_keys_starts_no_write_and_a_real_one_is_noted_after_it() {
    let test = migrated(Dialect::Sqlite).await.unwrap();
    let world = World::new(test.db.clone()).await;
    let account = create_account(&world.engine, "Shop", Modes::TestOnly, &[]).await;
    let account = account.unwrap();
    let exposures = Exposures::start(&world.engine);
    for number in 0..100_000 {
        exposures.tell(&format!("till_test_sk_{number}"));
    }
    let noted = async {
        loop {
            exposures.tell(&account.test.secret_key);
            let mut reader = world.db.read().await.unwrap();
            let hash = hash_key(&account.test.secret_key);
            let exposure = till_store::keys::exposure(&mut reader, &hash)
                .await
                .unwrap();
            if exposure.flatten().is_some() {
                return;
            }
            drop(reader);
            tokio::task::yield_now().await;
        }
    };
    let noted = tokio::time::timeout(PATIENCE, noted).await;
    noted.expect("the real key is noted");
    test.remove().await;
}
