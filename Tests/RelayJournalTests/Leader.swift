import Glibc
import RelayCore
import Synchronization

@testable import RelayJournal

/// A thread of a test's own that publishes: it may be held as long as a test likes, and leads when it comes alone.
final class Leader: Sendable {
    private let outcome = Mutex<(isOver: Bool, error: (any Error)?)>((false, nil))
    var isOver: Bool { outcome.withLock { $0.isOver } }
    var failure: RelayError? { outcome.withLock { $0.error as? RelayError } }

    /// Publishes one event after `body`, which runs while this thread leads: units that the journal's thread took are thrown
    /// away, and it tries again.
    init(_ writer: JournalWriter, amount: Int64 = 1, _ body: @escaping @Sendable () -> Void) {
        run { leader in
            while !leader.isOver {
                let unit = Unit(leader, amount, body)
                writer.submit(.unit(unit))
                while !unit.isFinished.load(ordering: .acquiring) { usleep(100) }
            }
        }
    }
    /// Does anything that blocks.
    init(_ body: @escaping @Sendable () -> Void) {
        run { leader in
            body()
            leader.end(nil)
        }
    }
    private func run(_ body: @escaping @Sendable (Leader) -> Void) {
        let context = Unmanaged.passRetained(Start { body(self) })
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                // Never nil: passed below.
                if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, context.toOpaque())
        pthread_detach(thread)
    }
    private func end(_ error: (any Error)?) { outcome.withLock { $0 = (true, error) } }

    private final class Start {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
    /// Not led: another thread runs it.
    private struct NotLed: Error {}

    private final class Unit: UnitBody {
        private let leader: Leader
        private let amount: Int64
        private let body: @Sendable () -> Void
        private let thread = pthread_self()
        let isFinished = Atomic<Bool>(false)

        init(_ leader: Leader, _ amount: Int64, _ body: @escaping @Sendable () -> Void) {
            (self.leader, self.amount, self.body) = (leader, amount, body)
        }
        func run(in unit: inout UnitOfWork) throws {
            if pthread_self() != thread { throw NotLed() }
            body()
            try unit.publish(Booked(amount: amount, text: ""))
        }
        func finish(_ failure: (any Error)?) {
            if !(failure is NotLed) { leader.end(failure) }
            isFinished.store(true, ordering: .releasing)
        }
    }
}

extension Ledger {
    /// The journal's writer, which units can be given to from any thread.
    var writer: JournalWriter {
        // What an EventJournal has.
        (storage as! JournalStorage).writer
    }
}
