/// What an input asks for.
extension StreamMachine {
    /// The caller performs it at once, in the order of its fields. Most inputs use one of them; `nothing` uses none.
    package struct Action {
        /// What goes to the subscriber.
        package var output: [Output] = []
        /// What becomes of the event at hand, behind the output: of `receive` alone, whose payload stays where it is.
        package var event = EventStep.drop
        /// What to ask the owner. Left out by a caller that had no room for the output.
        package var request: Request?
    }
    package enum Output {
        case deliver(Payload, epoch: UInt64)
        case gap(Gap)
    }
    package enum EventStep: Hashable {
        case drop
        /// Keep a copy, and give it to `hold`.
        case hold
        case deliver(epoch: UInt64)
    }
    package enum Request: Hashable {
        /// `Attach(epoch, after, …)`. A reply under way no longer counts.
        case attach(epoch: UInt64, after: UInt64)
        /// `Read(…, after, …)`, of the names that are wanted now. A page under way no longer counts.
        case read(after: UInt64)
    }
}

extension StreamMachine.Action {
    package static var nothing: Self { Self() }
    package static var hold: Self { Self(event: .hold) }
    /// The event at hand is the next one, or the next behind a gap.
    package static func deliver(epoch: UInt64, after gap: Gap?) -> Self {
        Self(output: gap.map { [.gap($0)] } ?? [], event: .deliver(epoch: epoch))
    }
    package static func show(_ output: [StreamMachine.Output]) -> Self { Self(output: output) }
    /// Nil: nothing is missing.
    package static func report(_ gap: Gap?) -> Self { gap.map { Self(output: [.gap($0)]) } ?? nothing }
    package static func attach(epoch: UInt64, after: UInt64) -> Self {
        Self(request: .attach(epoch: epoch, after: after))
    }
    /// Something is missing that can be read: behind what is shown before.
    package static func read(_ output: [StreamMachine.Output] = [], after: UInt64) -> Self {
        Self(output: output, request: .read(after: after))
    }
}

extension StreamMachine.Output: Equatable where Payload: Equatable {}
extension StreamMachine.Action: Equatable where Payload: Equatable {}
