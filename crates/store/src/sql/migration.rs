//! What a migration is: a file for each engine, and on PostgreSQL the steps in it.
//!
//! After the base schema, a PostgreSQL file is made of steps, each under a line that says what it is, each one statement
//! that may be run again, because a migration that was cut off begins anew:
//!
//! - `-- step: brief` locks what it must for less than a second: adding a column, a table, a constraint that is not valid yet.
//! - `-- step: repeat` touches some rows of many (`LIMIT`), and is run until it touches none.
//! - `-- step: concurrently` builds an index beside the work.
//!
//! SQLite has one machine and one writer: there the whole file is one unit of work.

use sha2::{Digest, Sha256};

use crate::Dialect;

const MARK: &str = "-- step: ";

/// The same change for both engines. `name` is the file's, without its extension, in either folder.
pub(crate) struct Migration {
    pub version: i64,
    pub name: &'static str,
    /// The newest migration that a program must know, at least, to go on working when this one is applied.
    pub serves_from: i64,
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

/// Those with `serves` go on serving programs that know the migrations up to there; the others only those who know them.
macro_rules! migrations {
    ($($version:literal $(serves $from:literal)? => $name:literal),+ $(,)?) => {
        &[$(Migration {
            version: $version,
            name: $name,
            serves_from: [$($from,)? $version][0],
            sqlite: include_str!(concat!("../../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $name, ".sql")),
        }),+]
    };
}
pub(super) use migrations;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MigrationStep {
    /// The base schema.
    Whole(&'static str),
    Brief(&'static str),
    Repeat(&'static str),
    Concurrently {
        index: &'static str,
        sql: &'static str,
    },
}

impl Migration {
    pub(crate) fn sql(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite | Dialect::SqliteMemory => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }

    pub(crate) fn checksum(&self, dialect: Dialect) -> String {
        let digest = Sha256::digest(self.sql(dialect));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// How PostgreSQL is brought there.
    pub(crate) fn steps(&self) -> Vec<MigrationStep> {
        if !self.postgres.contains(MARK) {
            return vec![MigrationStep::Whole(self.postgres)];
        }
        // What is before the first mark is a comment.
        let parts = self.postgres.split(MARK).skip(1);
        parts.filter_map(step).collect()
    }
}

fn step(part: &'static str) -> Option<MigrationStep> {
    let (kind, sql) = part.split_once('\n')?;
    let sql = sql.trim();
    match kind.trim() {
        "brief" => Some(MigrationStep::Brief(sql)),
        "repeat" => Some(MigrationStep::Repeat(sql)),
        "concurrently" => {
            let mut words = sql.split_whitespace().skip_while(|word| *word != "EXISTS");
            let index = words.nth(1)?;
            Some(MigrationStep::Concurrently { index, sql })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::migrate::MIGRATIONS;

    /// The first migration that finds servers at work.
    const STEPS_FROM: i64 = 2;

    const TWICE: [(&str, &str); 4] = [
        ("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS "),
        ("ADD COLUMN ", "ADD COLUMN IF NOT EXISTS "),
        (
            "CREATE UNIQUE INDEX ",
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ",
        ),
        ("CREATE INDEX ", "CREATE INDEX CONCURRENTLY IF NOT EXISTS "),
    ];

    /// What is wrong with a migration that servers work through.
    fn faults(migration: &Migration) -> Vec<String> {
        let mut faults = Vec::new();
        let mut fault = |what: String| faults.push(format!("{}: {what}", migration.name));
        let newest_served = migration.version - 1;
        if migration.serves_from > newest_served {
            fault("servers that do not know it would stop".to_owned());
        }
        let marks = migration.postgres.matches(MARK).count();
        let steps = migration.steps();
        if marks == 0 || marks != steps.len() {
            fault("it is not made of steps".to_owned());
        }
        for step in steps {
            let (MigrationStep::Whole(sql)
            | MigrationStep::Brief(sql)
            | MigrationStep::Repeat(sql)
            | MigrationStep::Concurrently { sql, .. }) = step;
            if sql.matches(';').count() != 1 || !sql.ends_with(';') {
                fault(format!("one statement a step: {sql}"));
            }
            for (word, wanted) in TWICE {
                if sql.contains(word) && !sql.contains(wanted) {
                    fault(format!("{wanted}is how it is said: {sql}"));
                }
            }
            let is_index = sql.contains("CONCURRENTLY");
            if is_index != matches!(step, MigrationStep::Concurrently { .. }) {
                fault(format!(
                    "indexes are built concurrently, nothing else is: {sql}"
                ));
            }
            if sql.contains("DROP ") && !sql.contains(" IF EXISTS") {
                fault(format!("it may be gone already: {sql}"));
            }
            if matches!(step, MigrationStep::Repeat(_)) && !sql.contains("LIMIT ") {
                fault(format!("some rows at a time: {sql}"));
            }
        }
        faults
    }

    #[test]
    fn migrations_from_now_on_let_servers_work() {
        let new = MIGRATIONS.iter().filter(|of| of.version >= STEPS_FROM);
        let faults: Vec<String> = new.flat_map(faults).collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }

    fn postgres(sql: &'static str) -> Migration {
        Migration {
            version: 2,
            name: "0002_new",
            serves_from: 1,
            sqlite: "",
            postgres: sql,
        }
    }

    #[test]
    fn what_would_hold_servers_up_is_a_fault() {
        for sql in [
            "ALTER TABLE a ADD COLUMN IF NOT EXISTS b BIGINT;",
            "-- step: brief\nALTER TABLE a ADD COLUMN b BIGINT;",
            "-- step: brief\nCREATE INDEX a_b ON a (b);",
            "-- step: brief\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_b ON a (b);",
            "-- step: concurrently\nCREATE UNIQUE INDEX IF NOT EXISTS a_b ON a (b);",
            "-- step: brief\nDROP TABLE a;",
            "-- step: brief\nDROP TABLE IF EXISTS a; DROP TABLE IF EXISTS b;",
            "-- step: repeat\nUPDATE a SET b = 1 WHERE b = 0;",
            "-- step: slowly\nDROP TABLE IF EXISTS a;",
        ] {
            assert!(!faults(&postgres(sql)).is_empty(), "{sql}");
        }
        let fine = "-- Why.\n-- step: brief\nALTER TABLE a ADD COLUMN IF NOT EXISTS b BIGINT;\n\
            -- step: repeat\nUPDATE a SET b = 1 WHERE id IN (SELECT id FROM a WHERE b IS NULL LIMIT 500);\n\
            -- step: concurrently\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a_b ON a (b);\n";
        assert_eq!(faults(&postgres(fine)), Vec::<String>::new());
        let alone = Migration {
            serves_from: 2,
            ..postgres(fine)
        };
        assert_eq!(faults(&alone).len(), 1);
    }

    #[test]
    fn an_index_is_known_by_its_name() {
        let sql =
            "-- step: concurrently\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS a_b ON a (b);\n";
        let Some(MigrationStep::Concurrently { index, sql }) = postgres(sql).steps().pop() else {
            panic!("it is a step that builds an index");
        };
        assert_eq!(index, "a_b");
        assert!(sql.starts_with("CREATE UNIQUE INDEX"), "{sql}");
    }
}
