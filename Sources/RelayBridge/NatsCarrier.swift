package import RelayCore
package import RelayMirrors
import Synchronization

/// Channels as streams of JetStream. See "Channels in NATS" in MIRRORS.md.
package final class NatsCarrier: MirrorCarrier {
    private let settings: NatsSettings

    package init(_ settings: NatsSettings) { self.settings = settings }

    package func source(of channel: ChannelName) async throws(RelayError) -> any MirrorSource {
        try await connect(NatsChannel(channel))
    }
    package func sink(of channel: ChannelName) async throws(RelayError) -> any MirrorSink {
        let connection = try await connect(NatsChannel(channel))
        if settings.makesStreams { try await connection.make(settings) }
        return connection
    }
    package func channels() async throws(RelayError) -> [ChannelName] {
        let settings = settings
        return try await blocking { () throws(RelayError) in
            let connection = try NatsConnection(settings, name: "relay-bridge")
            do throws(NatsFailure) {
                return try connection.streams().compactMap { NatsChannel(stream: $0)?.name }.sorted()
            } catch { throw error.error("cannot ask which streams there are") }
        }
    }
    private func connect(_ channel: NatsChannel) async throws(RelayError) -> NatsChannelConnection {
        let settings = settings
        return try await blocking { () throws(RelayError) in
            NatsChannelConnection(channel, try NatsConnection(settings, name: "relay-bridge \(channel.name)"))
        }
    }
}

/// Runs what waits for a server, where that holds up nobody.
private func blocking<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> sending Result
) async throws(Failure) -> Result {
    try await withTaskExecutorPreference(HandlerThreads.own) { () async throws(Failure) in try body() }
}

/// A connection that reads a channel, and appends to it. One task's at a time.
private final class NatsChannelConnection: MirrorSink {
    private struct State {
        /// When the stream was made, and the last number that this connection has heard of.
        var made: Int64?
        var last: UInt64 = 0
        var reading: NatsReading?
        /// The number that the reading comes to next.
        var next: UInt64 = 0
        /// What has come, and was not asked for yet.
        var held: (number: UInt64, bytes: [UInt8])?
    }
    /// In milliseconds: how soon a wait hears that it was cancelled.
    private static let slice: Int64 = 250
    private let channel: NatsChannel
    private let connection: NatsConnection
    private let state = Mutex(State())

    init(_ channel: NatsChannel, _ connection: NatsConnection) {
        (self.channel, self.connection) = (channel, connection)
    }

    func make(_ settings: NatsSettings) async throws(RelayError) {
        try await ask("cannot make the stream") { (connection, channel) throws(NatsFailure) in
            if try connection.state(of: channel.stream) == nil { try connection.make(channel, settings) }
        }
    }
    private func ask<Result: Sendable>(
        _ what: String, _ body: @escaping @Sendable (NatsConnection, NatsChannel) throws(NatsFailure) -> Result
    ) async throws(RelayError) -> Result {
        let (connection, channel) = (connection, channel)
        return try await blocking { () throws(RelayError) in
            do throws(NatsFailure) { return try body(connection, channel) } catch {
                // What is not permitted is answered by silence, and a complaint.
                let complaint = connection.complaint
                let failure = error.error("\(what) of \(channel.name)")
                if complaint.contains("Permissions Violation") {
                    throw RelayError(.notPermitted, "\(failure.message): \(complaint)", cause: error)
                }
                throw failure
            }
        }
    }
    private func setBack() -> RelayError {
        RelayError(
            .conflict, "the stream of \(channel.name) is another one, or has lost messages: it is looked up again")
    }

    // MARK: Reading

