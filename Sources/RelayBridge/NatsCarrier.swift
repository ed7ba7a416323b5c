package import RelayCore
package import RelayMirrors
import Synchronization

/// Channels as streams of JetStream. See "Channels in NATS" in MIRRORS.md.
package final class NatsCarrier: MirrorCarrier {
    private let settings: NatsSettings
    /// For what is asked of no channel: the last one, as long as it is open.
    private let directory = Mutex<NatsConnection?>(nil)

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
        try await blocking { [self] () throws(RelayError) in
            let connection = try openDirectory()
            do throws(NatsFailure) {
                return try connection.streams().compactMap { NatsChannel(stream: $0)?.name }.sorted()
            } catch { throw error.error("cannot ask which streams there are") }
        }
    }
    package func guarantee() async throws(RelayError) -> String {
        try await blocking { [self] () throws(RelayError) in try openDirectory().serverFacts().guarantee }
    }
    private func openDirectory() throws(RelayError) -> NatsConnection {
        if let present = directory.withLock({ $0 }), present.isOpen { return present }
        let connection = try NatsConnection(settings, name: "relay-bridge")
        directory.withLock { $0 = connection }
        return connection
    }
    private func connect(_ channel: NatsChannel) async throws(RelayError) -> NatsChannelConnection {
        let settings = settings
        return try await blocking { () throws(RelayError) in
            NatsChannelConnection(channel, try NatsConnection(settings, name: "relay-bridge \(channel.name)"))
        }
    }
}

/// Runs what waits for a server, where that holds up nobody.
func blocking<Result: Sendable, Failure: Error>(
    _ body: @Sendable () throws(Failure) -> sending Result
) async throws(Failure) -> Result {
    try await withTaskExecutorPreference(HandlerThreads.own) { () async throws(Failure) in try body() }
}

/// A connection that reads a channel, and appends to it. One task uses it, and another one may wait meanwhile.
private final class NatsChannelConnection: MirrorSink {
    private struct State {
        /// When the stream was made, and the last number that this connection has heard of.
        var made: Int64?
        var last: UInt64 = 0
        /// The first one, when it was looked at.
        var first: UInt64 = 1
        var lookedAt: ContinuousClock.Instant?
        var reading: NatsReading?

        /// The server was asked a moment ago, and this is the same stream.
        func isFresh(_ now: ContinuousClock.Instant) -> Bool {
            made != nil && (lookedAt.map { now - $0 < NatsChannelConnection.look } ?? false)
        }
    }
    /// How soon a wait hears that it was cancelled, or that the connection has ended.
    private static let slice = Duration.milliseconds(250)
    /// How often a wait looks whether the stream is still the same.
    private static let look = Duration.seconds(5)
    private let channel: NatsChannel
    private let connection: NatsConnection
    private let state = Mutex(State())

    init(_ channel: NatsChannel, _ connection: NatsConnection) {
        (self.channel, self.connection) = (channel, connection)
    }

    func make(_ settings: NatsSettings) async throws(RelayError) {
        try await ask("cannot make the stream") { (connection, channel) throws(NatsFailure) in
            if try connection.state(of: channel.stream) == nil {
                try connection.make(channel.stream, channel.subjects, settings)
            }
        }
    }
    private func ask<Result: Sendable>(
        _ what: @autoclosure @Sendable () -> String,
        _ body: @escaping @Sendable (NatsConnection, NatsChannel) throws(NatsFailure) -> Result
    ) async throws(RelayError) -> Result {
        let channel = channel
        return try await connection.ask("\(what()) of \(channel.name)") { (connection) throws(NatsFailure) in
            try body(connection, channel)
        }
    }
    private func setBack() -> RelayError {
        RelayError(
            .conflict, "the stream of \(channel.name) is another one, or has lost messages: it is looked up again")
    }

    // MARK: Reading

    func bounds() async throws(RelayError) -> ChannelBounds {
        // A reading brings what is appended: a question for each message would be most of what it takes.
        let known = state.withLock { state -> ChannelBounds? in
            guard state.isFresh(.now), let reading = state.reading, reading.first <= state.last + 1 else { return nil }
            state.last = max(state.last, reading.last ?? 0)
            return ChannelBounds(first: state.first, last: state.last)
        }
        if let known, connection.isOpen { return known }
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
        state.withLock { ($0.first, $0.lookedAt) = (found?.first ?? 1, .now) }
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
        // Most often they are here.
        let reading = state.withLock { $0.reading }
        if let reading, reading.first <= number, let batch = reading.take(from: number, atMost: limit) { return batch }
        return try await ask("cannot read from #\(number) on") { [self] (connection, channel) throws(NatsFailure) in
            let reading = try self.reading(from: number)
            if let batch = reading.take(from: number, atMost: limit) { return batch }
            // The server is about to send it, or there is none of this number.
            guard let message = try connection.message(number, of: channel.stream)?.bytes else { return nil }
            return MessageBatch(first: number, bytes: message, ranges: [0..<message.count])
        }
    }
    /// One that brings this number and what is behind it.
    private func reading(from number: UInt64) throws(NatsFailure) -> NatsReading {
        if let present = state.withLock({ $0.reading }), present.first <= number { return present }
        let reading = try connection.read(channel, from: number)
        state.withLock { $0.reading = reading }
        return reading
    }
    func wait(behind number: UInt64) async throws(RelayError) {
        while true {
            let isFresh = state.withLock { $0.isFresh(.now) && $0.reading != nil }
            // Nobody appends to what is not there, and a reading needs a stream.
            if !isFresh, try await bounds().last > number { return }
            guard state.withLock({ $0.made }) != nil else {
                try checkWait()
                await OwnTimer.sleep(for: Self.slice)
                continue
            }
            let reading = try await ask("cannot wait for messages") { [self] (_, _) throws(NatsFailure) in
                try self.reading(from: number + 1)
            }
            // Whoever has cancelled this may have its bell there by now.
            try checkWait()
            reading.ring(nil)
            while state.withLock({ $0.isFresh(.now) }) {
                if let last = reading.last, last > number { return }
                try checkWait()
                await reading.wait(atMost: Self.slice)
            }
        }
    }
    func ring(_ bell: Bell, behind number: UInt64) async throws(RelayError) -> Bool {
        // Without a stream, or before it was looked at, there is nothing to read.
        guard state.withLock({ $0.isFresh(.now) }) else { return false }
        let reading: NatsReading
        if let present = state.withLock({ $0.reading }), present.first <= number + 1 {
            reading = present
        } else {
            reading = try await ask("cannot wait for messages") { [self] (_, _) throws(NatsFailure) in
                try self.reading(from: number + 1)
            }
        }
        reading.ring(bell)
        if let last = reading.last, last > number { bell.ring() }
        return true
    }
    private func checkWait() throws(RelayError) {
        if Task.isCancelled { throw RelayError(.cancelled, "the wait for \(channel.name) was cancelled") }
        if !connection.isOpen {
            throw RelayError(.unavailable, "the connection to the server of \(channel.name) has ended")
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
