/// Fault switches, for tests: what they do happens on the writer's thread.
package struct JournalFaults: Sendable {
    /// Called at each step. Given, events are emitted one by one, so that there is a moment between any two.
    package var at: (@Sendable (JournalStep) -> Void)?
    /// Whether there is room for the reserve file, which is made without the file layer's knowledge.
    package var hasRoomForReserve: (@Sendable () -> Bool)?

    package init(
        at: (@Sendable (JournalStep) -> Void)? = nil, hasRoomForReserve: (@Sendable () -> Bool)? = nil
    ) {
        (self.at, self.hasRoomForReserve) = (at, hasRoomForReserve)
    }
}
