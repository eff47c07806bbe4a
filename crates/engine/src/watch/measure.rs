//! Gauges and counters of watching, for operators.

use till_core::chain::Block;
use till_core::time::SECOND_MS;
use till_store::networks::NetworkRow;
use till_watch::ChainUpdate;

use super::network_watch::NetworkWatch;

pub(super) fn took(watch: NetworkWatch<'_>, update: &ChainUpdate) {
    let network = &*watch.network().id;
    let count = |count: usize| u64::try_from(count).unwrap_or_default();
    metrics::counter!("till_network_blocks_total", "network" => network)
        .increment(count(update.blocks.len()));
    metrics::counter!("till_network_transfers_total", "network" => network)
        .increment(count(update.transfers.len()));
}

/// Counts a round that began early because a node published something.
pub(super) fn hinted(watch: NetworkWatch<'_>) {
    let network = &*watch.network().id;
    metrics::counter!("till_network_hinted_total", "network" => network).increment(1);
}

/// Publishes every counter as zero, so that its first increment can be seen as one.
pub(super) fn begin(network: &str) {
    let zero = |counter: metrics::Counter| counter.increment(0);
    let network = || network.to_owned();
    zero(metrics::counter!("till_network_freezes_total", "network" => network()));
    zero(metrics::counter!("till_network_missed_total", "network" => network()));
    zero(metrics::counter!("till_network_unchecked_total", "network" => network()));
    zero(metrics::counter!("till_network_refuted_total", "network" => network()));
    zero(metrics::counter!("till_network_disagreements_total", "network" => network()));
    zero(metrics::counter!("till_network_reorganisations_total", "network" => network()));
    zero(metrics::counter!("till_network_hinted_total", "network" => network()));
    zero(metrics::counter!("till_endpoint_lies_total", "network" => network()));
    zero(metrics::counter!("till_endpoint_errors_total", "network" => network()));
}

/// Sets the gauges of a network. `head` is the height that endpoints agree on, if they do.
pub(super) fn standing(
    watch: NetworkWatch<'_>,
    row: &NetworkRow,
    window: &[Block],
    head: Option<i64>,
) {
    let net = watch.net;
    let now_us = watch.engine.clock.monotonic_us();
    let usable = net.answering(now_us);
    let read = window.last().map(|block| (block.height, block.time));
    let gauge = |name: &'static str, value: Option<i64>| {
        let Some(value) = value else {
            return;
        };
        // Heights of every chain are far below what is cut off here.
        let value = u32::try_from(value.max(0)).unwrap_or(u32::MAX);
        metrics::gauge!(name, "network" => &*net.network.id).set(value);
    };
    gauge("till_network_head_height", head);
    gauge("till_network_read_height", read.map(|(height, _)| height));
    gauge("till_network_safe_height", row.safe_height);
    gauge("till_network_final_height", row.final_height);
    let now = watch.engine.clock.now_ms();
    let age = |time: i64| (now - time).max(0) / SECOND_MS;
    gauge("till_network_lag_seconds", read.map(|(_, time)| age(time)));
    let last_final = window.iter().find(|it| Some(it.height) == row.final_height);
    gauge(
        "till_network_final_lag_seconds",
        last_final.map(|block| age(block.time)),
    );
    gauge(
        "till_network_frozen",
        Some(i64::from(row.frozen_at.is_some())),
    );
    gauge(
        "till_network_endpoints",
        i64::try_from(net.endpoints.len()).ok(),
    );
    gauge("till_network_endpoints_usable", i64::try_from(usable).ok());
}
