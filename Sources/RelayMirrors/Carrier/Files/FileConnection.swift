import Glibc
package import RelayCore
import Synchronization
/// A connection to a channel in a file. It ends when the file was replaced, deleted or set back.
///
/// - Isolation: calls block for as long as a file's do. An append waits while another process appends.
package final class FileConnection: MirrorSink {
    private struct State {
        /// Nil: there has been none yet.
        var file: ChannelFile?
        /// As it was when it was last looked at.
        var header: ChannelHeader?
        var reading = ChannelReading()
        /// Why it has ended.
        var end: RelayError?
    }
    private let state: Mutex<State>
    private let place: FilePlace
    private let syncs = Atomic<Bool>(false)
    private let watch: FileWatch

    /// - Parameter isWriter: makes the channel where there is none, and removes what a dead writer left.
    init(_ place: FilePlace, isWriter: Bool) throws(RelayError) {
        self.place = place
        watch = FileWatch(place.directory)
        let found = isWriter ? try place.openForWriting() : nil
        state = Mutex(State(file: found?.file, header: found?.header))
    }

    // MARK: What is there

    package func bounds() throws(RelayError) -> ChannelBounds {
        try look { header, _, _ throws(RelayError) in header.bounds } ?? ChannelBounds(first: 1, last: 0)
    }
    package func newest(_ kind: MirrorHeader.Kind) throws(RelayError) -> UInt64? {
        let newest = try look { header, file, reading throws(RelayError) -> UInt64? in
            switch kind {
            case .page: try reading.newestPage(header, file)
            case .snapshot: header.has(header.snapshot.number) ? header.snapshot.number : nil
            }
        }
        return newest ?? nil
    }
    package func message(_ number: UInt64) throws(RelayError) -> [UInt8]? {
        try messages(from: number, atMost: 0)?.withMessage(0) { Array($0) }
    }
    package func messages(from number: UInt64, atMost bytes: Int) throws(RelayError) -> MessageBatch? {
        let batch = try look { header, file, reading throws(RelayError) -> MessageBatch? in
            header.has(number) ? try reading.batch(from: number, atMost: bytes, header, file) : nil
        }
        return batch ?? nil
    }
    package func wait(behind number: UInt64) async throws(RelayError) {
        while true {
            // First, so that nothing is missed in between.
            watch.arm()
            if try bounds().last > number { return }
            if Task.isCancelled { throw RelayError(.cancelled, "the task was cancelled while it waited for a message") }
            await watch.wait()
        }
    }

    // MARK: Appending

    package func append(_ message: [UInt8], expecting last: UInt64) async throws(RelayError) -> Bool {
        let isAdded = try await place.locked { () throws(RelayError) in
            try look { header, file, _ throws(RelayError) in
                if header.last.number != last { return false }
                try file.cut(to: header.end)
                var header = header
                let result = message.withUnsafeBytes { bytes in
                    Result { () throws(RelayError) in try file.append(bytes, to: &header) }
                }
                try result.get()
                if let limit = place.limit, header.end - header.first.offset > limit {
                    try place.remove(to: limit, file, &header)
                }
                return true
            }
        }
        if isAdded == true { syncLater() }
        return isAdded ?? false
    }
    private func syncLater() {
        guard let interval = place.syncInterval, !syncs.exchange(true, ordering: .acquiringAndReleasing) else { return }
        OwnTimer(after: interval) { [weak self] in
            guard let self else { return }
            syncs.store(false, ordering: .releasing)
            Task.detached(executorPreference: HandlerThreads.own) { try await self.sync() }
        }
    }
    /// Has the disk keep all that there is now.
    package func sync() async throws(RelayError) {
        guard let (header, file) = try look({ header, file, _ throws(RelayError) in (header, file) }) else { return }
        // Without the lock: it takes its time.
        try file.sync()
        _ = try await place.locked { () throws(RelayError) in
            try look { present, file, _ throws(RelayError) in
                guard present.synced.number < header.last.number, present.has(header.last.number) else { return }
                var next = present
                next.synced = header.last
                try file.write(next)
            }
        }
    }

    // MARK: The connection

    /// Runs a body with the file as it is; nil: there is none yet. What the body read counts only if the file is still
    /// the same behind it.
    private func look<Value: Sendable>(
        _ body: (ChannelHeader, ChannelFile, inout ChannelReading) throws(RelayError) -> Value
    ) throws(RelayError) -> Value? {
        try state.withLock { state in
            Result { () throws(RelayError) -> Value? in
                if let end = state.end { throw end }
                if state.file == nil { state.file = try ChannelFile(at: place.path, isWritten: false) }
                guard let file = state.file else { return nil }
                do throws(RelayError) {
                    guard let header = try Self.examine(&state) else { return nil }
                    var reading = state.reading
                    state.reading = ChannelReading()
                    let result = Result { () throws(RelayError) in try body(header, file, &reading) }
                    state.reading = reading
                    // What went wrong may be that it was set back meanwhile.
                    _ = try Self.examine(&state)
                    return try result.get()
                } catch {
                    if error.code == .conflict { state.end = error }
                    throw error
                }
            }
        }.get()
    }
    /// Compares the file with what was known of it.
    private static func examine(_ state: inout State) throws(RelayError) -> ChannelHeader? {
        guard let file = state.file else { return nil }
        func ended(_ what: String, _ path: String) -> RelayError {
            RelayError(.conflict, "the channel in \(path) \(what) while it was in use: connect to it again")
        }
        if !file.hasItsName { throw ended("was replaced or deleted", file.path) }
        guard let header = try file.header() else { throw file.damage(at: 0, "its beginning") }
        defer { state.header = header }
        guard let known = state.header, known != header else { return header }
        var isSame =
            header.generation == known.generation && header.last.number >= known.last.number
            && header.first.number >= known.first.number
        if header.last.number == known.last.number {
            isSame = isSame && header.chain == known.chain
        } else if isSame, known.has(known.last.number), header.has(known.last.number) {
            // Copied over, by somebody who has no lock?
            let record = try file.record(at: known.last.offset)
            isSame = record?.number == known.last.number && record?.chain == known.chain
            // Or just removed.
            if !isSame, let now = try file.header() { isSame = now.first.number > known.last.number }
        }
        if !isSame { throw ended("was set back", file.path) }
        return header
    }
}
