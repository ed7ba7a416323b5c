import Synchronization

/// One subscription's part of a named cursor.
final class Cursor: Sendable {
    private let file: CursorFile
    private let index: Int
    private let names: Set<String>?
    /// Where the subscriber of this name stopped; nil: it is new.
    let start: CursorPlace?
    private let isEnded = Atomic<Bool>(false)

    init(_ file: CursorFile, _ index: Int, _ names: Set<String>?, _ start: CursorPlace?) {
        (self.file, self.index, self.names, self.start) = (file, index, names, start)
    }
    deinit { end() }

    /// Everything up to this place was handled.
    func advance(_ place: Feed.Place) {
        if isEnded.load(ordering: .relaxed) { return }
        file.advance(index, CursorPlace(names: names, epoch: place.epoch, sequence: place.sequence))
    }
    /// The service has reported its newest runs.
    func learn(_ runs: [StreamRun]) { if !isEnded.load(ordering: .relaxed) { file.learn(index, runs) } }
    /// Writes now what is not written yet.
    func flush() { if !isEnded.load(ordering: .relaxed) { file.flush() } }
    /// Writes, and lets the name go: when this returns, another subscriber can have it. Any number of times.
    func end() {
        if isEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
        _ = file.leave(index)
    }
}
