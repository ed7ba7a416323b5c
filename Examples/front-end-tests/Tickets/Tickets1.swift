import RelayCore

/// The tickets of a help desk.
public enum Tickets1: EnumInterface {
    case opened(TicketOpened), closed(TicketClosed)

    public static let name = "org.example.Tickets1"
    public static var contract: Contract<Self> {
        opened
        closed
        OpenTicket.self
    }
}
public struct TicketOpened: DomainEvent {
    public typealias Interface = Tickets1
    public let ticketID: Int64, title: String
    public init(ticketID: Int64, title: String) { (self.ticketID, self.title) = (ticketID, title) }
}
public struct TicketClosed: DomainEvent {
    public typealias Interface = Tickets1
    public let ticketID: Int64
    public init(ticketID: Int64) { self.ticketID = ticketID }
}
public struct OpenTicket: Command {
    public typealias Interface = Tickets1
    public let title: String
    public init(title: String) { self.title = title }
    public struct Reply: Codable, Sendable {
        public let ticketID: Int64
        public init(ticketID: Int64) { self.ticketID = ticketID }
    }
    public enum Refusal: String, CommandRefusal { case noTitle = "NoTitle" }
}
