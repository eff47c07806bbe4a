//! What follows an invoice. A follower writes its own rows; it never calls `settle`.

pub mod binding;
pub mod credit;
mod follower;
pub mod lease;
pub mod link_unit;
pub mod period;
pub mod receipt;
pub mod refund;
pub mod review;
pub mod subscription;
pub mod timer;

pub(super) use follower::Follower;

use till_store::Write;

use crate::base::fail::Fail;

pub(super) fn writes(settled: &[Follower<'_>]) -> Result<Vec<Write>, Fail> {
    let mut writes = Vec::new();
    writes.extend(binding::writes(settled));
    writes.push(lease::writes(settled)?);
    writes.extend(link_unit::writes(settled));
    writes.extend(receipt::writes(settled));
    writes.extend(refund::writes(settled)?);
    writes.push(timer::write(settled));
    writes.push(review::write(settled));
    writes.push(credit::write(settled));
    Ok(writes)
}
