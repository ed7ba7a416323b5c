import Synchronization
import RelayWire

/// `Status`: what a service's streams and the service as a whole have done, for monitors.
final class StatusAnswers: Sendable {
    /// How long a list a message has room for.
    private static let listed = 512 << 10
    private let calls: CommandCalls
    private let queues: CommandQueues
    private let replies: ReplySender
    private let notices: NoticeReporter

    init(_ calls: CommandCalls, _ queues: CommandQueues, _ replies: ReplySender, _ notices: NoticeReporter) {
        (self.calls, self.queues, self.replies, self.notices) = (calls, queues, replies, notices)
    }
    func status(_ call: IncomingCall, _ interface: ExportedInterface) {
        calls.enqueueForUser(call) { [weak self] in await self?.answer(call, interface) }
    }
    private func answer(_ call: IncomingCall, _ interface: ExportedInterface) async {
        let (sequence, oldest) = interface.stream.extent
        var status: [(String, DBusValue)] = [
            ("Version", .string(RelayVersion.current)), ("Epoch", .uint64(interface.stream.epoch)),
            ("Durability", .string(interface.durability)), ("Head", .uint64(sequence)), ("Oldest", .uint64(oldest)),
        ]
        status += interface.stream.outletStatus.map { ($0.name, $0.value) }
        status.append(("Subscribers", Self.value(interface.stream.subscribers)))
        status.append(("Figures", StatusFigure.value(of: StatusFigure.figures(of: interface.stream.metrics))))
        status.append(("ServiceFigures", StatusFigure.value(of: figures(call.connection))))
        do {
            if let log = interface.log {
                for (name, value) in try await log.storage.figures(of: interface.name) {
                    // As D-Bus writes names. The log's head may be ahead of what has left, which is what counts here.
                    let name = name.prefix(1).uppercased() + name.dropFirst()
                    if !status.contains(where: { $0.0 == name }) { status.append((name, .uint64(value))) }
                }
            }
            // A list of many subscribers is long: not faster than it is read.
            guard await replies.hasRoom(for: call, bytes: Self.listed) else {
                return replies.fail(call, .limitsExceeded, "the replies before this one are unread")
            }
            let entries = status.map { DBusValue.Entry(key: .string($0.0), value: .variant($0.1)) }
            replies.reply(to: call, [.dictionary(.dictionary(.string, .variant), entries)])
        } catch {
            let code = (error as? RelayError)?.code ?? .internalFailure
            replies.fail(call, code, "the journal could not report on \(interface.name)")
        }
    }
    private static func value(_ subscribers: [PublishedStream.Subscriber]) -> DBusValue {
        var (values, size): ([DBusValue], Int) = ([], 0)
        for subscriber in subscribers {
            size += subscriber.names.reduce(64) { $0 + $1.utf8.count + 12 }
            if size > listed { break }
            values.append(
                .structure([
                    .string(subscriber.peer), .array(.string, subscriber.names.map { .string($0) }),
                    .string(subscriber.transport), .uint64(subscriber.sequence),
                ]))
        }
        return .array(.structure([.string, .array(.string), .string, .uint64]), values)
    }
    /// Of the service as a whole.
    private func figures(_ connection: BusConnection) -> [StatusFigure] {
        let commands = calls.answered.withLock { $0 }
        var figures = [
            StatusFigure("commands", ["outcome": "replied"], commands.replied),
            StatusFigure("commands", ["outcome": "failed"], commands.failed),
            StatusFigure("commands", ["outcome": "unreadable"], commands.unreadable),
        ]
        for (bound, count) in commands.durations.cumulative {
            let label = bound.map { "\($0)" } ?? ""
            figures.append(StatusFigure("command_duration", ["microseconds": label], count))
        }
        figures += [
            StatusFigure("command_duration_sum", commands.durations.microseconds),
            StatusFigure("waiting_commands", queues.commands),
            StatusFigure("handler_threads", queues.handlers.taken),
            StatusFigure("waiting_handlers", queues.handlers.waiting),
            StatusFigure("outgoing_bytes", connection.outgoingBytes),
            StatusFigure("dropped_calls", ["reason": "bus_is_full"], connection.droppedCalls),
            StatusFigure("dropped_calls", ["reason": "replies_unread"], replies.ignoredCalls.load(ordering: .relaxed)),
            StatusFigure("dropped_progress", replies.leftOutProgress.load(ordering: .relaxed)),
        ]
        for (kind, count) in notices.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            figures.append(StatusFigure("notices", ["kind": kind.rawValue], count))
        }
        return figures
    }
}
