/// Follows the events of a stream as they leave: under its lock, in the order of their stamps.
protocol EmissionListener: AnyObject, Sendable {
    /// An event has its place, and has left; or it was committed after the stream's end, for units that were then still
    /// under way.
    ///
    /// - Parameter fields: in the wire encoding; only during the call.
    func emitted(_ index: Int, _ sequence: UInt64, _ fields: UnsafeRawBufferPointer)
    /// Events of any name are missing here: the log never had them.
    func skipped()
    /// Messages may leave beside the events: behind an event that it follows, and when a pause has ended.
    func send(by outlets: inout StreamOutlets, of stream: PublishedStream)
}

extension PublishedStream {
    /// Whether the listener follows an event.
    @inline(__always) func isFollowed(_ index: Int) -> Bool { hasListener && followed[index] }
    /// A pause of signals may have ended.
    func resume() {
        guard let listener else { return }
        state.withLock { state in
            if !state.hasEnded { listener.send(by: &state.outlets, of: self) }
        }
    }
    /// Answers in the place among the events where the answer is true.
    func inPlace(_ answer: () -> Void) { state.withLock { _ in answer() } }
}
