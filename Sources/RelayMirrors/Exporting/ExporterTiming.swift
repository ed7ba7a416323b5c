/// How long an exporter waits for what.
package struct ExporterTiming: Hashable, Sendable {
    /// After something went wrong; each time twice as long, until something goes well.
    package var firstPause = Duration.milliseconds(100)
    package var longestPause = Duration.seconds(30)
    /// Between two looks at what nobody announces for certain: lost signals, and what the carrier removed.
    package var look = Duration.seconds(5)
    /// For an answer of the origin.
    package var answer = Duration.seconds(25)

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }
}
