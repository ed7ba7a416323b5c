import Glibc
import RelayCore
import RelayJournal

/// Walks one hot path so many times: what scripts/figures runs under Callgrind, which counts instructions and allocations.
///
/// No clock and no chance decides what is executed, as far as that can be had: on one processor, where nobody spins, and in batches,
/// so that a reader finds the same number of events each time. What a start costs cancels out between two runs.
@main enum HotPaths {
    static let usage = """
        usage: hot-paths PATH COUNT BUS FOLDER
          PATH    \(Path.allCases.map(\.rawValue).joined(separator: ", "))
          COUNT   how often; a multiple of \(Batch.size)
          BUS     a bus's address; empty for a path that needs none
          FOLDER  where a journal is or will be; empty for a path that needs none
        hot-paths fill COUNT FOLDER writes the journal that replay and handle read.

        """
    /// Not `async`: the main thread of such a program ends in a call that Valgrind does not survive.
    static func main() {
        Task.detached {
            do { try await walk() } catch {
                print("hot-paths: \(error)")
                exit(1)
            }
            exit(0)
        }
        while true { pause() }
    }
    private static func walk() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.count == 3, words[0] == "fill", let count = Int(words[1]) {
            return try await Journals.fill(count, folder: words[2])
        }
        guard words.count == 4, let path = Path(rawValue: words[0]), let count = Int(words[1]),
            count.isMultiple(of: Batch.size)
        else {
            print(usage)
            exit(64)
        }
        let bus = Bus.address(words[2])
        switch path {
        case .publisher: publishInProcess(count)
        case .ring: try passThroughRing(count)
        case .fixed: try await Events.pass(Paused1.self, Fixed(), count, bus)
        case .codable: try await Events.pass(Paused1.self, Coded(), count, bus)
        case .signal: try await Events.pass(Signals1.self, Signalled(), count, bus)
        case .both: try await Events.pass(Both1.self, Doubled(), count, bus)
        case .commit: try await Journals.commit(count, folder: words[3])
        case .unit: try await Journals.commitUnits(count, folder: words[3], bus)
        case .replay: try await Journals.replay(count, folder: words[3], bus)
        case .handle: try await Journals.handle(count, folder: words[3], bus)
        case .command: try await Calls.both(count, bus)
        case .call: try await Calls.call(count, bus)
        case .answer: try await Calls.answer(count, bus)
        case .enter: try await Calls.enter(count, bus)
        case .keep: try await Calls.keep(count, bus, folder: words[3])
        }
    }

    private static func publishInProcess(_ count: Int) {
        let publisher = EventPublisher(delivery: .immediate)
        nonisolated(unsafe) var sum: UInt64 = 0  // Of this thread, on which the handler runs.
        let subscription = publisher.subscribe(to: Fixed.self, delivery: .immediate) {
            sum &+= $0.number
        } onGap: { _ in
        }
        for number in 0..<count { publisher.publish(Fixed(number: UInt64(number))) }
        subscription.cancel()
        precondition(sum == UInt64(count) * UInt64(count - 1) / 2)
    }
    /// 64 bytes, written and read by one thread.
    private static func passThroughRing(_ count: Int) throws {
        let writer = try RingWriter("hot-paths", events: [RingEvent(name: "Payload")], epoch: 1, waker: RingWaker())
        var reader = RingReader(try RingArea(receiving: dup(writer.descriptor)), after: 0)
        var payload = (0, 1, 2, 3, 4, 5, 6, 7)
        for number in 0..<count {
            payload.0 = number
            try withUnsafeBytes(of: payload) { _ = try writer.publish(0, $0) }
            guard case .record = try reader.next() else { preconditionFailure("no record \(number)") }
            precondition(reader.payload.loadUnaligned(as: Int.self) == number)
        }
    }
}

/// The path that is walked.
enum Path: String, CaseIterable {
    /// In one process: publisher to handler.
    case publisher
    /// A record, written and read.
    case ring
    /// From a service to a relay's handler through the ring: a fixed layout, an ordinary Codable type.
    case fixed, codable
    /// The same as a signal.
    case signal
    /// A fixed layout through the ring, and as a signal that nobody hears.
    case both
    /// One durable event, until it is on the disk.
    case commit
    /// One durable event of a unit of work, through the ring and as a signal.
    case unit
    /// One event of a journal, until it was taken from a stream; until a handler has it.
    case replay, handle
    /// A call and its reply, in one process.
    case command
    /// Each side of it by itself. The other is a process of its own, which walks the other path as often.
    case call, answer
    /// The same of a command that makes a commit.
    case enter, keep
}

enum Names {
    static let service = "org.eventrelay.HotPaths"
}

/// A service that has its name. Why it has not, its `end` throws.
struct Running: Sendable {
    private let task: Task<Void, any Error>

    init(_ service: EventService) async {
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        task = Task {
            defer { isReady.finish() }
            try await service.run { isReady.yield() }
        }
        for await _ in ready { break }
    }
    func end() async throws {
        task.cancel()
        try await task.value
    }
}
