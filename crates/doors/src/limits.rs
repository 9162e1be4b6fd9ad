//! Every number that bounds a caller.
//!
//! Invariant: no literal elsewhere in this crate bounds a caller.

use std::time::Duration;

/// A token bucket: `burst` at once, refilled at `per_second`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub per_second: f64,
    pub burst: f64,
}

#[derive(Debug, Clone)]
pub struct Limits {
    /// Open TCP connections over all listeners, upgraded ones included. Keep it below the file descriptor limit.
    pub max_connections: usize,
    /// Those among them that have shown no credential yet; for one more, the oldest of them is closed. Keep it below
    /// `max_in_flight_per_principal`, so that strangers can not use up their common requests either.
    pub max_strangers: usize,
    /// Connections that have shown the same credential.
    pub max_connections_per_principal: usize,
    /// The same for an agent's or applet's credential: each connection may hold an unread response in memory.
    pub max_connections_per_agent: usize,
    /// Unix socket connections are counted separately, so that a flood on the port does not lock out the command
    /// line.
    pub max_local_connections: usize,

    /// From accept, or from the end of the last response, to the end of the next header. So it bounds the first byte,
    /// slow headers and idle keep-alive alike.
    pub header_timeout: Duration,
    pub tls_handshake_timeout: Duration,
    /// Longest silence inside of a request body.
    pub body_idle_timeout: Duration,
    /// Longest time for a request body, in addition to what its bytes need at the least rate.
    pub body_timeout: Duration,
    /// Bytes a second. A large body over a slow connection may take its time; a byte a second may not.
    pub body_least_rate: u64,
    /// Longest time for a whole body on a route that needs no credential.
    pub open_body_timeout: Duration,
    /// Longest time in which a peer may read nothing of what we write, on upgraded connections too. A slow peer that
    /// keeps reading may take as long as it needs.
    pub write_stall_timeout: Duration,
    /// How long unread bytes are drained after our side has closed, so that a refusal reaches a client which is still
    /// sending (closing on unread data makes TCP drop the response).
    pub linger_timeout: Duration,
    /// How long open connections may go on after shutdown.
    pub drain_timeout: Duration,
    /// Pause of the accept loop when the process is out of file descriptors.
    pub accept_backoff: Duration,

    pub max_headers: usize,
    /// Request line and headers together.
    pub max_header_bytes: usize,
    pub max_uri_bytes: usize,
    pub max_body_bytes: u64,
    /// Bytes of bodies that one principal may have in flight, in all its running requests together: they stay in
    /// memory until each is answered.
    pub max_body_bytes_in_flight: u64,
    /// The same for an agent's or applet's credential, and the largest body that it may send: its requests are short.
    pub max_agent_body_bytes: u64,
    /// The same on routes that need no credential: only a one-time code is sent there.
    pub max_open_body_bytes: u64,

    /// Requests of one principal; of one source address on routes that need no credential.
    pub requests: Rate,
    pub max_in_flight_per_principal: usize,
    /// The same for an agent's or applet's credential: an unread response stays in memory, and may be long.
    pub max_in_flight_per_agent: usize,
    /// Wrong credentials of one source address. Right ones always pass.
    pub failures: Rate,
    /// How many entries a rate table may hold before it drops the stalest.
    pub max_tracked_callers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 4_096,
            max_strangers: 256,
            max_connections_per_principal: 2_048,
            max_connections_per_agent: 64,
            max_local_connections: 512,
            header_timeout: Duration::from_secs(10),
            tls_handshake_timeout: Duration::from_secs(10),
            body_idle_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(45),
            body_least_rate: 64 * 1024,
            open_body_timeout: Duration::from_secs(10),
            write_stall_timeout: Duration::from_secs(10),
            linger_timeout: Duration::from_millis(500),
            drain_timeout: Duration::from_secs(5),
            accept_backoff: Duration::from_millis(50),
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            max_uri_bytes: 8 * 1024,
            // A prompt with its images.
            max_body_bytes: 12 * 1024 * 1024,
            max_body_bytes_in_flight: 96 * 1024 * 1024,
            max_agent_body_bytes: 4 * 1024 * 1024,
            max_open_body_bytes: 4 * 1024,
            requests: Rate { per_second: 2_000.0, burst: 4_000.0 },
            max_in_flight_per_principal: 512,
            max_in_flight_per_agent: 16,
            failures: Rate { per_second: 0.5, burst: 20.0 },
            max_tracked_callers: 4_096,
        }
    }
}
