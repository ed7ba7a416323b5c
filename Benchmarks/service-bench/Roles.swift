import Foundation
import RelayCore

/// What runs in a process of its own, until its input ends.
enum Roles {
    static let service = "org.eventrelay.ServiceBench"

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
    private static func waitForEnd() { while readLine() != nil {} }

    /// Follows the flood, as fast as it can.
    static func read(_ bus: Bus) async throws {
        let relay = try EventRelay(following: service, on: bus, interfaces: Flood1.self)
        let fixed = relay.publisher.subscribe(to: Fixed.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        let coded = relay.publisher.subscribe(to: Coded.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        relay.activate()
        try await relay.ready()
        say("ready")
        waitForEnd()
        withExtendedLifetime((fixed, coded)) {}
    }
    /// A service of interfaces that are idle; with a line on its input it publishes one event of each.
    static func serveIdle(_ bus: Bus) async throws {
        let service = try EventService(name: service, on: bus, exporting: IdleInterfaces.types) { say("\($0)") }
        let running = Task { try await service.run { say("ready") } }
        while readLine() != nil { try IdleInterfaces.publish(service) }
        running.cancel()
        try await running.value
    }
    static func followIdle(_ bus: Bus) async throws {
        let all = try IdleInterfaces.follow(service, on: bus)
        for (relay, _) in all { relay.activate() }
        for (relay, _) in all { try await relay.ready() }
        say("ready")
        waitForEnd()
        withExtendedLifetime(all) {}
    }
}
