/// An interface's events, taken from a place in its journal.
struct WatchSource: Sendable {
    let interface: String
    let events: any PulledEvents
}
