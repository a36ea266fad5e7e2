//! The data plane: what happens to an event between the sender's request and the destination's
//! answer.
//!
//! Nothing is here yet. What comes, in the order an event meets it: ingest (accepts and stores),
//! process (verifies, filters and reshapes, and plans deliveries), deliver (tries, and tries
//! again), and sweep, the periodic look for work whose bell was lost. None of it will manage
//! anything: sources and connections are made in `ferryhook-api`, and the two meet in the store.
