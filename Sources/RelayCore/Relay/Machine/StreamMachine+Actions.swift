/// What an input asks for. An action has what its inputs can ask for and nothing else; inputs that can ask for the same
/// share one.
package protocol StreamAction<Payload> {
    associatedtype Payload
    /// The same, as steps that one loop can perform, in this order.
    var steps: [StreamMachine<Payload>.Step] { get }
}

extension StreamMachine {
    /// What goes to the subscriber.
    package enum Output {
        case deliver(Payload, epoch: UInt64)
        case gap(Gap)
    }
    package enum Step {
        case show(Output)
        /// Ask the owner: `Attach(epoch, after, …)`. A reply under way no longer counts.
        case attach(epoch: UInt64, after: UInt64)
        /// Ask the owner: `Read(…, after, …)`, of the names that are wanted now. A page under way no longer counts.
        case read(after: UInt64)
    }

    // MARK: Shared

    /// A question to the owner: of new wants, and of one that got no answer.
    package enum AskAction: StreamAction, Equatable {
        case nothing
        case attach(epoch: UInt64, after: UInt64)
        /// The page under way lacks what is wanted now, or got no answer.
        case read(after: UInt64)

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .attach(let epoch, let after): [.attach(epoch: epoch, after: after)]
            case .read(let after): [.read(after: after)]
            }
        }
    }
    /// A stream that leaves its run: the bus is gone, or the owner refuses.
    package enum ReportAction: StreamAction, Equatable {
        case nothing
        case report(Gap)

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .report(let gap): [.show(.gap(gap))]
            }
        }
    }
    /// A page is wanted: something lies behind a hole, or the consumer has room again.
    package enum ReadAction: StreamAction, Equatable {
        case nothing
        case read(after: UInt64)

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .read(let after): [.read(after: after)]
            }
        }
    }

    // MARK: Owners

    package enum OwnerAppearedAction: StreamAction, Equatable {
        /// Nothing is wanted.
        case nothing
        case attach(epoch: UInt64, after: UInt64)

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .attach(let epoch, let after): [.attach(epoch: epoch, after: after)]
            }
        }
    }
    package enum OwnerVanishedAction: StreamAction {
        case nothing
        case report(Gap)
        /// Its last word stands for the answer that it owed.
        case finish([Output])

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .report(let gap): [.show(.gap(gap))]
            case .finish(let output): output.map { .show($0) }
            }
        }
    }

    // MARK: Attach

    package enum BeginAttachAction: StreamAction {
        /// The stream is in step, or the answer counts no longer.
        case nothing
        /// What was held, up to a hole.
        case join([Output])

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .join(let output): output.map { .show($0) }
            }
        }
    }
    package enum FinishAttachAction: StreamAction {
        /// The answer counts no longer.
        case nothing
        case goLive([Output])
        /// Something is missing that can be read. First show what comes before it.
        case read([Output], after: UInt64)
        /// A page is on its way already, or the consumer has no room for one.
        case awaitPage([Output])

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .goLive(let output), .awaitPage(let output): output.map { .show($0) }
            case .read(let output, let after): output.map { .show($0) } + [.read(after: after)]
            }
        }
    }

    // MARK: Signals

    /// What to do with the event at hand. A fast path: no array, and the payload stays where it is.
    package enum ReceiveAction: Equatable {
        case drop
        /// Keep a copy, and give it to `hold`.
        case hold
        case deliver(epoch: UInt64, after: Gap?)
    }
    package enum HeadAction: StreamAction, Equatable {
        case nothing
        case report(Gap)
        case read(after: UInt64)

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .report(let gap): [.show(.gap(gap))]
            case .read(let after): [.read(after: after)]
            }
        }
    }
    package enum TickAction: Equatable {
        /// Nothing is open: no tick is needed until the next event.
        case rest
        case again
        /// Neither event nor `Head` since the last tick: `Head` may be lost, like what it would announce.
        case attach(epoch: UInt64, after: UInt64)
    }

    // MARK: Pages

    package enum PageEndedAction: StreamAction {
        /// Nobody waits for this page.
        case nothing
        /// All that was missing is here. Show what was held.
        case goLive([Output])
        /// Show what is in order by now, and request the next page.
        case read([Output], after: UInt64)

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .goLive(let output): output.map { .show($0) }
            case .read(let output, let after): output.map { .show($0) } + [.read(after: after)]
            }
        }
    }
    package enum ReadRefusedAction: StreamAction {
        case nothing
        /// Nothing can be read. Show the gaps, and what was held.
        case goLive([Output])

        package var steps: [Step] {
            switch self {
            case .nothing: []
            case .goLive(let output): output.map { .show($0) }
            }
        }
    }
}
