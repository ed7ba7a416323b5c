/// What an implementation of `Stream1` can do beyond what every one does. Each side names its own in `Attach`, and ignores names
/// that it does not know.
package enum StreamFeature: String, Hashable, Sendable, CaseIterable {
    /// A service: `from` takes the subscriber's `runs` into account, and the answer has the service's own. A subscriber: it
    /// sends the runs of its position.
    case runs
    /// A service: it has `OpenReplay` and `Replay`.
    case replays

    /// What this version can do.
    package static let all = Set(allCases)
}
