import RelayCore
import Tickets

/// The view model of a window: the open tickets, and a line at the window's edge.
@MainActor public final class TicketBoard {
    public private(set) var tickets: [Int64: String] = [:]
    public private(set) var note = ""
    public private(set) var isAway = false
    private let relay: EventRelay

    public init(_ relay: EventRelay) throws {
        self.relay = relay
        try relay.subscribe(self, to: Tickets1.self, from: .beginning) { me, event in
            switch event {
            case .opened(let ticket): me.tickets[ticket.ticketID] = ticket.title
            case .closed(let ticket): me.tickets[ticket.ticketID] = nil
            }
        } onGap: { me, gap in
            me.note = gap.description
        }
        relay.publisher.subscribe(self, to: EventRelay.State.self) { me, state in
            me.isAway = state == .interrupted
        } onGap: { _, _ in
        }
    }
    public func open(_ title: String) async {
        switch await relay.outcome(of: OpenTicket(title: title)) {
        case .success(let reply): note = "Is ticket #\(reply.ticketID)."
        case .refused(.noTitle): note = "A ticket needs a title."
        case .failed(.unavailable): note = "The help desk is away."
        case .failed(.notPermitted): note = "You may not do that."
        case .failed(let error): note = error.mayHaveRun ? "It may have been done: look." : error.message
        }
    }
}
