package import RelayCore
import RelayMirrors
import Synchronization

/// Appends each event of a service's durable interfaces to a stream for other consumers of NATS: see `CloudEvent`. No
/// mirror reads it.
///
/// - Order: each interface's, in a stream of its own.
/// - Loss: a gap is an event of the stream, too. The position is the stream's last event, which is looked up whenever
///   anything is in doubt: so each event is there once, and a gap perhaps again, under the same id.
/// - Cancellation: of the task that runs it, at any point.
package final class CloudEventExporter: Sendable {
    package struct Status: Hashable, Sendable {
        /// The last event that was appended.
        package var position: UInt64 = 0
        /// nil: all is well.
        package var trouble: String?
    }
    package let service: String
    private let host: String
    private let interfaces: @Sendable () -> [String]
    private let settings: NatsSettings
    private let bus: Bus
    private let statuses = Mutex<[String: Status]>([:])
    /// Between two attempts, at first and at most, and between two looks for interfaces that are new.
    private static let (firstPause, longestPause, look) = (
        Duration.milliseconds(100), Duration.seconds(30), Duration.seconds(1)
    )

    /// - Parameter interfaces: those to export, as far as they are known: is asked every few seconds.
    package init(
        of service: String, at host: String, _ settings: NatsSettings, on bus: Bus,
        interfaces: @escaping @Sendable () -> [String]
    ) {
        (self.service, self.host, self.interfaces) = (service, host, interfaces)
        (self.settings, self.bus) = (settings, bus)
    }
    /// By interface.
    package var status: [String: Status] { statuses.withLock { $0 } }

    /// Until the task is cancelled.
    package func run() async {
        let relay: EventRelay
        do { relay = try EventRelay(following: service, on: bus, interfaces: []) } catch {
            return note("") { $0.trouble = "\(error)" }
        }
        relay.activate()
        defer { relay.invalidate() }
        await withTaskGroup { group in
            var running: Set<String> = []
            while !Task.isCancelled {
                for name in interfaces() where running.insert(name).inserted {
                    group.addTask { [self] in await export(name, relay) }
                }
                await Bell().wait(atMost: Self.look)
            }
            group.cancelAll()
        }
    }
    private func note(_ interface: String, _ change: (inout Status) -> Void) {
        statuses.withLock { change(&$0[interface, default: Status()]) }
    }
    private func export(_ interface: String, _ relay: EventRelay) async {
        var pause = Self.firstPause
        while !Task.isCancelled {
            do {
                let channel = try ChannelName(host: host, service: service, interface: interface)
                try await append(channel, relay) { pause = Self.firstPause }
            } catch {
                if Task.isCancelled { return }
                note(interface) { $0.trouble = (error as? RelayError)?.message ?? "\(error)" }
                await Bell().wait(atMost: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }
    /// Until something goes wrong, or the task is cancelled.
    private func append(_ channel: ChannelName, _ relay: EventRelay, _ progress: () -> Void) async throws {
        let (names, settings) = (NatsChannel(channel), settings)
        let what = "cannot append events of \(channel.interface) as CloudEvents"
        let connection = try await blocking { () throws(RelayError) in
            try NatsConnection(settings, name: "relay-bridge cloud events \(channel)")
        }
        let tail = try await connection.ask(what) { (connection) throws(NatsFailure) in
            try connection.cloudEventTail(names, settings)
        }
        var last = tail.last
        let start = tail.place.map { StreamPosition.after(epoch: $0.epoch, sequence: $0.sequence) } ?? .beginning
        let events = try relay.envelopes(of: channel.interface, from: start)
        defer { events.cancel() }
        note(channel.interface) { $0 = Status(position: tail.place?.sequence ?? 0) }
        try await withTaskCancellationHandler {
            for await delivery in events {
                let event = try CloudEvent(delivery, of: channel)
                let expected = last
                let number = try await connection.ask(what) { (connection) throws(NatsFailure) in
                    try connection.append(
                        event.body, to: names.cloudEventSubject(event.name), headers: event.headers, expecting: expected
                    )
                }
                guard let number else {
                    throw RelayError(.conflict, "\(what): somebody else has appended; its end is looked up again")
                }
                last = number
                if case .event(_, let stamp) = delivery { note(channel.interface) { $0.position = stamp.sequence } }
                progress()
            }
        } onCancel: {
            events.cancel()
        }
        if Task.isCancelled { return }
        throw RelayError(.unavailable, "the relay to \(service) has ended")
    }
}

extension NatsConnection {
    /// So far back the last event is looked for, behind gaps and what somebody else may have written.
    private static var furthest: UInt64 { 1_000 }

    /// Makes the stream where it is to be made, and finds where it ends: the last number, and the last event's place.
    fileprivate func cloudEventTail(
        _ channel: NatsChannel, _ settings: NatsSettings
    ) throws(NatsFailure) -> (last: UInt64, place: (epoch: UInt64, sequence: UInt64)?) {
        let stream = channel.cloudEventStream
        var state = try state(of: stream)
        if state == nil, settings.makesStreams {
            try make(stream, channel.cloudEventSubject("*"), settings)
            state = try self.state(of: stream)
        }
        guard let state else { return (0, nil) }
        var number = state.last
        while number >= max(state.first, 1), number + Self.furthest > state.last {
            let id = try message(number, of: stream)?.header("ce-id")
            if let place = id.flatMap({ CloudEvent.place($0) }) { return (state.last, place) }
            number -= 1
        }
        return (state.last, nil)
    }
}