    func bounds() async throws(RelayError) -> ChannelBounds {
        let found = try await ask("cannot look at the stream") { (connection, channel) throws(NatsFailure) in
            try connection.state(of: channel.stream).map { (first: $0.first, last: $0.last, made: $0.made) }
        }
        let isSame = state.withLock { state in
            // Where there was none, another one may have been made since.
            guard let made = state.made else {
                (state.made, state.last) = (found?.made, found?.last ?? 0)
                return true
            }
            guard let found, found.made == made, found.last >= state.last else { return false }
            state.last = found.last
            return true
        }
        if !isSame { throw setBack() }
        return ChannelBounds(first: found?.first ?? 1, last: found?.last ?? 0)
    }
    func message(_ number: UInt64) async throws(RelayError) -> [UInt8]? {
        if number == 0 { return nil }
        return try await ask("cannot read #\(number)") { (connection, channel) throws(NatsFailure) in
            try connection.message(number, of: channel.stream)?.bytes
        }
    }
    func newest(_ kind: MirrorHeader.Kind) async throws(RelayError) -> UInt64? {
        try await ask("cannot read the newest snapshot") { (connection, channel) throws(NatsFailure) in
            try connection.newest(channel.subject(kind), of: channel.stream)?.number
        }
    }
    func messages(from number: UInt64, atMost limit: Int) async throws(RelayError) -> MessageBatch? {
        if number == 0 { return nil }
        return try await ask("cannot read from #\(number) on") { [self] (_, _) throws(NatsFailure) in
            try read(from: number, atMost: limit)
        }
    }
    private func read(from number: UInt64, atMost limit: Int) throws(NatsFailure) -> MessageBatch? {
        let reading = try reading(from: number)
        var (bytes, ranges): ([UInt8], [Range<Int>]) = ([], [])
        var held = state.withLock { $0.held.take() }
        var next = number
        while true {
            if held == nil, let message = try reading.next(within: ranges.isEmpty ? 2_000 : 0) {
                held = (message.number, message.bytes)
            }
            guard let found = held, found.number == next, ranges.isEmpty || bytes.count + found.bytes.count <= limit
            else { break }
            let start = bytes.count
            bytes += found.bytes
            ranges.append(start..<bytes.count)
            (held, next) = (nil, next + 1)
        }
        state.withLock { ($0.held, $0.next) = (held, held?.number ?? next) }
        if !ranges.isEmpty { return MessageBatch(first: number, bytes: bytes, ranges: ranges) }
        // The server is slow to send what it has; or it has none of this number.
        guard held == nil, let message = try connection.message(number, of: channel.stream)?.bytes else { return nil }
        state.withLock { $0.reading = nil }
        return MessageBatch(first: number, bytes: message, ranges: [0..<message.count])
    }
    /// One that comes to this number next.
    private func reading(from number: UInt64) throws(NatsFailure) -> NatsReading {
        let present = state.withLock { $0.next == number ? $0.reading : nil }
        if let present { return present }
        let reading = try connection.read(channel, from: number)
        state.withLock { ($0.reading, $0.next, $0.held) = (reading, number, nil) }
        return reading
    }
    func wait(behind number: UInt64) async throws(RelayError) {
        while true {
            if Task.isCancelled { throw RelayError(.cancelled, "the wait for \(channel.name) was cancelled") }
            // Nobody appends to what is not there, and a reading needs a stream.
            if try await bounds().last > number { return }
            let hasCome = try await ask("cannot wait for messages") {
                [self] (connection, channel) throws(NatsFailure) in
                guard state.withLock({ $0.made }) != nil else { return false }
                let reading = try reading(from: number + 1)
                if state.withLock({ $0.held != nil }) { return true }
                for _ in 0..<4 where !Task.isCancelled {
                    if let message = try reading.next(within: Self.slice) {
                        state.withLock { $0.held = (message.number, message.bytes) }
                        return true
                    }
                }
                return false
            }
            if hasCome { return }
            if state.withLock({ $0.made }) == nil { await OwnTimer.sleep(for: .milliseconds(Self.slice)) }
        }
    }

    // MARK: Appending

    func append(_ message: [UInt8], expecting last: UInt64) async throws(RelayError) -> Bool {
        let kind = message.withUnsafeBytes { MirrorHeader.kind(of: $0) }
        let number = try await ask("cannot append") { (connection, channel) throws(NatsFailure) in
            try connection.append(message, to: channel.subject(kind), expecting: last)
        }
        guard let number else { return false }
        state.withLock { $0.last = max($0.last, number) }
        return number == last + 1
    }
}
