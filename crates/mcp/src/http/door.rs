//! Who may keep a connection: those who showed the token, and of all others a few, for a short time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::shared::locked;

/// More connections of clients that showed the token wait.
const CLIENTS: usize = 256;
/// With more connections of others the oldest of these is closed.
const STRANGERS: usize = 128;

/// All connections of a server.
#[derive(Debug)]
pub(super) struct Door {
    strangers: Mutex<VecDeque<CancellationToken>>,
    places: Arc<Semaphore>,
}

/// One connection, as long as it is there.
#[derive(Debug)]
pub(super) struct Guest {
    door: Arc<Door>,
    /// Set to have it closed; also names it.
    pub(super) leaves: CancellationToken,
    place: OnceCell<Option<OwnedSemaphorePermit>>,
}

impl Door {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { strangers: Mutex::default(), places: Arc::new(Semaphore::new(CLIENTS)) })
    }

    /// Lets a connection in, and closes the oldest that has shown nothing if there are too many of them.
    pub(super) fn enter(self: &Arc<Self>, leaves: CancellationToken) -> Arc<Guest> {
        let mut strangers = locked(&self.strangers);
        strangers.push_back(leaves.clone());
        if strangers.len() > STRANGERS
            && let Some(oldest) = strangers.pop_front()
        {
            oldest.cancel();
        }
        drop(strangers);
        Arc::new(Guest { door: Arc::clone(self), leaves, place: OnceCell::new() })
    }
}

impl Guest {
    /// It showed the token: it may stay, once there is a place.
    pub(super) async fn is_known(&self) {
        self.forget();
        let places = Arc::clone(&self.door.places);
        // The places are never taken away.
        self.place.get_or_init(|| async { places.acquire_owned().await.ok() }).await;
    }

    /// Closes it if it has not shown the token by now.
    pub(super) fn ask_to_leave(&self) {
        if self.forget() {
            self.leaves.cancel();
        }
    }

    /// Whether it was a stranger until now.
    fn forget(&self) -> bool {
        let mut strangers = locked(&self.door.strangers);
        let all = strangers.len();
        strangers.retain(|one| *one != self.leaves);
        strangers.len() < all
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_too_many_strangers_goes() {
        let door = Door::new();
        let guests: Vec<_> =
            (0..=STRANGERS).map(|_| door.enter(CancellationToken::new())).collect();
        let gone = guests.iter().filter(|guest| guest.leaves.is_cancelled()).count();
        assert!(guests[0].leaves.is_cancelled() && gone == 1);
        // Those who go by themselves leave room.
        drop(guests);
        assert!(locked(&door.strangers).is_empty());
    }

    #[tokio::test]
    async fn who_showed_the_token_stays() {
        let door = Door::new();
        let known = door.enter(CancellationToken::new());
        known.is_known().await;
        let others: Vec<_> = (0..500).map(|_| door.enter(CancellationToken::new())).collect();
        known.ask_to_leave();
        assert!(!known.leaves.is_cancelled());
        let newest = &others[499];
        assert!(!newest.leaves.is_cancelled());
        newest.ask_to_leave();
        assert!(newest.leaves.is_cancelled());
        assert_eq!(door.places.available_permits(), CLIENTS - 1);
        drop(known);
        assert_eq!(door.places.available_permits(), CLIENTS);
    }
}
