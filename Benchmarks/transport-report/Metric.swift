/// What is measured in a cell. Times in nanoseconds.
public enum Metric: String, Codable, CaseIterable, Sendable {
    /// One way, from before the payload is written to after it has been summed up. Of the events that were sent: one that
    /// never came is infinitely late. Of the machine's stops: the least that there could be.
    case p50, p99, p999
    /// Until the last receiver has it; the median of the events.
    case last
    /// At the sender: for one publish; the median, in `publish` the mean.
    case caller
    /// Events a second that came, and how many of a hundred never did.
    case rate, lost
    /// CPU seconds per million events that came: sender and receivers, and the daemon between them, if there is one.
    case cpu, daemonCPU
    /// The publisher's CPU time, and the time, until all sleepers have an event.
    case wakeCPU, wakeTime
    /// The machine's longest stop, and all of them, in percent of the time.
    case longestStop, stopShare
}
