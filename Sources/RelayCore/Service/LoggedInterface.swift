/// A durable interface, as its service gives it to the log.
package struct LoggedInterface: Sendable {
    package let name: String
    /// The number of the run that begins.
    package let epoch: UInt64
    package let retention: Retention
    /// Its events, in the order of their numbers, as this version of the service has them.
    package let events: [EventSchema]
    package let lane: any EmittingLane

    package init(
        name: String, epoch: UInt64, retention: Retention, events: [EventSchema], lane: any EmittingLane
    ) {
        (self.name, self.epoch, self.retention, self.events, self.lane) = (name, epoch, retention, events, lane)
    }
}
