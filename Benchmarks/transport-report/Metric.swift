/// What is measured in a cell. Times in nanoseconds.
public enum Metric: String, Codable, CaseIterable, Sendable {
    /// One way, from before the payload is written to after it has been summed up.
    case p50, p99, p999
    /// Until the last receiver has it; the median of the events.
    case last
    /// At the sender: for one publish; the median, in `publish` the mean.
    case caller
    /// Events a second that came, and how many of a hundred did.
    case rate, delivered
    /// CPU seconds per million events that came: sender and receivers, and the daemon between them, if there is one.
    case cpu, daemonCPU
    /// The publisher's CPU time, and the time, until all sleepers have an event.
    case wakeCPU, wakeTime
}
