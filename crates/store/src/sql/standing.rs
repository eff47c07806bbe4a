//! Whether a replica may be read from: what it says of itself, held against what the primary says.

use std::collections::VecDeque;

use sqlx::postgres::PgConnection;
use sqlx::{Executor as _, FromRow, raw_sql};

use super::position::Position;
use super::postgres::OwnConnection;
use crate::StoreError;

/// A replica that is further behind is passed over.
pub(crate) const LAG_MS_MAX: i64 = 10_000;
/// How long positions of the primary are remembered. A lag that is longer is told as that long.
const REMEMBERED_MS: i64 = 3 * LAG_MS_MAX;

/// The clock, the position, the timeline, the cluster and the database.
const OF_PRIMARY: &str = "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT), \
     CAST(pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') AS BIGINT), \
     CAST(CAST('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) AS bit(32)) AS BIGINT), \
     (SELECT system_identifier FROM pg_control_system()), CAST(current_database() AS TEXT)";

/// Whether it is a standby, the position, the timeline, the cluster and the database.
const OF_REPLICA: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN CAST(1 AS BIGINT) ELSE 0 END, \
     CAST(coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0) AS BIGINT), \
     CAST(greatest((SELECT timeline_id FROM pg_control_checkpoint()), \
     (SELECT min_recovery_end_timeline FROM pg_control_recovery())) AS BIGINT), \
     (SELECT system_identifier FROM pg_control_system()), CAST(current_database() AS TEXT)";

/// Which database it is. A timeline begins with each promotion: on an older one a standby may have what the primary never had.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    timeline: i64,
    system: i64,
    database: String,
}

/// Where the primary was, and when, by its own clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrimaryLog {
    /// None when it did not answer the last time.
    identity: Option<Identity>,
    positions: VecDeque<(i64, Position)>,
}

/// What a replica says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplicaSays {
    pub is_standby: bool,
    pub replayed: Position,
    identity: Identity,
}

/// Why a replica is not read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("it does not answer")]
    Silent,
    #[error("it is not a standby")]
    NotStandby,
    #[error("it is not a standby of this database")]
    OtherDatabase,
    #[error(
        "it follows timeline {replica}, and the primary is on {primary}; it is used after its next restartpoint, or must be rewound"
    )]
    OtherTimeline { replica: i64, primary: i64 },
    #[error("it is at least {} s behind", .lag_ms / 1_000)]
    Behind { lag_ms: i64 },
    #[error("the primary does not say how far it is")]
    PrimarySilent,
}

impl PrimaryLog {
    /// What the primary says of itself.
    pub(crate) async fn ask(primary: &mut OwnConnection) -> Result<PrimarySays, StoreError> {
        let (now_ms, position, timeline, system, database): (i64, i64, i64, i64, String) =
            primary.one(OF_PRIMARY).await?;
        Ok(PrimarySays {
            now_ms,
            position: Position::new(position),
            identity: Identity {
                timeline,
                system,
                database,
            },
        })
    }

    /// None where it did not answer.
    pub(crate) fn add(&mut self, said: Option<PrimarySays>) {
        let Some(said) = said else {
            self.identity = None;
            return;
        };
        let last_at = self.positions.back().map_or(i64::MIN, |(at, _)| *at);
        if self.identity.as_ref() != Some(&said.identity) || said.now_ms < last_at {
            // Another primary's positions say nothing of this one's, nor does a clock that was set back say how old they are.
            self.positions.clear();
        }
        self.positions.push_back((said.now_ms, said.position));
        let is_old = |at: i64| at < said.now_ms.saturating_sub(REMEMBERED_MS);
        while self.positions.front().is_some_and(|(at, _)| is_old(*at)) {
            self.positions.pop_front();
        }
        self.identity = Some(said.identity);
    }

    pub(crate) fn position(&self) -> Position {
        self.positions.back().map_or(Position::START, |(_, it)| *it)
    }

    /// For how long the primary has been further than this; an error with the least that it can be where that is before everything
    /// that is remembered.
    fn lag_ms(&self, replayed: Position) -> Result<i64, i64> {
        let age = |(at, _): &(i64, Position)| match self.positions.back() {
            Some((now_ms, _)) => (now_ms - at).max(0),
            None => 0,
        };
        let mut latest_first = self.positions.iter().rev();
        let reached = latest_first.find(|(_, it)| *it <= replayed);
        let at_least = self.positions.front().map_or(0, age);
        reached.map(age).ok_or(at_least)
    }

    /// How far a replica is behind in time, where it may be read from.
    pub(crate) fn judge(&self, said: &ReplicaSays) -> Result<i64, Unusable> {
        let primary = self.identity.as_ref().ok_or(Unusable::PrimarySilent)?;
        if !said.is_standby {
            return Err(Unusable::NotStandby);
        }
        if (primary.system, &primary.database) != (said.identity.system, &said.identity.database) {
            return Err(Unusable::OtherDatabase);
        }
        let (replica, primary) = (said.identity.timeline, primary.timeline);
        if replica != primary {
            return Err(Unusable::OtherTimeline { replica, primary });
        }
        match self.lag_ms(said.replayed) {
            Ok(lag_ms) if lag_ms <= LAG_MS_MAX => Ok(lag_ms),
            Ok(lag_ms) | Err(lag_ms) => Err(Unusable::Behind { lag_ms }),
        }
    }
}

