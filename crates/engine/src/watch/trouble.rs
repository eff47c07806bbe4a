//! Why a step of watching was not taken.

use till_watch::EndpointTrouble;

use crate::base::fail::Fail;

/// Why a network's next step is not taken now.
#[derive(Debug)]
pub(super) enum Trouble {
    /// An endpoint failed, which was noted with it: another is asked, or the same one later.
    Endpoint,
    Failed(Fail),
}

impl From<EndpointTrouble> for Trouble {
    fn from(_: EndpointTrouble) -> Trouble {
        Trouble::Endpoint
    }
}

impl From<Fail> for Trouble {
    fn from(fail: Fail) -> Trouble {
        Trouble::Failed(fail)
    }
}

impl From<till_store::StoreError> for Trouble {
    #[track_caller]
    fn from(error: till_store::StoreError) -> Trouble {
        Trouble::Failed(error.into())
    }
}
