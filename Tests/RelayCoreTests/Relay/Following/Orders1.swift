import RelayTestKit
import Testing

@testable import RelayCore

/// An interface that is an enum of its events.
enum Orders1: EnumInterface, Equatable {
    case placed(OrderPlaced), shipped(OrderShipped)
    static let name = "org.example.Orders1"
    static var contract: Contract<Self> {
        placed
        shipped
        PlaceOrder.self
    }
}
struct OrderPlaced: DomainEvent, Equatable {
    typealias Interface = Orders1
    var number: Int64
}
struct OrderShipped: DomainEvent, Equatable {
    typealias Interface = Orders1
    var number: Int64
}
struct PlaceOrder: Command {
    typealias Interface = Orders1
    var number: Int64
}

/// A service of orders: each is placed, then shipped.
final class OrderDesk: Sendable {
    static let name = "org.example.Orders"
    let bus: PrivateBus
    let log: MemoryLog
    let service: EventService
    private let running: Task<Void, any Error>

    init(_ bus: PrivateBus? = nil, _ log: MemoryLog = MemoryLog()) async throws {
        let bus = try bus ?? PrivateBus()
        (self.bus, self.log) = (bus, log)
        let service = try EventService(name: Self.name, on: bus.bus, exporting: Orders1.self, journal: log)
        self.service = service
        service.handle(PlaceOrder.self) { command, _ in
            try await service.publish(OrderPlaced(number: command.number))
            try await service.publish(OrderShipped(number: command.number))
        }
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        running = Task {
            defer { isReady.finish() }
            try await service.run { isReady.finish() }
        }
        for await _ in ready {}
    }
    func stop() async throws {
        running.cancel()
        try await running.value
    }
    func restarted() async throws -> OrderDesk {
        try await stop()
        return try await OrderDesk(bus, log.reopened())
    }
    func publish(_ numbers: ClosedRange<Int64>) async throws {
        for number in numbers {
            try await service.publish(OrderPlaced(number: number))
            try await service.publish(OrderShipped(number: number))
        }
    }
    func relay(_ delivery: DeliveryTarget = .background, cursors: String? = nil) throws -> EventRelay {
        try EventRelay(
            following: Self.name, on: bus.bus, interfaces: Orders1.self, delivery: delivery, cursors: cursors)
    }
    /// What is placed and shipped in turns.
    static func events(_ numbers: ClosedRange<Int64>) -> [Orders1] {
        numbers.flatMap { [.placed(OrderPlaced(number: $0)), .shipped(OrderShipped(number: $0))] }
    }
}