/// What the primary says of itself.
pub(crate) struct PrimarySays {
    now_ms: i64,
    position: Position,
    identity: Identity,
}

impl ReplicaSays {
    /// Nothing is prepared for it, so that it does not matter whose session it is.
    pub(crate) async fn ask(replica: &mut PgConnection) -> Result<ReplicaSays, sqlx::Error> {
        let row = replica.fetch_one(raw_sql(OF_REPLICA)).await?;
        let (is_standby, replayed, timeline, system, database): (i64, i64, i64, i64, String) =
            FromRow::from_row(&row)?;
        Ok(ReplicaSays {
            is_standby: is_standby == 1,
            replayed: Position::new(replayed),
            identity: Identity {
                timeline,
                system,
                database,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(timeline: i64) -> Identity {
        Identity {
            timeline,
            system: 7,
            database: "till".to_owned(),
        }
    }

    fn primary(now_ms: i64, bytes: i64) -> Option<PrimarySays> {
        Some(PrimarySays {
            now_ms,
            position: Position::new(bytes),
            identity: identity(1),
        })
    }

    fn replica(bytes: i64) -> ReplicaSays {
        ReplicaSays {
            is_standby: true,
            replayed: Position::new(bytes),
            identity: identity(1),
        }
    }

    /// Every second a hundred bytes.
    fn busy(seconds: i64) -> PrimaryLog {
        let mut log = PrimaryLog::default();
        for second in 0..=seconds {
            log.add(primary(second * 1_000, second * 100));
        }
        log
    }

    #[test]
    fn a_replica_is_as_late_as_the_last_position_that_it_has_is_old() {
        let log = busy(100);
        for (bytes, expected) in [
            (10_050, Ok(0)),
            (10_000, Ok(0)),
            (9_999, Ok(1_000)),
            (9_000, Ok(10_000)),
            (8_999, Err(Unusable::Behind { lag_ms: 11_000 })),
            (100, Err(Unusable::Behind { lag_ms: 30_000 })),
        ] {
            assert_eq!(log.judge(&replica(bytes)), expected, "{bytes}");
        }
    }

    #[test]
    fn what_was_before_everything_that_is_remembered_is_late() {
        assert_eq!(
            busy(0).judge(&replica(-1)),
            Err(Unusable::Behind { lag_ms: 0 })
        );
        assert_eq!(busy(0).judge(&replica(0)), Ok(0));
    }

    #[test]
    fn while_the_primary_stands_still_nobody_falls_behind() {
        let mut log = busy(1);
        for second in 2..60 {
            log.add(primary(second * 1_000, 100));
        }
        assert_eq!(log.judge(&replica(100)), Ok(0));
    }

    #[test]
    fn a_clock_that_was_set_back_makes_nobody_seem_less_late() {
        let mut log = busy(100);
        log.add(primary(50_000, 10_100));
        let late = log.judge(&replica(10_000));
        assert_eq!(late, Err(Unusable::Behind { lag_ms: 0 }));
        assert_eq!(log.judge(&replica(10_100)), Ok(0));
        log.add(primary(62_000, 11_300));
        assert_eq!(
            log.judge(&replica(10_100)),
            Err(Unusable::Behind { lag_ms: 12_000 })
        );
    }

    #[test]
    fn only_a_standby_of_this_very_database_on_its_timeline_is_read_from() {
        let log = busy(3);
        let but = |change: fn(&mut ReplicaSays)| {
            let mut said = replica(300);
            change(&mut said);
            log.judge(&said)
        };
        assert_eq!(but(|_| {}), Ok(0));
        assert_eq!(but(|it| it.is_standby = false), Err(Unusable::NotStandby));
        assert_eq!(
            but(|it| it.identity.system = 8),
            Err(Unusable::OtherDatabase)
        );
        assert_eq!(
            but(|it| it.identity.database = "shop".to_owned()),
            Err(Unusable::OtherDatabase)
        );
        // It stayed with the primary before, and may have what was lost.
        let mut after = log.clone();
        after.add(Some(PrimarySays {
            now_ms: 4_000,
            position: Position::new(250),
            identity: identity(2),
        }));
        let other = Unusable::OtherTimeline {
            replica: 1,
            primary: 2,
        };
        assert_eq!(after.judge(&replica(300)), Err(other));
    }

    #[test]
    fn how_far_behind_is_not_known_while_the_primary_is_silent() {
        let mut log = busy(3);
        log.add(None);
        assert_eq!(log.judge(&replica(300)), Err(Unusable::PrimarySilent));
        log.add(primary(4_000, 300));
        assert_eq!(log.judge(&replica(300)), Ok(0));
    }
}
